"""Databases by their addresses, SQLite or PostgreSQL, and transactions for reading and writing."""

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

import sqlalchemy as sa
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.sql.dml import UpdateBase

from askgraph.errors import ServiceError, SetupError
from askgraph.server.store.tables import ACTIVE_STATES, Json, get_timestamp

Result = TypeVar("Result")
Record = TypeVar("Record")
Transaction = Callable[[sa.Connection], Result]
"""Work in a transaction; it waits for nothing but the database."""

_POSTGRESQL = ("postgres", "postgresql", "postgresql+asyncpg")
_MAX_INLINE_CHARACTERS = 100_000  # characters that take about a millisecond
_ADDRESS_EXAMPLES = "postgresql://user:password@host/name, or the path of a file (SQLite)"


class DatabaseError(ServiceError):
    """The database is unavailable, overloaded or full, or returned invalid data."""


class Database(ABC):
    """Transactions on one database, each of them atomic.

    A write is on disk when its transaction has ended. A transaction runs to its end even if its
    caller is cancelled. Both kinds raise `DatabaseError`. The `name` is the address without its
    password.
    """

    is_sqlite: bool
    name: str

    @abstractmethod
    async def write(self, work: Transaction[Result]) -> Result:
        """Run work that writes, and return its result; an error rolls its writes back."""

    async def read(self, work: Transaction[Result]) -> Result:
        """Run work that only reads, and return its result."""
        return await self.write(work)

    @abstractmethod
    async def close(self) -> None:
        """Close all connections after the running work has ended."""


class BaseStore:
    """Methods on some tables of a database; each is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def _fetch_rows(self, statement: sa.Select[Any]) -> Sequence[sa.Row[Any]]:
        return await self._database.read(lambda connection: connection.execute(statement).all())

    async def _fetch_row(self, statement: sa.Select[Any]) -> sa.Row[Any] | None:
        return await self._database.read(lambda connection: connection.execute(statement).first())

    async def _execute(self, statement: UpdateBase) -> int:
        return await self._database.write(lambda connection: connection.execute(statement).rowcount)

    async def update_row(self, table: sa.Table, id: str, **values: object) -> bool:
        """Set values of a row, and its `changed` time if it has one; return whether it exists."""
        times = {"changed": get_timestamp()} if "changed" in table.c else {}
        return (
            await self._execute(sa.update(table).where(table.c.id == id).values(values | times)) > 0
        )

    async def delete_row(self, table: sa.Table, id: str) -> bool:
        """Delete a row and its dependent rows; return whether it existed."""
        return await self._execute(sa.delete(table).where(table.c.id == id)) > 0

    async def request_cancel(self, table: sa.Table, id: str) -> bool:
        """Ask the process of a run or job to stop it; return whether it was active."""
        statement = sa.update(table).where(table.c.id == id, table.c.state.in_(ACTIVE_STATES))
        return await self._execute(statement.values(cancel_wanted=True)) > 0


def to_record(record_type: type[Record], row: sa.Row[Any], **replacements: object) -> Record:
    """Convert a row to a dataclass with fields of the same names; `replacements` override some."""
    content = row._mapping
    all_fields = fields(record_type)  # type: ignore[arg-type]
    names = [field.name for field in all_fields if field.name in content]
    return record_type(**{**{name: content[name] for name in names}, **replacements})


def to_values(record: object, table: sa.Table, **replacements: object) -> dict[str, object]:
    """Return the column values of a dataclass; `replacements` override or add some."""
    names = [column.name for column in table.c if hasattr(record, column.name)]
    return {**{name: getattr(record, name) for name in names}, **replacements}


async def compress(content: str | Json) -> bytes:
    """Compress a text, or an object as JSON."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    if len(text) < _MAX_INLINE_CHARACTERS:
        return zlib.compress(text.encode())
    return await asyncio.to_thread(lambda: zlib.compress(text.encode()))


async def decompress(content: bytes) -> str:
    """Return the text that was compressed."""
    if len(content) < _MAX_INLINE_CHARACTERS // 10:
        return zlib.decompress(content).decode()
    return await asyncio.to_thread(lambda: zlib.decompress(content).decode())


def parse_database_url(text: str) -> sa.URL:
    """Return the URL of a database: `postgresql://…`, `sqlite:///FILE`, or a file path.

    Raises:
        SetupError: the text is none of these.
    """
    if "://" not in text:
        return sa.URL.create("sqlite", database=str(Path(text).expanduser()))
    try:
        url = sa.make_url(text)
    except (ArgumentError, ValueError) as error:
        raise SetupError(
            f"the database's address cannot be read; write it as {_ADDRESS_EXAMPLES}"
        ) from error
    if url.drivername in _POSTGRESQL:
        mode = url.query.get("sslmode")
        if mode is not None:
            url = url.difference_update_query(["sslmode"]).update_query_dict({"ssl": mode})
        return url.set(drivername="postgresql+asyncpg")
    if url.drivername == "sqlite" and url.database not in (None, "", ":memory:"):
        return url
    raise SetupError(
        f"a database at {url.render_as_string()!r} is not supported; write its address as "
        f"{_ADDRESS_EXAMPLES}"
    )


def to_database_error(name: str, error: Exception) -> DatabaseError:
    """Convert an error of a database driver."""
    reason = str(getattr(error, "orig", None) or error).strip() or type(error).__name__
    hint = "; free some space, then try again" if "disk is full" in reason else ""
    return DatabaseError(f"the database {name} failed: {reason}{hint}")


_READER_COUNT = 4
_MAX_BATCHED_WRITES = 100  # pieces of work that are written in one transaction
_LOCK_TIMEOUT_SECONDS = 30.0  # seconds to wait for other processes that write to the same file
_RETRY_SECONDS = 0.02
_PRAGMAS = ("synchronous=FULL", "foreign_keys=ON")


