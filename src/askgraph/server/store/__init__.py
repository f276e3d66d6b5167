"""The server's store, in SQLite or PostgreSQL: a method that has returned is on disk.

    store = await Store.open("serve.db")
    await store.begin_run(RunRow(new_id(), "anonymous", "Which moons …?", ("space",), "grasp"))

Each method is one transaction, and raises `DatabaseFailed` if the database fails.
"""

import asyncio

from askgraph.errors import AskgraphError
from askgraph.server.store.callers import CallerStore
from askgraph.server.store.database import (
    Database,
    PostgresqlDatabase,
    SqliteDatabase,
    database_url,
)
from askgraph.server.store.migrations import migrate
from askgraph.server.store.runs import RunStore


class Store(RunStore, CallerStore):
    """Sessions, runs, feedback, verified answers, keys, usage, processes, jobs and boards."""

    @classmethod
    async def open(cls, url: str) -> "Store":
        """Open the database at a URL or a file's path, and bring its tables up to date.

        Raises `SetupError` if the address is no good, `DatabaseFailed` if there is nothing.
        """
        database = await open_database(url)
        try:
            await migrate(database)
        except AskgraphError:
            await database.close()
            raise
        return cls(database)

    async def close(self) -> None:
        """Close all connections."""
        await self._database.close()


async def open_database(address: str) -> Database:
    """Return the database at a URL or a file's path.

    Raises `SetupError` if the address is no good, or the file is no database.
    """
    url = database_url(address)
    if url.get_backend_name() == "sqlite":
        return await asyncio.to_thread(SqliteDatabase, url)
    return PostgresqlDatabase(url)
