"""Work on many items with a bounded number under way."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from itertools import islice
from typing import TypeVar

__all__ = ["completed"]

Item = TypeVar("Item")
Result = TypeVar("Result")


async def completed(
    items: Iterable[Item], work: Callable[[Item], Awaitable[Result]], *, concurrency: int
) -> AsyncGenerator[Result, None]:
    """Yield results as they are finished; on leaving, what is still under way is cancelled."""
    waiting = iter(items)
    running: set[asyncio.Task[Result]] = set()

    async def one(item: Item) -> Result:
        return await work(item)

    try:
        running = {asyncio.create_task(one(item)) for item in islice(waiting, max(1, concurrency))}
        while running:
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            running |= {asyncio.create_task(one(item)) for item in islice(waiting, len(done))}
            for task in done:
                yield task.result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
