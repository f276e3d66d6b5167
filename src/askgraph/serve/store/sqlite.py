"""SQLite as the store needs it: a private file, readers beside one writer, commits on disk.

Work is done in threads of its own, a transaction at a time: to hand each statement to a thread
takes several times as long. What several callers want to write is written in one transaction, so
that they wait for the disk once.
"""

import asyncio
import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from askgraph.errors import SetupError
from askgraph.serve.store.database import DatabaseFailed, Work, failed

Result = TypeVar("Result")
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


class SqliteDatabase:
    """A `Database` in a file; `SetupError` if it cannot be made, or is none."""

    is_sqlite = True

    def __init__(self, url: URL) -> None:
        assert url.database is not None
        self.name = url.render_as_string()
        self._engine = _engine(url, Path(url.database))
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
        await asyncio.to_thread(self._close)

    def _check_open(self) -> None:
        if self._closed:
            raise DatabaseFailed(f"the database {self.name} is closed: the server shuts down")

    def _close(self) -> None:
        self._writer.shutdown()
        self._readers.shutdown()
        self._engine.dispose()

    def _read(self, work: Work[Result]) -> Result:
        try:
            with self._engine.begin() as connection:
                return work(connection)
        except SQLAlchemyError as error:
            raise failed(self.name, error) from error

    def _write(self) -> None:
        """Do all the work that waits in one transaction, then report to those who wait for it."""
        together = [self._wanted.popleft() for _ in range(min(_TOGETHER, len(self._wanted)))]
        if not together:
            return  # it was done together with what came before it
        try:
            with self._writing.begin() as connection:
                ends = [self._end_of(one, connection) for one in together]
        except SQLAlchemyError as error:
            problem = failed(self.name, error)
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
            problem = failed(self.name, error)
            problem.__cause__ = error
            return partial(wanted.end.set_exception, problem)
        except BaseException as error:  # noqa: BLE001 - it is raised where the work was wanted
            return partial(wanted.end.set_exception, error)
        return partial(wanted.end.set_result, result)


def _engine(url: URL, path: Path) -> Engine:
    try:
        _make_private(path)
        _let_read_beside_writer(path)
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise SetupError(f"the database {path} cannot be opened: {reason}") from error
    engine = create_engine(url, connect_args={"timeout": _BUSY})
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _make_private(path: Path) -> None:
    """Make the file, unless it is there, so that only its owner reads it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


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
