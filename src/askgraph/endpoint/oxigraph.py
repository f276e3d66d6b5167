"""An embedded endpoint: a store on disk, read by worker processes that can be killed.

A worker has one request at a time, is killed at its deadline, and replaced.
"""

import asyncio
import marshal
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from operator import itemgetter
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

import pyoxigraph
from pyoxigraph import (
    QueryResultsFormat,
    QuerySolutions,
    RdfFormat,
    Triple,
    parse,
    parse_query_results,
)

from askgraph.endpoint import ByForm, Kind
from askgraph.errors import (
    ErrorReply,
    ForbiddenQuery,
    QueryError,
    QuerySyntaxError,
    ServiceError,
    SetupError,
    TimedOut,
)
from askgraph.sparql.judge import EndpointRequest, check_query, get_star_variables, list_datasets
from askgraph.sparql.results import GraphResult, Result, Row, SelectResult, Truncation

__all__ = ["AWAKE", "OxigraphEndpoint", "keep_awake"]

Progress = Callable[[int, int, str], None]
Reply = TypeVar("Reply")
Request = tuple[str, int | None, list[str] | None, bool]

_TOO_LARGE = "the result is too large to be read: add a LIMIT, or ask for shorter values"
_EXPLAINED = 10_000  # characters of a query whose faults are looked at again, for better words

AWAKE = 16
"""Stores that may have processes at once in one process of ours."""
_RESTING = 60.0  # seconds without a query after which a store's processes end
_SCRIPT = Path(__file__).with_name("_oxigraph_worker.py")
_UNITED = "askgraph-united"  # a store's file that says that its default graph is the union of all


class OxigraphEndpoint(ByForm):
    """Answers queries over an Oxigraph store on disk, which it only reads.

    pyoxigraph can neither be interrupted nor bounded, so queries run in `workers` processes of
    their own: killed at the timeout, when the caller is cancelled, and by the system beyond
    `memory` bytes (0 for no limit; counted is private memory, not the files of the store).
    The default graph is the union of all graphs, or of `graphs` if these are given; then no
    other graph can be read. Several endpoints and processes may read the same store.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        workers: int = 1,
        timeout: float = 30.0,
        max_rows: int = 1_000_000,
        memory: int = 4 * 1024**3,
        graphs: Sequence[str] | None = None,
        prefixes: dict[str, str] | None = None,
    ) -> None:
        self._path = Path(path)
        if not (self._path / "CURRENT").is_file():
            raise SetupError(f"{str(path)!r} is no Oxigraph store: add the graph (again)")
        self._timeout = timeout
        self._max_rows = max_rows
        self._united = (self._path / _UNITED).is_file()
        self._graphs = None if graphs is None else list(graphs)
        self.prefixes = prefixes or {}
        self._pool = _Pool(self._path, workers=workers, memory=memory)

    @staticmethod
    def load(
        sources: Iterable[Path | str], path: Path | str, *, progress: Progress | None = None
    ) -> int:
        """Build a store at `path` from files and folders; return the number of files read.

        Reads Turtle, N-Triples, N-Quads, TriG, RDF/XML and JSON-LD, each also .gz, .bz2 or .xz, as
        their names say. Blank nodes of different files stay apart. `progress` gets the bytes
        done, all bytes, and the file's name. What stood at `path` is replaced once all is read;
        a failure leaves it as it was. Raises `SetupError` with file, line and column.
        """
        from askgraph.endpoint.oxigraph_load import load_store  # no question loads anything

        return load_store(
            [Path(source) for source in sources], Path(path), mark=_UNITED, progress=progress
        )

    @staticmethod
    def loading(files: Sequence[Path], path: Path) -> AbstractContextManager[None]:
        """Build a store from files, beside the work of a `with` block if they are big.

        Raises what `load` raises, at the end of the block at the latest, and `ServiceError` if the
        process that loads big files dies.
        """
        from askgraph.endpoint.oxigraph_load import loading

        return loading(files, path, mark=_UNITED)

    @property
    def address(self) -> str:
        """The path of the store."""
        return str(self._path)

    def start(self) -> None:
        """Start the workers ahead of the first query, without waiting."""
        self._pool.start()

    async def close(self) -> None:
        """End the workers."""
        self._pool.close()

    async def _of_form(self, asked: EndpointRequest, kind: type[Kind]) -> Kind:
        began = time.perf_counter()
        cap = asked.get_row_limit(self._max_rows)
        result: Result
        if asked.form == "ASK":
            result, _ = await self._run(asked, lambda body: body == b"1", None)
        elif asked.form == "SELECT":
            written = get_star_variables(asked.query)
            (names, rows), cut = await self._run(asked, lambda body: _solutions(body, written), cap)
            result = SelectResult(names, rows, _truncation(cut, cap), time.perf_counter() - began)
        else:
            triples, cut = await self._run(asked, _triples, cap)
            result = GraphResult(triples, _truncation(cut, cap), time.perf_counter() - began)
        assert isinstance(result, kind)
        return result

    async def _run(
        self, asked: EndpointRequest, read: Callable[[bytes], Reply], cap: int | None
    ) -> tuple[Reply, bool]:
        """Return what the reply holds, and whether it was cut at the cap."""
        ready = asked.check(self.prefixes)
        graphs, union = self._graphs, self._graphs is None and not self._united
        if named := list_datasets(ready.text):
            if graphs is not None and (other := sorted(set(named) - set(graphs))):
                raise ForbiddenQuery(f"the graph <{other[0]}> is not among those that may be read")
            graphs, union = None, False

        def received(reply: bytes) -> tuple[Reply, bool]:
            letter, body = reply[:1], reply[1:]
            if letter in b"BSGsg":
                return _within_bounds(read, body), letter in b"sg"
            raise self._failure(letter, body.decode(), asked.query)

        text = str(ready.text)
        if asked.form in ("SELECT", "ASK") and "EXISTS" in text.upper():
            from askgraph.sparql.rewrite.canonical import (
                nest_existence_conditions,
            )  # few queries have one

            text = nest_existence_conditions(ready.text)
        request = (text, cap, graphs, union)
        return await self._pool.run(request, received, seconds=asked.get_timeout(self._timeout))

    def _failure(self, letter: bytes, message: str, query: str) -> Exception:
        match letter:
            case b"!":
                if len(query) <= _EXPLAINED:  # its words are better, if it finds the fault too
                    check_query(query, prefixes=self.prefixes)
                return QuerySyntaxError(_readable(message))
            case b"?":
                return ServiceError("the query needed more memory than it may have")
            case b"+":
                return ServiceError(_TOO_LARGE)
            case b"X":
                return SetupError(f"the store {self.address!r} cannot be opened: {message}")
            case _ if message.startswith("The custom function"):
                return QueryError(f"{message}: take one of SPARQL 1.1")
            case _:
                return ErrorReply(f"the store reports: {message}")


def _within_bounds(read: Callable[[bytes], Reply], body: bytes) -> Reply:
    """Read a result; the reader takes no row of more than 16 MiB."""
    try:
        return read(body)
    except MemoryError as problem:
        # What was read must not outlive this thread with the traceback.
        problem.__traceback__ = None
    raise ServiceError(_TOO_LARGE)


def _solutions(
    body: bytes, written: tuple[str, ...] | None
) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    """Read rows; those of a `SELECT *`, which Oxigraph orders anyhow, in the order written."""
    solutions = parse_query_results(body, QueryResultsFormat.TSV)
    assert isinstance(solutions, QuerySolutions)
    names = tuple(variable.value for variable in solutions.variables)
    if written is None or len(names) < 2:
        return names, tuple([tuple(solution) for solution in solutions])
    places = {name: at for at, name in enumerate(written)}
    order = sorted(range(len(names)), key=lambda at: places.get(names[at], len(written)))
    take = itemgetter(*order)
    return take(names), tuple([take(tuple(solution)) for solution in solutions])


def _triples(body: bytes) -> tuple[Triple, ...]:
    return tuple([quad.triple for quad in parse(body, RdfFormat.N_TRIPLES)])


def _truncation(cut: bool, cap: int) -> Truncation | None:
    return Truncation("askgraph", f"stopped after {cap:,} rows") if cut else None


def _readable(message: str) -> str:
    """Shorten Oxigraph's list of all that it would have taken."""
    for part in message.split("expected one of ")[-1].split(", "):
        if part.startswith(("The ", "An ", "A ")):
            return part
    return message if len(message) < 200 else message[:200] + "…"


