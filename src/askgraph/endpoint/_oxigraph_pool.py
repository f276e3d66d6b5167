"""The worker processes of an embedded store: handed requests, killed when late, ended when at rest.

`_oxigraph_worker` is their program, `oxigraph` the endpoint that they work for.
"""

import asyncio
import marshal
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

import pyoxigraph

from askgraph.errors import ServiceError, TimedOut

Reply = TypeVar("Reply")
Request = tuple[str, int | None, list[str] | None, bool]

AWAKE = 16
"""Stores that may have processes at once in one process of ours."""
_RESTING = 60.0  # seconds without a query after which a store's processes end
_SCRIPT = Path(__file__).with_name("_oxigraph_worker.py")


class Pool:
    """So many workers over one store, of which none is ever left with a query behind it.

    Usable from any event loop and thread. A worker that was killed, or died, is replaced at once.
    """

    def __init__(self, store: Path, *, workers: int, memory: int) -> None:
        self._store = store
        self._memory = memory
        self._count = workers
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="askgraph-oxigraph")
        self._free: SimpleQueue[_Worker] = SimpleQueue()
        self._all: set[_Worker] = set()
        self._lock = threading.Lock()
        self._started = self._closed = False
        self._busy = 0

    def start(self) -> None:
        """Start the workers, without waiting for them; others that rest too long may end."""
        with self._lock:
            if self._started or self._closed:
                return
            self._started = True
            for _ in range(self._count):
                self._free.put(self._new())
        _AWAKE.add(self)

    def rest(self) -> bool:
        """End the workers, until they are needed again; False if they have something to do."""
        with self._lock:
            if self._busy or self._closed:
                return False
            workers, self._all = self._all, set()
            self._free, self._started = SimpleQueue(), False
        for worker in workers:
            worker.kill()
            worker.close()
        return True

    async def run(
        self, request: Request, read: Callable[[bytes], Reply], *, seconds: float
    ) -> Reply:
        """Return the reply to a request as `read`, which runs in a thread too, returns it.

        Raises `TimedOut` or `ServiceError` if no reply comes.
        """
        with self._lock:
            self._busy += 1
        self.start()
        call = _Call(request, seconds)
        try:
            future = self._threads.submit(lambda: read(self._serve(call)))
        except RuntimeError as problem:
            self._done()
            raise ServiceError(f"the store {self._store} is closed") from problem
        future.add_done_callback(self._done)
        waiting = asyncio.wrap_future(future)
        try:
            await asyncio.wait({waiting}, timeout=call.remaining())
            if not waiting.done() and future.cancel():
                raise TimedOut(
                    f"no worker was free within {seconds:g} seconds: all run other queries"
                )
            return await waiting
        except asyncio.CancelledError:
            waiting.cancel()
            call.abort()
            raise

    def close(self) -> None:
        """Kill all workers; a second call does nothing."""
        with self._lock:
            self._closed = True
            workers, self._all = self._all, set()
        _AWAKE.discard(self)
        for worker in workers:
            worker.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for worker in workers:
            worker.close()

    def _done(self, _: object = None) -> None:
        with self._lock:
            self._busy -= 1
            if self._closed:
                return
        _AWAKE.used(self)

    def _serve(self, call: "_Call") -> bytes:
        worker = self._free.get()
        try:
            call.begin(worker)
            return worker.exchange(marshal.dumps(call.request), call)
        finally:
            call.end()
            self._free.put(worker if worker.idle else self._replaced(worker))

    def _replaced(self, worker: "_Worker") -> "_Worker":
        worker.kill()
        with self._lock:
            if self._closed:
                return worker
            self._all.discard(worker)
            worker.close()
            return self._new()

    def _new(self) -> "_Worker":
        worker = _Worker(self._store, self._memory)
        self._all.add(worker)
        return worker


