"""Several streams as one, in the order in which things come."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

__all__ = ["merged"]

Item = TypeVar("Item")


async def merged(
    *streams: AsyncGenerator[Item, None], until: float | None = None
) -> AsyncGenerator[Item, None]:
    """Give what the streams give until all have ended; all of them are closed in the end.

    What one of them raises ends all the others, and is raised as it is. Raises `TimeoutError` where
    the clock of the event loop comes to `until` before.
    """
    queue: asyncio.Queue[tuple[Item, ...]] = asyncio.Queue()
    tasks = [asyncio.create_task(_put(stream, queue)) for stream in streams]
    try:
        for _ in tasks:
            while item := await _next(queue, until):
                yield item[0]
            for task in tasks:
                if task.done():
                    task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _next(queue: "asyncio.Queue[tuple[Item, ...]]", until: float | None) -> tuple[Item, ...]:
    async with asyncio.timeout_at(until):
        return await queue.get()


async def _put(
    stream: AsyncGenerator[Item, None], queue: "asyncio.Queue[tuple[Item, ...]]"
) -> None:
    """Put what comes, each alone; where the stream has ended, nothing."""
    try:
        async with aclosing(stream):
            async for item in stream:
                queue.put_nowait((item,))
    finally:
        # the task is done when this is read, with its error if it has one
        asyncio.get_running_loop().call_soon(queue.put_nowait, ())
