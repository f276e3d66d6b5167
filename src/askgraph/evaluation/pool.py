"""Work on many items with a bounded number under way."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


async def completed(
    items: Iterable[Item], work: Callable[[Item], Awaitable[Result]], *, concurrency: int
) -> AsyncGenerator[Result, None]:
    """Yield results as they are finished; on leaving, what is still under way is cancelled.

    An item is taken only when its work begins, after the results before it were yielded. If work
    raises, so does this, once it has yielded all that was finished by then.
    """
    waiting = iter(items)
    running: set[asyncio.Task[Result]] = set()

    async def one(item: Item) -> Result:
        return await work(item)

    try:
        running = {asyncio.create_task(one(item)) for item in islice(waiting, max(1, concurrency))}
        while running:
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in sorted(done, key=_failed):
                yield task.result()
            running |= {asyncio.create_task(one(item)) for item in islice(waiting, len(done))}
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def given_up() -> bool:
    """Return whether the work that asks is being cancelled, and not something that it waits for."""
    running = asyncio.current_task()
    return running is not None and running.cancelling() > 0


def _failed(task: "asyncio.Task[Result]") -> bool:
    return task.cancelled() or task.exception() is not None
