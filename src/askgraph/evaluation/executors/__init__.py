"""Executors that answer the questions of a run outside this process: one file each.

An executor is what `concurrent.futures` calls one. Its class is made with the number of workers,
and, if a cluster is there already, with its address.
"""

from collections.abc import Callable
from concurrent.futures import Future
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
