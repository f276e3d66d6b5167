"""Databases by their addresses, SQLite or PostgreSQL, and transactions to read or write in."""

import asyncio
import json
import os
import sqlite3
import time
import zlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import (
    URL,
    Connection,
    Row,
    Select,
    Table,
    create_engine,
    delete,
    event,
    make_url,
    update,
)
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.sql.dml import UpdateBase

from askgraph.errors import ServiceError, SetupError
from askgraph.server.store.tables import UNDER_WAY, Json, now

Result = TypeVar("Result")
Record = TypeVar("Record")
Work = Callable[[Connection], Result]
"""Work in a transaction; it waits for nothing but the database."""

_POSTGRESQL = ("postgres", "postgresql", "postgresql+asyncpg")
_LONG = 100_000  # characters that take about a millisecond
_LIKE = "postgresql://user:password@host/name, or the path of a file (SQLite)"


class DatabaseFailed(ServiceError):
    """The database did not do it: not there, too busy, full, or its answer makes no sense."""


class Database(ABC):
    """Transactions on one database; each either happens as a whole or not at all.

    Writes are on disk when the transaction has ended. A transaction goes on to its end if its
    caller is cancelled. Both kinds raise `DatabaseFailed`. The `name` is the address without its
    password.
    """

    is_sqlite: bool
    name: str

    @abstractmethod
    async def write(self, work: Work[Result]) -> Result:
        """Return the result of work that writes; an error undoes its writes."""

    async def read(self, work: Work[Result]) -> Result:
        """Return the result of work that only reads."""
        return await self.write(work)

    @abstractmethod
    async def close(self) -> None:
        """Close all connections, once the work under way has ended."""


class Area:
    """Methods on some tables of a database; each is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def _rows(self, wanted: Select[Any]) -> Sequence[Row[Any]]:
        return await self._database.read(lambda connection: connection.execute(wanted).all())

    async def _row(self, wanted: Select[Any]) -> Row[Any] | None:
        return await self._database.read(lambda connection: connection.execute(wanted).first())

    async def _changed(self, statement: UpdateBase) -> int:
        """Execute a statement and return the number of its rows."""
        return await self._database.write(lambda connection: connection.execute(statement).rowcount)

    async def change(self, table: Table, id: str, **values: object) -> bool:
        """Give a row other values, and the time if it notes when it `changed`; False without it."""
        times = {"changed": now()} if "changed" in table.c else {}
        return await self._changed(update(table).where(table.c.id == id).values(values | times)) > 0

    async def delete(self, table: Table, id: str) -> bool:
        """Delete a row with all that belongs to it; False if there is none."""
        return await self._changed(delete(table).where(table.c.id == id)) > 0

    async def ask_to_cancel(self, table: Table, id: str) -> bool:
        """Ask the process of a run or job to stop it; whether it was under way."""
        changed = update(table).where(table.c.id == id, table.c.state.in_(UNDER_WAY))
        return await self._changed(changed.values(cancel_wanted=True)) > 0


def row_as(kind: type[Record], row: Row[Any], **changed: object) -> Record:
    """Return a row as a dataclass with fields of the same names; `changed` replaces some."""
    content = row._mapping
    names = [one.name for one in fields(kind) if one.name in content]  # type: ignore[arg-type]
    return kind(**{**{name: content[name] for name in names}, **changed})


def values_of(record: object, table: Table, **changed: object) -> dict[str, object]:
    """Return a dataclass as the values of the columns that have its names, and `changed`."""
    names = [column.name for column in table.c if hasattr(record, column.name)]
    return {**{name: getattr(record, name) for name in names}, **changed}


async def pack(content: str | Json) -> bytes:
    """Return a text, or an object as JSON, as compressed bytes."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    if len(text) < _LONG:
        return zlib.compress(text.encode())
    return await asyncio.to_thread(lambda: zlib.compress(text.encode()))


async def unpack(content: bytes) -> str:
    """Return the text that was packed."""
    if len(content) < _LONG // 10:
        return zlib.decompress(content).decode()
    return await asyncio.to_thread(lambda: zlib.decompress(content).decode())


def database_url(text: str) -> URL:
    """Return the address of a database: `postgresql://…`, `sqlite:///FILE`, or a file's path.

    Raises `SetupError` if it is none of them.
    """
    if "://" not in text:
        return URL.create("sqlite", database=str(Path(text).expanduser()))
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise SetupError(f"the database's address cannot be read; it is like {_LIKE}") from error
    if url.drivername in _POSTGRESQL:
        mode = url.query.get("sslmode")
        if mode is not None:
            url = url.difference_update_query(["sslmode"]).update_query_dict({"ssl": mode})
        return url.set(drivername="postgresql+asyncpg")
    if url.drivername == "sqlite" and url.database not in (None, "", ":memory:"):
        return url
    raise SetupError(
        f"a database at {url.render_as_string()!r} is of no use here; its address is like {_LIKE}"
    )


def to_error(name: str, error: Exception) -> DatabaseFailed:
    """Return an error of a database's driver as ours."""
    reason = str(getattr(error, "orig", None) or error).strip() or type(error).__name__
    room = "; make room, then do the same again" if "disk is full" in reason else ""
    return DatabaseFailed(f"the database {name} failed: {reason}{room}")


