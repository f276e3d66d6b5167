"""Executor with processes on this machine."""

import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection, wait
from typing import Any, ClassVar, TypeVar

from askgraph.errors import SetupError

__all__ = ["Processes"]

Result = TypeVar("Result")


class Processes:
    """A pool of processes on this machine; when one dies, all calls are lost."""

    worker_death_errors: ClassVar[tuple[type[BaseException], ...]] = (BrokenProcessPool,)

    def __init__(self, workers: int, address: str | None = None) -> None:
        if address is not None:
            raise SetupError(
                "--address does not apply to processes, which run on this machine: omit it"
            )
        context = multiprocessing.get_context("spawn")
        connection, self._parent_connection = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(
            workers, mp_context=context, initializer=_exit_with_parent, initargs=(connection,)
        )

    def submit(self, function: Callable[..., Result], /, *arguments: Any) -> "Future[Result]":
        """Call a function in one of the processes."""
        return self._pool.submit(function, *arguments)

    def close(self) -> None:
        """Stop the processes, even while they work."""
        self._parent_connection.close()
        self._pool.shutdown(cancel_futures=True)


def _exit_with_parent(pipe: Connection) -> None:
    """Exit this process when the other end of a pipe is closed or its process was killed."""
    threading.Thread(target=_wait_and_exit, args=(pipe,), daemon=True).start()


def _wait_and_exit(pipe: Connection) -> None:
    wait([pipe])
    os._exit(1)
