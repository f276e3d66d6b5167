"""Work from ordinary code (scripts, notebooks, the command line): run to its end, with progress."""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

Result = TypeVar("Result")

Progress = Callable[[str, int, int | None], None]
"""Given the name of the work, how far it is, and of how much if that is known."""


def silent(what: str, done: int, total: int | None) -> None:
    """Report progress to nobody."""


def result_of(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end, also if an event loop runs already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    done: Future[Result] = Future()
    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(_run, work, done), daemon=True)
    thread.start()
    return done.result()


def _run(work: Coroutine[Any, Any, Result], done: Future[Result]) -> None:
    try:
        done.set_result(asyncio.run(work))
    except BaseException as error:  # noqa: BLE001 - raised again where the result is asked for
        done.set_exception(error)
