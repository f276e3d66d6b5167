"""The environment that alembic reads: steps run on the connection that `migrate` hands over."""

from alembic import context

from askgraph.server.store.migrations import VERSION_TABLE
from askgraph.server.store.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
    render_as_batch=True,
)
context.run_migrations()
