"""The first tables, as `v0001_tables.json` describes them; `?` behind a type: it may be null."""

import json
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_KINDS: dict[str, sa.types.TypeEngine[Any]] = {
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
    """Make them all."""
    for name, about in json.loads(Path(__file__).with_suffix(".json").read_text("utf-8")).items():
        columns = [
            sa.Column(column, _KINDS[kind.rstrip("?")], nullable=kind.endswith("?"))
            for column, kind in about["columns"].items()
        ]
        parents = [
            sa.ForeignKeyConstraint(
                [column], [f"{parent}.id"], name=f"fk_{name}_{column}", ondelete="CASCADE"
            )
            for column, parent in about.get("of", {}).items()
        ]
        unique = [
            sa.UniqueConstraint(*names, name="_".join(["uq", name, *names]))
            for names in about.get("unique", [])
        ]
        key = sa.PrimaryKeyConstraint(*about["key"], name=f"pk_{name}")
        op.create_table(name, *columns, key, *parents, *unique)
        for names in about.get("indices", []):
            op.create_index("_".join(["ix", name, *names]), name, names)
