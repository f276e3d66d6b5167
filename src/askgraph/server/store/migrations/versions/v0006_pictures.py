"""Add the picture that previews of a shared question show."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the column."""
    op.add_column("runs", sa.Column("picture", sa.LargeBinary(), nullable=True))
