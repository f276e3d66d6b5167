"""Runs say whose limits they count against: until now it was always their owner."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column, and an index to count by."""
    op.add_column("runs", sa.Column("counted_as", sa.Text(), nullable=False, server_default=""))
    op.execute("UPDATE runs SET counted_as = owner")
    op.create_index("ix_runs_counted_as_state", "runs", ["counted_as", "state"])
