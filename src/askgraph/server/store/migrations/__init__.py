"""Migrations that bring the tables of a database up to date.

Never change a released migration. To change the tables, add a file to `versions` and make the same
change in `tables.json`.
"""

import json
from pathlib import Path

import sqlalchemy as sa
from alembic import command, op
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from askgraph.errors import SetupError
from askgraph.server.store.database import Database
from askgraph.server.store.tables import COLUMN_TYPES

VERSION_TABLE = "askgraph_version"
"""The table that holds the migration version of the database."""

_MIGRATIONS_FOLDER = Path(__file__).parent
_MIGRATION_LOCK_ID = 0x61736B67726170  # "askgrap": concurrent migrations wait for each other


async def migrate(database: Database, *, to: str = "head") -> None:
    """Apply all migrations up to `to`, in a single transaction.

    Of several processes that migrate at once, one works and the others wait.

    Raises:
        SetupError: a newer askgraph wrote the database.
        DatabaseError: the database does not respond.
    """

    def upgrade_tables(connection: sa.Connection) -> None:
        if not database.is_sqlite:  # no other process writes at this point
            connection.execute(
                sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _MIGRATION_LOCK_ID}
            )
        name = database.name
        config = Config()
        config.set_main_option("script_location", str(_MIGRATIONS_FOLDER).replace("%", "%%"))
        config.attributes["connection"] = connection
        known_revisions = {
            step.revision for step in ScriptDirectory.from_config(config).walk_revisions()
        }
        migration_context = MigrationContext.configure(
            connection, opts={"version_table": VERSION_TABLE}
        )
        for step in migration_context.get_current_heads():
            if step not in known_revisions:
                raise SetupError(
                    f"the database {name} was written by a newer askgraph (its tables are "
                    f"at step {step}): upgrade askgraph, or name another database"
                )
        command.upgrade(config, to)

    await database.write(upgrade_tables)


def create_tables(migration: str) -> None:
    """Create the tables in the JSON beside a migration's file; a type with `?` is nullable."""
    tables = json.loads(Path(migration).with_suffix(".json").read_text("utf-8"))
    for name, description in tables.items():
        columns = [
            sa.Column(
                column, COLUMN_TYPES[column_type.rstrip("?")], nullable=column_type.endswith("?")
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
