"""Runs the steps on the connection that `migrating` hands over; alembic reads this file."""

from alembic import context

from askgraph.serve.store.migrating import VERSION_TABLE
from askgraph.serve.store.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
    render_as_batch=True,
)
context.run_migrations()
