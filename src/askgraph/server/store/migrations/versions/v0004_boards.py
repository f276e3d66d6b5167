"""Add boards and the answers pinned to them."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create both tables."""
    op.create_table(
        "boards",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("shared", sa.Boolean(), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("changed", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_boards"),
    )
    op.create_index("ix_boards_owner_changed", "boards", ["owner", "changed"])
    op.create_table(
        "pins",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("board", sa.String(64), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in _PIN_TEXT_COLUMNS),
        sa.Column("language", sa.Text(), nullable=True),
        sa.Column("run", sa.String(64), nullable=True),
        sa.Column("shown", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("base", sa.LargeBinary(), nullable=False),
        sa.Column("seen", sa.String(32), nullable=False),
        sa.Column("latest", sa.LargeBinary(), nullable=True),
        sa.Column("checked", sa.String(32), nullable=True),
        sa.Column("created", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_pins"),
        sa.ForeignKeyConstraint(["board"], ["boards.id"], name="fk_pins_board", ondelete="CASCADE"),
    )
    op.create_index("ix_pins_board_place", "pins", ["board", "place"])


_PIN_TEXT_COLUMNS = ("title", "question", "graph", "query")
