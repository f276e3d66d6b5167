"""The workers of a Dask cluster, on one machine or on many."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, ClassVar, TypeVar

from distributed import Client, KilledWorker, LocalCluster

__all__ = ["Dask"]

Result = TypeVar("Result")

THREADS = 16  # a worker's; they wait for its event loop, which does the work


class Dask:
    """A local cluster of so many processes, or the one whose scheduler is at `address`."""

    lost: ClassVar[tuple[type[BaseException], ...]] = (KilledWorker,)

    def __init__(self, workers: int, address: str | None = None) -> None:
        self._cluster = (
            LocalCluster(
                n_workers=workers,
                threads_per_worker=THREADS,
                dashboard_address=None,
                silence_logs=40,
            )
            if address is None
            else None
        )
        self._client = Client(self._cluster or address, set_as_default=False)
        self._pool = self._client.get_executor(pure=False, retries=2)

    def submit(self, function: Callable[..., Result], /, *arguments: Any) -> "Future[Result]":
        """Call a function on a worker; one that dies has its calls made again elsewhere."""
        future: Future[Result] = self._pool.submit(function, *arguments)
        return future

    def close(self) -> None:
        """Leave the cluster, and end it if it is ours."""
        self._pool.shutdown(wait=False)
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()
