"""Executors that answer the questions of a run outside this process: one file each.

An executor is what `concurrent.futures` calls one. Its class is made with the number of workers,
and, if a cluster is there already, with its address. `completed` does the same
kind of work in this process, with a bounded number under way.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from concurrent.futures import Future
from itertools import islice
from typing import Any, ClassVar, Protocol, TypeVar

Result = TypeVar("Result")


class Executor(Protocol):
    """Runs functions elsewhere; function, arguments and result must be picklable.

    `lost` are the errors of a call whose worker died, and will not be replaced.
    """

    lost: ClassVar[tuple[type[BaseException], ...]]

    def __init__(self, workers: int, address: str | None = None) -> None:
        """Start `workers` processes, or connect to the cluster at an address."""
        ...

    def submit(self, function: Callable[..., Result], /, *arguments: Any) -> "Future[Result]":
        """Call a function on some worker."""
        ...

    def close(self) -> None:
        """End what was started, at once; what is under way is given up."""
        ...


Item = TypeVar("Item")


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
