"""Add the caller whose limits a run counts against; before, it was always the owner."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column and an index for counting."""
    op.add_column("runs", sa.Column("counted_as", sa.Text(), nullable=False, server_default=""))
    op.execute("UPDATE runs SET counted_as = owner")
    op.create_index("ix_runs_counted_as_state", "runs", ["counted_as", "state"])