_READERS = 4
_TOGETHER = 100  # pieces of work that are written in one transaction
_BUSY = 30.0  # seconds to wait for other processes that write to the same file
_PAUSE = 0.02
_PRAGMAS = ("synchronous=FULL", "foreign_keys=ON")


@dataclass(frozen=True, eq=False)
class _Wanted:
    """Work that is to be written, and where its result is waited for."""

    work: Work[Any]
    end: "Future[Any]" = field(default_factory=Future)


class SqliteDatabase(Database):
    """A `Database` in a file; `SetupError` if it cannot be made, or is none."""

    is_sqlite = True

    def __init__(self, url: URL) -> None:
        assert url.database is not None
        self.name = url.render_as_string()
        path = Path(url.database)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            _let_read_beside_writer(path)
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            raise SetupError(f"the database {path} cannot be opened: {reason}") from error
        engine = create_engine(url, connect_args={"timeout": _BUSY})
        event.listen(engine, "connect", _prepare)
        event.listen(engine, "begin", _begin)
        self._engine = engine
        self._writing = self._engine.execution_options(writes=True)
        self._readers = ThreadPoolExecutor(_READERS, "store-reader")
        self._writer = ThreadPoolExecutor(1, "store-writer")
        self._wanted: deque[_Wanted] = deque()
        self._closed = False

    async def read(self, work: Work[Result]) -> Result:
        """Return the result of work that only reads."""
        self._check_open()
        return await asyncio.wrap_future(self._readers.submit(self._read, work))

    async def write(self, work: Work[Result]) -> Result:
        """Return the result of work that writes; an error undoes its writes."""
        self._check_open()
        wanted = _Wanted(work)
        self._wanted.append(wanted)
        self._writer.submit(self._write)
        result: Result = await asyncio.shield(asyncio.wrap_future(wanted.end))
        return result

    async def close(self) -> None:
        """Close all connections, once the work under way has ended."""
        self._closed = True
        await asyncio.to_thread(self._writer.shutdown)
        await asyncio.to_thread(self._readers.shutdown)
        self._engine.dispose()

    def _check_open(self) -> None:
        if self._closed:
            raise DatabaseFailed(f"the database {self.name} is closed: the server shuts down")

    def _read(self, work: Work[Result]) -> Result:
        try:
            with self._engine.begin() as connection:
                return work(connection)
        except SQLAlchemyError as error:
            raise to_error(self.name, error) from error

    def _write(self) -> None:
        """Do all the work that waits in one transaction, then report to those who wait for it."""
        together = [self._wanted.popleft() for _ in range(min(_TOGETHER, len(self._wanted)))]
        if not together:
            return  # it was done together with what came before it
        try:
            with self._writing.begin() as connection:
                ends = [self._end_of(one, connection) for one in together]
        except SQLAlchemyError as error:
            problem = to_error(self.name, error)
            problem.__cause__ = error
            ends = [partial(one.end.set_exception, problem) for one in together]
        for end in ends:
            end()

    def _end_of(self, wanted: _Wanted, connection: Connection) -> Callable[[], None]:
        """Do some work and return the call that reports its result, once it is on disk."""
        try:
            with connection.begin_nested():
                result = wanted.work(connection)
        except SQLAlchemyError as error:
            problem = to_error(self.name, error)
            problem.__cause__ = error
            return partial(wanted.end.set_exception, problem)
        except BaseException as error:  # noqa: BLE001 - it is raised where the work was wanted
            return partial(wanted.end.set_exception, error)
        return partial(wanted.end.set_result, result)


def _let_read_beside_writer(path: Path) -> None:
    """Turn on the write-ahead log, which the file remembers.

    SQLite does not wait here for another process that does the same at this moment.
    """
    until = time.monotonic() + _BUSY
    connection = sqlite3.connect(path, timeout=_BUSY)
    try:
        while True:
            try:
                connection.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
            time.sleep(_PAUSE)
    finally:
        connection.close()


def _prepare(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # transactions are begun below, not by the driver
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: Connection) -> None:
    # A transaction that reads first and then writes fails where another has written in between.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


_CONNECTIONS = 10


class PostgresqlDatabase(Database):
    """A `Database` on a PostgreSQL server, shared with other processes and machines."""

    is_sqlite = False

    def __init__(self, url: URL) -> None:
        self.name = url.render_as_string()
        try:
            self._pooled = create_async_engine(url, pool_pre_ping=True, pool_size=_CONNECTIONS)
        except ImportError as error:
            raise SetupError(
                "a PostgreSQL database needs the package asyncpg: pip install "
                "'askgraph[postgresql]'"
            ) from error
        self._under_way: set[asyncio.Task[Any]] = set()

    async def write(self, work: Work[Result]) -> Result:
        """Return the result of work that writes; an error undoes its writes."""
        # A connection that is left in the middle cannot be used again: a hundred callers who hang
        # up would cost a hundred new connections.
        task = asyncio.create_task(self._done(work))
        self._under_way.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Close all connections, once the work under way has ended."""
        if self._under_way:
            await asyncio.wait(self._under_way)
        await self._pooled.dispose()

    async def _done(self, work: Work[Result]) -> Result:
        try:
            async with self._pooled.begin() as connection:
                return await connection.run_sync(work)
        except (SQLAlchemyError, OSError) as error:
            raise to_error(self.name, error) from error

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # where nobody waits for it any more, nobody misses it