@dataclass(frozen=True, eq=False)
class _QueuedWrite:
    """Work that waits to be written, and the future of its result."""

    work: Transaction[Any]
    future: "Future[Any]" = field(default_factory=Future)


class SqliteDatabase(Database):
    """A `Database` in a file; raises `SetupError` if it cannot be created or is no database."""

    is_sqlite = True

    def __init__(self, url: sa.URL) -> None:
        assert url.database is not None
        self.name = url.render_as_string()
        path = Path(url.database)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            _enable_write_ahead_log(path)
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            raise SetupError(f"the database {path} cannot be opened: {reason}") from error
        engine = sa.create_engine(url, connect_args={"timeout": _LOCK_TIMEOUT_SECONDS})
        sa.event.listen(engine, "connect", _configure_connection)
        sa.event.listen(engine, "begin", _begin_transaction)
        self._engine = engine
        self._write_engine = self._engine.execution_options(writes=True)
        self._readers = ThreadPoolExecutor(_READER_COUNT, "store-reader")
        self._writer = ThreadPoolExecutor(1, "store-writer")
        self._write_queue: deque[_QueuedWrite] = deque()
        self._closed = False

    async def read(self, work: Transaction[Result]) -> Result:
        """Run work that only reads, and return its result."""
        self._check_open()
        return await asyncio.wrap_future(self._readers.submit(self._read, work))

    async def write(self, work: Transaction[Result]) -> Result:
        """Run work that writes, and return its result; an error rolls its writes back."""
        self._check_open()
        queued = _QueuedWrite(work)
        self._write_queue.append(queued)
        self._writer.submit(self._write_batch)
        result: Result = await asyncio.shield(asyncio.wrap_future(queued.future))
        return result

    async def close(self) -> None:
        """Close all connections after the running work has ended."""
        self._closed = True
        await asyncio.to_thread(self._writer.shutdown)
        await asyncio.to_thread(self._readers.shutdown)
        self._engine.dispose()

    def _check_open(self) -> None:
        if self._closed:
            raise DatabaseError(f"the database {self.name} is closed: the server shuts down")

    def _read(self, work: Transaction[Result]) -> Result:
        try:
            with self._engine.begin() as connection:
                return work(connection)
        except SQLAlchemyError as error:
            raise to_database_error(self.name, error) from error

    def _write_batch(self) -> None:
        batch = [
            self._write_queue.popleft()
            for _ in range(min(_MAX_BATCHED_WRITES, len(self._write_queue)))
        ]
        if not batch:
            return  # it was executed in the same batch as earlier work
        try:
            with self._write_engine.begin() as connection:
                reports = [self._run_queued(queued, connection) for queued in batch]
        except SQLAlchemyError as error:
            problem = to_database_error(self.name, error)
            problem.__cause__ = error
            reports = [partial(queued.future.set_exception, problem) for queued in batch]
        for report in reports:
            report()

    def _run_queued(self, queued: _QueuedWrite, connection: sa.Connection) -> Callable[[], None]:
        try:
            with connection.begin_nested():
                result = queued.work(connection)
        except SQLAlchemyError as error:
            problem = to_database_error(self.name, error)
            problem.__cause__ = error
            return partial(queued.future.set_exception, problem)
        except BaseException as error:  # noqa: BLE001 - it is raised where the work was wanted
            return partial(queued.future.set_exception, error)
        return partial(queued.future.set_result, result)


def _enable_write_ahead_log(path: Path) -> None:
    """Enable the write-ahead log, a setting that stays with the file."""
    # SQLite does not wait for another process that does the same at this moment, so retry.
    deadline = time.monotonic() + _LOCK_TIMEOUT_SECONDS
    connection = sqlite3.connect(path, timeout=_LOCK_TIMEOUT_SECONDS)
    try:
        while True:
            try:
                connection.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
            time.sleep(_RETRY_SECONDS)
    finally:
        connection.close()


def _configure_connection(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # transactions begin below, not in the driver
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_transaction(connection: sa.Connection) -> None:
    # A transaction that reads before it writes fails if another one has written in between.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


_POOL_SIZE = 10


class PostgresqlDatabase(Database):
    """A `Database` on a PostgreSQL server, shared with other processes and machines."""

    is_sqlite = False

    def __init__(self, url: sa.URL) -> None:
        self.name = url.render_as_string()
        try:
            self._engine = create_async_engine(url, pool_pre_ping=True, pool_size=_POOL_SIZE)
        except ImportError as error:
            raise SetupError(
                "a PostgreSQL database needs the package asyncpg: pip install "
                "'askgraph[postgresql]'"
            ) from error
        self._active_tasks: set[asyncio.Task[Any]] = set()

    async def write(self, work: Transaction[Result]) -> Result:
        """Run work that writes, and return its result; an error rolls its writes back."""
        # A connection that is left in the middle cannot be used again: a hundred callers who hang
        # up would cost a hundred new connections.
        task = asyncio.create_task(self._run(work))
        self._active_tasks.add(task)
        task.add_done_callback(self._discard_task)
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Close all connections after the running work has ended."""
        if self._active_tasks:
            await asyncio.wait(self._active_tasks)
        await self._engine.dispose()

    async def _run(self, work: Transaction[Result]) -> Result:
        try:
            async with self._engine.begin() as connection:
                return await connection.run_sync(work)
        except (SQLAlchemyError, OSError) as error:
            raise to_database_error(self.name, error) from error

    def _discard_task(self, task: "asyncio.Task[Any]") -> None:
        self._active_tasks.discard(task)
        if not task.cancelled():
            task.exception()  # no caller is waiting for it
