"""Work that is given up where the caller closes the connection."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from starlette.requests import Request

__all__ = ["unless_left"]

Value = TypeVar("Value")


async def unless_left(request: Request, work: Awaitable[Value]) -> Value:
    """Return what work gives; it is cancelled where the caller leaves before."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
        return await task
    finally:
        gone.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
