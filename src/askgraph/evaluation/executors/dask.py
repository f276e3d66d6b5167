"""The workers of a Dask cluster, on one machine or on many."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, ClassVar, TypeVar

from distributed import Client, KilledWorker, LocalCluster

__all__ = ["Dask"]

Result = TypeVar("Result")

THREAD_COUNT = 16  # per worker; the threads wait for its event loop, which does the work


class Dask:
    """A local cluster of `workers` processes, or the cluster whose scheduler is at `address`."""

    worker_death_errors: ClassVar[tuple[type[BaseException], ...]] = (KilledWorker,)

    def __init__(self, workers: int, address: str | None = None) -> None:
        self._cluster = (
            LocalCluster(
                n_workers=workers,
                threads_per_worker=THREAD_COUNT,
                dashboard_address=None,
                silence_logs=40,
            )
            if address is None
            else None
        )
        self._client = Client(self._cluster or address, set_as_default=False)
        self._pool = self._client.get_executor(pure=False, retries=2)

    def submit(self, function: Callable[..., Result], /, *arguments: Any) -> "Future[Result]":
        """Call a function on a worker; calls of a worker that dies are retried on others."""
        future: Future[Result] = self._pool.submit(function, *arguments)
        return future

    def close(self) -> None:
        """Disconnect from the cluster, and stop it if this executor started it."""
        self._pool.shutdown(wait=False)
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()
