"""PostgreSQL as the store needs it: connections on the event loop, left in one piece."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from sqlalchemy import URL
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from askgraph.errors import SetupError
from askgraph.serve.store.database import Work, failed

Result = TypeVar("Result")
_CONNECTIONS = 10


class PostgresqlDatabase:
    """A `Database` on a PostgreSQL server, shared with other processes and machines."""

    is_sqlite = False

    def __init__(self, url: URL) -> None:
        self.name = url.render_as_string()
        self._engine = _engine(url)
        self._under_way: set[asyncio.Task[Any]] = set()

    async def read(self, work: Work[Result]) -> Result:
        """Return the result of work that only reads."""
        return await self._carried_through(self._done(work))

    async def write(self, work: Work[Result]) -> Result:
        """Return the result of work that writes; an error undoes its writes."""
        return await self._carried_through(self._done(work))

    async def close(self) -> None:
        """Close all connections, once the work under way has ended."""
        if self._under_way:
            await asyncio.wait(self._under_way)
        await self._engine.dispose()

    async def _done(self, work: Work[Result]) -> Result:
        try:
            async with self._engine.begin() as connection:
                return await connection.run_sync(work)
        except (SQLAlchemyError, OSError) as error:
            raise failed(self.name, error) from error

    async def _carried_through(self, work: Coroutine[Any, Any, Result]) -> Result:
        # A connection that is left in the middle cannot be used again: a hundred callers who hang
        # up would cost a hundred new connections.
        task = asyncio.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # where nobody waits for it any more, nobody misses it


def _engine(url: URL) -> AsyncEngine:
    try:
        return create_async_engine(url, pool_pre_ping=True, pool_size=_CONNECTIONS)
    except ImportError as error:
        raise SetupError(
            "a PostgreSQL database needs the package asyncpg: pip install 'askgraph[postgresql]'"
        ) from error