class _Pool:
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
        self._pools: dict[_Pool, float] = {}
        self._lock = threading.Lock()
        self._watching = False

    def add(self, pool: "_Pool") -> None:
        """Take note that the workers of a pool were started."""
        self.used(pool)
        with self._lock:
            if not self._watching:
                self._watching = True
                name = "askgraph-oxigraph-rest"
                threading.Thread(target=self._watch, name=name, daemon=True).start()

    def used(self, pool: "_Pool") -> None:
        """Put a pool at the end, and the first ones to rest if there are too many."""
        with self._lock:
            self._pools.pop(pool, None)
            self._pools[pool] = time.monotonic()
            others = list(self._pools)[: max(0, len(self._pools) - self.most)]
        self._rest(others)

    def discard(self, pool: "_Pool") -> None:
        """Forget a pool that is closed."""
        with self._lock:
            self._pools.pop(pool, None)

    def _rest(self, pools: Iterable["_Pool"]) -> None:
        for pool in pools:
            if pool.rest():
                self.discard(pool)

    def _watch(self) -> None:
        while True:
            time.sleep(_RESTING / 4)
            before = time.monotonic() - _RESTING
            with self._lock:
                tired = [pool for pool, used in self._pools.items() if used < before]
            self._rest(tired)


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
            view = memoryview(len(body).to_bytes(8, "little") + body)
            while view:
                self._wait(self._to, select.POLLOUT, call)
                view = view[os.write(self._to, view) :]
            reply = self._receive(int.from_bytes(self._receive(8, call), "little"), call)
        except (BrokenPipeError, EOFError) as problem:
            raise ServiceError(self._epitaph()) from problem
        self.idle = not self._killed
        return reply

    def close(self) -> None:
        """Close the pipes."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                stream.close()

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
