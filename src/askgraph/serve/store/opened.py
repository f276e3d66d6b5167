"""Opens a database by its address, whichever kind it is."""

import asyncio

from askgraph.serve.store.database import Database, database_url
from askgraph.serve.store.postgresql import PostgresqlDatabase
from askgraph.serve.store.sqlite import SqliteDatabase

__all__ = ["open_database"]


async def open_database(address: str) -> Database:
    """Return the database at a URL or a file's path.

    Raises `SetupError` where the address is no good, or the file is no database.
    """
    url = database_url(address)
    if url.get_backend_name() == "sqlite":
        return await asyncio.to_thread(SqliteDatabase, url)
    return PostgresqlDatabase(url)
