"""A database by its address, and transactions on it, to read in or to write in."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Protocol, TypeVar

from sqlalchemy import URL, Connection, Row, Select, Table, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.sql.dml import UpdateBase

from askgraph.errors import ServiceError, SetupError

Result = TypeVar("Result")
Record = TypeVar("Record")
Work = Callable[[Connection], Result]
"""Work in a transaction; it waits for nothing but the database."""

_POSTGRESQL = ("postgres", "postgresql", "postgresql+asyncpg")
_LIKE = "postgresql://user:password@host/name, or the path of a file (SQLite)"


class DatabaseFailed(ServiceError):
    """The database did not do it: not there, too busy, full, or its answer makes no sense."""


class Database(Protocol):
    """Transactions on one database; each either happens as a whole or not at all.

    Writes are on disk when the transaction has ended. A transaction goes on to its end if its
    caller is cancelled. Both kinds raise `DatabaseFailed`.
    """

    is_sqlite: bool

    @property
    def name(self) -> str:
        """The address without its password."""
        ...

    async def read(self, work: Work[Result]) -> Result:
        """Return the result of work that only reads."""
        ...

    async def write(self, work: Work[Result]) -> Result:
        """Return the result of work that writes; an error undoes its writes."""
        ...

    async def close(self) -> None:
        """Close all connections, once the work under way has ended."""
        ...


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


def row_as(kind: type[Record], row: Row[Any], **changed: object) -> Record:
    """Return a row as a dataclass with fields of the same names; `changed` replaces some."""
    content = row._mapping
    names = [one.name for one in fields(kind) if one.name in content]  # type: ignore[arg-type]
    return kind(**{**{name: content[name] for name in names}, **changed})


def values_of(record: object, table: Table, **changed: object) -> dict[str, object]:
    """Return a dataclass as the values of the columns that have its names, and `changed`."""
    names = [column.name for column in table.c if hasattr(record, column.name)]
    return {**{name: getattr(record, name) for name in names}, **changed}


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
        return _for_asyncpg(url)
    if url.drivername == "sqlite" and url.database not in (None, "", ":memory:"):
        return url
    raise SetupError(
        f"a database at {url.render_as_string()!r} is of no use here; its address is like {_LIKE}"
    )


def failed(name: str, error: Exception) -> DatabaseFailed:
    """Return an error of a database's driver as ours."""
    reason = str(getattr(error, "orig", None) or error).strip() or type(error).__name__
    return DatabaseFailed(f"the database {name} failed: {reason}")


def _for_asyncpg(url: URL) -> URL:
    """The address with the driver's name for libpq's sslmode."""
    mode = url.query.get("sslmode")
    if mode is not None:
        url = url.difference_update_query(["sslmode"]).update_query_dict({"ssl": mode})
    return url.set(drivername="postgresql+asyncpg")
