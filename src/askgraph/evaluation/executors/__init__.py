"""Executors that answer the questions of a run in other processes: one file each.

An executor fits the interface of `concurrent.futures`. Its class takes the number of workers and,
for an existing cluster, its address. `run_concurrently` does the same work in this process, with a
limited number of running tasks.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from concurrent.futures import Future
from itertools import islice
from typing import Any, ClassVar, Protocol, TypeVar

Result = TypeVar("Result")


class Executor(Protocol):
    """Runs functions in other processes; function, arguments and result must be picklable.

    Attributes:
        lost: Errors of a call whose worker died and will not be replaced.
    """

    worker_death_errors: ClassVar[tuple[type[BaseException], ...]]

    def __init__(self, workers: int, address: str | None = None) -> None:
        """Start `workers` processes, or connect to the cluster at an address."""
        ...

    def submit(self, function: Callable[..., Result], /, *arguments: Any) -> "Future[Result]":
        """Call a function on some worker."""
        ...

    def close(self) -> None:
        """Stop the workers that this executor started, at once; running calls are cancelled."""
        ...


Item = TypeVar("Item")


async def run_concurrently(
    items: Iterable[Item], work: Callable[[Item], Awaitable[Result]], *, concurrency: int
) -> AsyncGenerator[Result, None]:
    """Yield results as they finish; on exit, cancel running work.

    The next item is taken only when its work starts, after earlier results were yielded. If work
    raises, the error propagates once all finished results were yielded.
    """
    remaining = iter(items)
    running: set[asyncio.Task[Result]] = set()

    async def run_work(item: Item) -> Result:
        return await work(item)

    try:
        running = {
            asyncio.create_task(run_work(item)) for item in islice(remaining, max(1, concurrency))
        }
        while running:
            finished, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in sorted(finished, key=lambda t: t.cancelled() or t.exception() is not None):
                yield task.result()
            running |= {
                asyncio.create_task(run_work(item)) for item in islice(remaining, len(finished))
            }
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def is_cancelling() -> bool:
    """Return whether the current task itself is being cancelled, not something that it awaits."""
    current = asyncio.current_task()
    return current is not None and current.cancelling() > 0