class _Awake:
    """The pools whose workers run in this process, the one that was used last at the end.

    Those that were not used for a while, and the first of too many, are put to rest.
    """

    def __init__(self) -> None:
        self.most = AWAKE
        self._pools: dict[Pool, float] = {}
        self._lock = threading.Lock()
        self._watching = False

    def add(self, pool: "Pool") -> None:
        """Take note that the workers of a pool were started."""
        self.used(pool)
        with self._lock:
            if not self._watching:
                self._watching = True
                name = "askgraph-oxigraph-rest"
                threading.Thread(target=self._watch, name=name, daemon=True).start()

    def used(self, pool: "Pool") -> None:
        """Put a pool at the end, and the first ones to rest if there are too many."""
        with self._lock:
            self._pools.pop(pool, None)
            self._pools[pool] = time.monotonic()
            others = list(self._pools)[: max(0, len(self._pools) - self.most)]
        for other in others:
            self._rest(other)

    def discard(self, pool: "Pool") -> None:
        """Forget a pool that is closed."""
        with self._lock:
            self._pools.pop(pool, None)

    def _rest(self, pool: "Pool") -> None:
        if pool.rest():
            self.discard(pool)

    def _watch(self) -> None:
        while True:
            time.sleep(_RESTING / 4)
            before = time.monotonic() - _RESTING
            with self._lock:
                tired = [pool for pool, used in self._pools.items() if used < before]
            for pool in tired:
                self._rest(pool)


_AWAKE = _Awake()


def keep_awake(stores: int) -> None:
    """Set how many stores may have processes at once in this process; `AWAKE` unless set.

    Those asked least recently end first, also after a minute without a query; each starts again,
    within some 50 ms, with its next query.
    """
    _AWAKE.most = max(1, stores)


class _Call:
    """A request on its way, and the worker that has it."""

    def __init__(self, request: Request, seconds: float) -> None:
        self.request = request
        self.seconds = seconds
        self._deadline = time.monotonic() + seconds
        self._worker: _Worker | None = None
        self._aborted = False
        self._lock = threading.Lock()

    def remaining(self) -> float:
        return max(0.0, self._deadline - time.monotonic())

    def begin(self, worker: "_Worker") -> None:
        with self._lock:
            if self._aborted:
                raise ServiceError("the query was cancelled")
            self._worker = worker

    def end(self) -> None:
        with self._lock:
            self._worker = None

    def abort(self) -> None:
        with self._lock:
            self._aborted = True
            if self._worker:
                self._worker.kill()


class _Worker:
    """One worker process; `idle` is true while it owes no reply and lives."""

    def __init__(self, store: Path, memory: int) -> None:
        self._memory = memory
        folder = Path(pyoxigraph.__file__).parent.parent
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_SCRIPT), str(folder), str(store), str(memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for us alone; the worker ends with its input
            bufsize=0,
        )
        assert self._process.stdin
        assert self._process.stdout
        self._to = self._process.stdin.fileno()
        self._from = self._process.stdout.fileno()
        os.set_blocking(self._to, False)
        os.set_blocking(self._from, False)
        self._lock = threading.Lock()
        self._killed = False
        self.idle = True

    def kill(self) -> None:
        """End the process; what is waiting for its reply sees it die."""
        with self._lock:
            if not self._killed:
                self._killed = True
                self.idle = False
                self._process.kill()
                self._process.wait()

    def exchange(self, body: bytes, call: _Call) -> bytes:
        """Send a request and return its reply."""
        self.idle = False
        try:
            self._send(len(body).to_bytes(8, "little") + body, call)
            length = int.from_bytes(self._receive(8, call), "little")
            reply = self._receive(length, call)
        except (BrokenPipeError, EOFError) as problem:
            raise ServiceError(self._epitaph()) from problem
        self.idle = not self._killed
        return reply

    def close(self) -> None:
        """Close the pipes."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                stream.close()

    def _send(self, data: bytes, call: _Call) -> None:
        view = memoryview(data)
        while view:
            self._wait(self._to, select.POLLOUT, call)
            view = view[os.write(self._to, view) :]

    def _receive(self, count: int, call: _Call) -> bytes:
        data = bytearray(count)
        view, at = memoryview(data), 0
        while at < count:
            self._wait(self._from, select.POLLIN, call)
            part = os.read(self._from, min(count - at, 1 << 20))
            if not part:
                raise EOFError
            view[at : at + len(part)] = part
            at += len(part)
        return bytes(data)

    def _wait(self, handle: int, event: int, call: _Call) -> None:
        poll = select.poll()
        poll.register(handle, event)
        if not poll.poll(call.remaining() * 1000):
            self.kill()
            raise TimedOut(f"the query was stopped after {call.seconds:g} seconds")

    def _epitaph(self) -> str:
        with self._lock:
            if self._killed:
                return "the query was cancelled"
        code = self._process.wait()
        limit = f" (its limit is {self._memory / 2**30:.3g} GiB)" if self._memory else ""
        if code in (-6, 134):
            return f"the query needed more memory than it may have{limit}, or broke the store"
        if code == -9:
            return "the query's process was killed by the system, most likely for its memory"
        return f"the query's process ended by itself with status {code}"
