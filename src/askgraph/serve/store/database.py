"""A database by its address: work on it is done in transactions, to read in or to write in."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from sqlalchemy import URL, Connection, make_url
from sqlalchemy.exc import ArgumentError

from askgraph.errors import ServiceError, SetupError

__all__ = ["Database", "DatabaseFailed", "Work", "database_url", "failed"]

Result = TypeVar("Result")
Work = Callable[[Connection], Result]
"""What is done in a transaction; it waits for nothing but the database."""

_POSTGRESQL = ("postgres", "postgresql", "postgresql+asyncpg")
_LIKE = "postgresql://user:password@host/name, or the path of a file (SQLite)"


class DatabaseFailed(ServiceError):
    """The database did not do it: not there, too busy, full, or its answer makes no sense."""


class Database(Protocol):
    """Transactions on one database; each either happens as a whole or not at all.

    What is written is on disk when the transaction has ended. A transaction goes on to its end
    where who waits for it is cancelled. Both kinds raise `DatabaseFailed`.
    """

    is_sqlite: bool

    @property
    def name(self) -> str:
        """The address without its password."""
        ...

    async def read(self, work: Work[Result]) -> Result:
        """Return what some work gives that only reads."""
        ...

    async def write(self, work: Work[Result]) -> Result:
        """Return what some work gives that writes; an error of it undoes what it wrote."""
        ...

    async def close(self) -> None:
        """Close all connections, once what is under way has ended."""
        ...


def database_url(text: str) -> URL:
    """Return the address of a database: `postgresql://…`, `sqlite:///FILE`, or a file's path.

    Raises `SetupError` where it is none of them.
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
    """The address with the driver's name for what libpq calls sslmode."""
    mode = url.query.get("sslmode")
    if mode is not None:
        url = url.difference_update_query(["sslmode"]).update_query_dict({"ssl": mode})
    return url.set(drivername="postgresql+asyncpg")
