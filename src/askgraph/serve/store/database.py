"""A connection to SQLite or PostgreSQL by URL: transactions to read in and to write in."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path

from sqlalchemy import URL, Connection, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from askgraph.errors import ServiceError, SetupError

__all__ = ["Database", "DatabaseFailed", "database_url"]

_BUSY = 30.0  # seconds to wait for other processes that write to the same file
_POSTGRESQL = ("postgres", "postgresql", "postgresql+asyncpg")
_SQLITE = ("sqlite", "sqlite+aiosqlite")


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


_LIKE = "postgresql://user:password@host/name, or the path of a file (SQLite)"


class Database:
    """Transactions on one database; each either happens as a whole or not at all.

    What is written is on disk when the transaction has ended.
    """

    def __init__(self, url: URL) -> None:
        self.url = url
        self.is_sqlite = url.get_backend_name() == "sqlite"
        self._engine = _sqlite_engine(url) if self.is_sqlite else _postgresql_engine(url)
        self._writing = self._engine.execution_options(writes=True)
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

    async def close(self) -> None:
        """Close all connections."""
        await self._engine.dispose()

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


def _sqlite_engine(url: URL) -> AsyncEngine:
    assert url.database is not None
    _make_private(Path(url.database))
    engine = create_async_engine(url, connect_args={"timeout": _BUSY})
    event.listen(engine.sync_engine, "connect", _prepare)
    event.listen(engine.sync_engine, "begin", _begin)
    return engine


def _make_private(path: Path) -> None:
    """Make the file, unless it is there, so that only its owner reads it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise SetupError(
            f"the database {path} cannot be opened: {error.strerror or error}"
        ) from error


def _prepare(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # transactions are begun below, not by the driver
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: Connection) -> None:
    # A transaction that reads first and then writes fails where another has written in between.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
