"""The first tables, as in `v0001_tables.json`; a type with `?` is nullable."""

import json
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_COLUMN_TYPES: dict[str, sa.types.TypeEngine[Any]] = {
    "string16": sa.String(16),
    "string32": sa.String(32),
    "string64": sa.String(64),
    "text": sa.Text(),
    "json": sa.JSON(),
    "object": sa.JSON(none_as_null=True),
    "bytes": sa.LargeBinary(),
    "boolean": sa.Boolean(),
    "integer": sa.Integer(),
    "bigint": sa.BigInteger(),
    "double": sa.Double(),
}


def upgrade() -> None:
    """Create all tables."""
    for name, description in json.loads(
        Path(__file__).with_suffix(".json").read_text("utf-8")
    ).items():
        columns = [
            sa.Column(
                column, _COLUMN_TYPES[column_type.rstrip("?")], nullable=column_type.endswith("?")
            )
            for column, column_type in description["columns"].items()
        ]
        parents = [
            sa.ForeignKeyConstraint(
                [column], [f"{parent}.id"], name=f"fk_{name}_{column}", ondelete="CASCADE"
            )
            for column, parent in description.get("of", {}).items()
        ]
        unique = [
            sa.UniqueConstraint(*names, name="_".join(["uq", name, *names]))
            for names in description.get("unique", [])
        ]
        key = sa.PrimaryKeyConstraint(*description["key"], name=f"pk_{name}")
        op.create_table(name, *columns, key, *parents, *unique)
        for names in description.get("indices", []):
            op.create_index("_".join(["ix", name, *names]), name, names)
