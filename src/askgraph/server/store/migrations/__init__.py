"""Migrations that bring the tables of a database up to date.

Never change a released migration. To change the tables, add a file to `versions` and make the same
change in `tables.json`.
"""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from askgraph.errors import SetupError
from askgraph.server.store.database import Database

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

    def upgrade_tables(connection: Connection) -> None:
        if not database.is_sqlite:  # no other process writes at this point
            connection.execute(
                text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _MIGRATION_LOCK_ID}
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
