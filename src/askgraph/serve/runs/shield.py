"""A shield for work that has to be done to its end, also when its task is cancelled."""

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any


async def shield(work: Coroutine[Any, Any, None]) -> None:
    """Do some work, however often this is cancelled meanwhile, and raise what the work raises."""
    task = asyncio.create_task(work)
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    task.result()
