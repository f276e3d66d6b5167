"""Add the question that a changed query was asked by, and disputes of verified answers."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("runs", sa.Column("changed_from", sa.Text(), nullable=True))
    op.add_column(
        "verified", sa.Column("disputed", sa.Boolean(), nullable=False, server_default="0")
    )
