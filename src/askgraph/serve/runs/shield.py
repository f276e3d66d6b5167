"""Work that is done to its end, also where who waits for it is stopped."""

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any

__all__ = ["to_its_end"]


async def to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """Do some work, however often this is cancelled meanwhile; raises what the work raises."""
    task = asyncio.create_task(work)
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    task.result()
