"""The environment that alembic reads: steps run on the connection that `migrate` hands over."""

from alembic import context

from askgraph.serve.store.migrations import VERSION_TABLE
from askgraph.serve.store.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
    render_as_batch=True,
)
context.run_migrations()
