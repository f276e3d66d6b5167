"""The first tables, as in `v0001_tables.json`."""

from askgraph.server.store.migrations import create_tables

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    create_tables(__file__)
