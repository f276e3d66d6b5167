"""Add the run whose answer a run changes: by a chosen reading or an edited query."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column."""
    op.add_column("runs", sa.Column("changes", sa.String(64), nullable=True))
