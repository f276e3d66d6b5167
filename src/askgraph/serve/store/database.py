"""A connection to SQLite or PostgreSQL by URL: transactions to read in and to write in."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from askgraph.errors import ServiceError, SetupError
from askgraph.serve.store.sqlite import sqlite_engine

__all__ = ["Database", "DatabaseFailed", "database_url"]

Result = TypeVar("Result")
_POSTGRESQL = ("postgres", "postgresql", "postgresql+asyncpg")
_SQLITE = ("sqlite", "sqlite+aiosqlite")
_LIKE = "postgresql://user:password@host/name, or the path of a file (SQLite)"


class DatabaseFailed(ServiceError):
    """The database did not do it: not there, too busy, full, or its answer makes no sense."""


def database_url(text: str) -> URL:
    """Return the address of a database: `postgresql://…`, `sqlite:///FILE`, or a file's path.

    Raises `SetupError` where it is none of them.
    """
    if "://" not in text:
        return URL.create("sqlite+aiosqlite", database=str(Path(text).expanduser()))
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise SetupError("the database's address cannot be read; it is like " + _LIKE) from error
    if url.drivername in _POSTGRESQL:
        return _for_asyncpg(url)
    if url.drivername in _SQLITE and url.database not in (None, "", ":memory:"):
        return url.set(drivername="sqlite+aiosqlite")
    raise SetupError(
        f"a database at {url.render_as_string()!r} is of no use here; its address is like {_LIKE}"
    )


class Database:
    """Transactions on one database; each either happens as a whole or not at all.

    What is written is on disk when the transaction has ended.
    """

    def __init__(self, url: URL) -> None:
        self.url = url
        self.is_sqlite = url.get_backend_name() == "sqlite"
        self._engine = sqlite_engine(url) if self.is_sqlite else _postgresql_engine(url)
        self._writing = self._engine.execution_options(writes=True)
        self._under_way: set[asyncio.Task[Any]] = set()
        self._one_writer = asyncio.Lock() if self.is_sqlite else nullcontext()

    @property
    def name(self) -> str:
        """The address without its password."""
        return self.url.render_as_string()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """Open a transaction that only reads; `DatabaseFailed` where it cannot be."""
        async with self._told(), self._engine.begin() as connection:
            yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """Open a transaction that writes; it is committed at the end, or undone by an error."""
        async with self._told(), self._one_writer, self._writing.begin() as connection:
            yield connection

    async def carry_through(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Wait for some work here; it goes on to its end where its caller is cancelled."""
        task = asyncio.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Close all connections, once what is under way has ended."""
        if self._under_way:
            await asyncio.wait(self._under_way)
        await self._engine.dispose()

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # where nobody waits for it any more, nobody misses it

    @asynccontextmanager
    async def _told(self) -> AsyncIterator[None]:
        try:
            yield
        except (SQLAlchemyError, OSError) as error:
            reason = str(getattr(error, "orig", None) or error).strip() or type(error).__name__
            raise DatabaseFailed(f"the database {self.name} failed: {reason}") from error


def _for_asyncpg(url: URL) -> URL:
    """The address with the driver's name for what libpq calls sslmode."""
    mode = url.query.get("sslmode")
    if mode is not None:
        url = url.difference_update_query(["sslmode"]).update_query_dict({"ssl": mode})
    return url.set(drivername="postgresql+asyncpg")


def _postgresql_engine(url: URL) -> AsyncEngine:
    try:
        return create_async_engine(url, pool_pre_ping=True, pool_size=10)
    except ImportError as error:
        raise SetupError(
            "a PostgreSQL database needs the package asyncpg: pip install 'askgraph[postgresql]'"
        ) from error
