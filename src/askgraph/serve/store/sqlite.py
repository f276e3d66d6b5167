"""SQLite as the store needs it: a private file, readers beside one writer, commits on disk."""

import os
import sqlite3
import time
from pathlib import Path

from sqlalchemy import URL, Connection, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from askgraph.errors import SetupError

__all__ = ["sqlite_engine"]

_BUSY = 30.0  # seconds to wait for other processes that write to the same file
_PAUSE = 0.02
_PRAGMAS = ("synchronous=FULL", "foreign_keys=ON")


def sqlite_engine(url: URL) -> AsyncEngine:
    """Return the engine of a file, which is made where it is not there.

    Raises `SetupError` where it cannot be made, or is no database.
    """
    assert url.database is not None
    path = Path(url.database)
    try:
        _make_private(path)
        _let_read_beside_writer(path)
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise SetupError(f"the database {path} cannot be opened: {reason}") from error
    engine = create_async_engine(url, connect_args={"timeout": _BUSY})
    event.listen(engine.sync_engine, "connect", _prepare)
    event.listen(engine.sync_engine, "begin", _begin)
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
