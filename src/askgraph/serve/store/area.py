"""What every area of the store has: the database, and transactions that are carried through."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from askgraph.serve.store.database import Database

__all__ = ["Area", "transaction"]

Self_ = TypeVar("Self_", bound="Area")
Given = ParamSpec("Given")
Result = TypeVar("Result")


class Area:
    """Methods on some tables of a database; each is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database


def transaction(
    method: Callable[Concatenate[Self_, Given], Coroutine[Any, Any, Result]],
) -> Callable[Concatenate[Self_, Given], Coroutine[Any, Any, Result]]:
    """Return a method that goes on to its end where its caller is cancelled.

    A connection that is left in the middle cannot be used again: a hundred callers who hang up
    would cost a hundred new connections.
    """

    @wraps(method)
    async def carried(self: Self_, /, *args: Given.args, **more: Given.kwargs) -> Result:
        return await self._database.carry_through(method(self, *args, **more))

    return carried
