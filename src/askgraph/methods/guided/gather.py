"""Several things waited for at once: where one fails, the others are stopped."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import TypeVar

__all__ = ["all_of"]

Item = TypeVar("Item")


async def all_of(waiting: Iterable[Coroutine[None, None, Item]]) -> list[Item]:
    """Return what each gives, in their order; raises what the first that fails raises."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in waiting]
    except ExceptionGroup as problems:
        raise problems.exceptions[0] from None
    return [task.result() for task in tasks]
