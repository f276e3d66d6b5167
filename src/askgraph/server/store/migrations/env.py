"""The environment that Alembic loads: migrations run on the connection that `migrate` passes."""

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
