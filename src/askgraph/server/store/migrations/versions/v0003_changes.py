"""Runs say whose answer they change: the reading that was chosen, the query that was edited."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column."""
    op.add_column("runs", sa.Column("changes", sa.String(64), nullable=True))
