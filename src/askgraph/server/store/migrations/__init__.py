"""Migrations: the steps that bring the tables of a database up to date.

A step that was released is never changed. A change of the tables is a new file in `versions`, and
the same change in `tables.json`.
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
"""The table that holds the step of the database; others may keep theirs beside it."""

_STEPS = Path(__file__).parent
_LOCK = 0x61736B67726170  # "askgrap": who migrates waits for who else migrates


async def migrate(database: Database, *, to: str = "head") -> None:
    """Take all steps up to the last, or to another one, in a single transaction.

    Of several processes that do it at once one does, and the others wait. Raises `SetupError`
    if a newer askgraph has written the database, `DatabaseFailed` if it does not answer.
    """

    def migrated(connection: Connection) -> None:
        if not database.is_sqlite:  # there nobody else writes now
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        name = database.name
        config = Config()
        config.set_main_option("script_location", str(_STEPS).replace("%", "%%"))
        config.attributes["connection"] = connection
        known = {step.revision for step in ScriptDirectory.from_config(config).walk_revisions()}
        found = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        for step in found.get_current_heads():
            if step not in known:
                raise SetupError(
                    f"the database {name} was written by a newer askgraph (its tables are at step "
                    f"{step}): install that version or a later one, or name another database"
                )
        command.upgrade(config, to)

    await database.write(migrated)
