"""Add boards and the answers pinned to them, as in `v0004_boards.json`."""

from askgraph.server.store.migrations import create_tables

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create both tables."""
    create_tables(__file__)
