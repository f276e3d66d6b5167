"""The server's store, in SQLite or PostgreSQL: when a method returns, its data is on disk.

    store = await Store.open("serve.db")
    await store.begin_run(RunRow(generate_id(), "anonymous", "Which moons …?", ("space",), "grasp"))

Each method is one transaction, and raises `DatabaseError` if the database fails.
"""

import asyncio

from askgraph.errors import AskgraphError
from askgraph.server.store import database as store_database
from askgraph.server.store.callers import CallerStore
from askgraph.server.store.migrations import migrate
from askgraph.server.store.runs import RunStore


class Store(RunStore, CallerStore):
    """Sessions, runs, feedback, verified answers, keys, usage, processes, jobs and boards."""

    @classmethod
    async def open(cls, url: str) -> "Store":
        """Open the database at a URL or file path, and migrate its tables.

        Raises:
            SetupError: the address is invalid.
            DatabaseError: the database is unavailable.
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


async def open_database(address: str) -> store_database.Database:
    """Open the database at a URL or file path.

    Raises:
        SetupError: the address is invalid, or the file is not a database.
    """
    url = store_database.parse_database_url(address)
    if url.get_backend_name() == "sqlite":
        return await asyncio.to_thread(store_database.SqliteDatabase, url)
    return store_database.PostgresqlDatabase(url)
