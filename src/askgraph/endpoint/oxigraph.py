"""An embedded endpoint: a store on disk, read by worker processes that can be killed.

A worker runs one request at a time, is killed at its deadline, and replaced.
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
from typing import TYPE_CHECKING, TypeVar

import pyoxigraph
from pyoxigraph import (
    QueryResultsFormat,
    QuerySolutions,
    RdfFormat,
    Triple,
    parse,
    parse_query_results,
)

from askgraph import errors
from askgraph.endpoint import FormEndpoint, Kind
from askgraph.sparql.judge import EndpointRequest, check_query, get_star_variables, list_datasets
from askgraph.sparql.results import GraphResult, Result, Row, SelectResult, Truncation

if TYPE_CHECKING:
    from askgraph.endpoint.oxigraph_load import FileOptions

__all__ = ["MAX_ACTIVE_STORES", "OxigraphEndpoint", "set_max_active_stores"]

Progress = Callable[[int, int, str], None]
Reply = TypeVar("Reply")
Request = tuple[str, int | None, list[str] | None, bool]

_TOO_LARGE_MESSAGE = "the result is too large: add a LIMIT, or select shorter values"
_MAX_EXPLAINED_CHARACTERS = 10_000  # longer queries get no second parse for a better error message

MAX_ACTIVE_STORES = 16
"""The maximum number of stores with worker processes at the same time."""
_MAX_IDLE_SECONDS = 60.0  # idle seconds after which the worker processes of a store end
_WORKER_SCRIPT = Path(__file__).with_name("_oxigraph_worker.py")
_UNION_MARK_FILE = "askgraph-united"  # marks a store whose default graph is the union of all graphs


class OxigraphEndpoint(FormEndpoint):
    """Answers queries over an Oxigraph store on disk, which it only reads.

    pyoxigraph can neither be interrupted nor limited, so queries run in `workers` separate
    processes: killed at the timeout, when the caller is cancelled, and by the system beyond
    `memory` bytes (0 for no limit; private memory counts, not the files of the store). The
    default graph is the union of all graphs, or of `graphs`; then other graphs cannot be
    read. Several endpoints and processes may read the same store.
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
            raise errors.SetupError(f"{str(path)!r} is not an Oxigraph store: add the graph again")
        self._timeout = timeout
        self._max_rows = max_rows
        self._has_union_graph = (self._path / _UNION_MARK_FILE).is_file()
        self._graphs = None if graphs is None else list(graphs)
        self.prefixes = prefixes or {}
        self._pool = _ProcessPool(self._path, workers=workers, memory=memory)

    @staticmethod
    def load(
        sources: Iterable[Path | str],
        path: Path | str,
        *,
        progress: Progress | None = None,
        options: "FileOptions | None" = None,
    ) -> int:
        """Build a store at `path` from files and folders; return the number of files.

        The formats are Turtle, N-Triples, N-Quads, TriG, RDF/XML, JSON-LD, N3 and CSV, each also
        .gz, .bz2, .xz or in a .zip, by the file's extension. Blank nodes of different files stay
        distinct. A previous store at `path` is replaced after everything is read; a failure leaves
        it unchanged.

        Args:
            progress: called with the bytes done, all bytes, and the file's name.
            options: how files are read; invalid IRIs and language tags are mended by default.

        Raises:
            SetupError: a file is invalid; the message has file, line and column.
        """
        from askgraph.endpoint.oxigraph_load import load_store  # no question loads anything

        return load_store(
            [Path(source) for source in sources],
            Path(path),
            mark=_UNION_MARK_FILE,
            progress=progress,
            options=options,
        )

    @staticmethod
    def load_in_background(
        files: Sequence[Path], path: Path, options: "FileOptions | None" = None
    ) -> AbstractContextManager[None]:
        """Build a store from files; big files are loaded in parallel with a `with` block.

        Raises:
            SetupError: as `load`, at the end of the block at the latest.
            ServiceError: the process that loads big files dies.
        """
        from askgraph.endpoint.oxigraph_load import load_in_background

        return load_in_background(files, path, mark=_UNION_MARK_FILE, options=options)

    @property
    def address(self) -> str:
        """The path of the store."""
        return str(self._path)

    def start(self) -> None:
        """Start the workers before the first query, without waiting."""
        self._pool.start()

    async def close(self) -> None:
        """Stop the workers."""
        self._pool.close()

    async def _answer(self, request: EndpointRequest, kind: type[Kind]) -> Kind:
        start = time.perf_counter()
        row_limit = request.get_row_limit(self._max_rows)
        result: Result
        if request.form == "ASK":
            result, _ = await self._run_query(request, lambda body: body == b"1", None)
        elif request.form == "SELECT":
            written_names = get_star_variables(request.query)
            (names, rows), is_cut = await self._run_query(
                request, lambda body: _parse_solutions(body, written_names), row_limit
            )
            result = SelectResult(
                names, rows, _build_truncation(is_cut, row_limit), time.perf_counter() - start
            )
        else:
            triples, is_cut = await self._run_query(request, _parse_triples, row_limit)
            result = GraphResult(
                triples, _build_truncation(is_cut, row_limit), time.perf_counter() - start
            )
        assert isinstance(result, kind)
        return result

    async def _run_query(
        self, request: EndpointRequest, parse: Callable[[bytes], Reply], row_limit: int | None
    ) -> tuple[Reply, bool]:
        """Return the parsed reply, and whether it was cut at the row limit."""
        checked_query = request.check(self.prefixes)
        graphs, is_union = self._graphs, self._graphs is None and not self._has_union_graph
        if dataset_graphs := list_datasets(checked_query.text):
            if graphs is not None and (
                forbidden_graphs := sorted(set(dataset_graphs) - set(graphs))
            ):
                raise errors.ForbiddenQuery(
                    f"the graph <{forbidden_graphs[0]}> is not one of the graphs that may be read"
                )
            graphs, is_union = None, False

        def parse_reply(reply: bytes) -> tuple[Reply, bool]:
            letter, body = reply[:1], reply[1:]
            if letter in b"BSGsg":
                return _parse_bounded(parse, body), letter in b"sg"
            raise self._build_error(letter, body.decode(), request.query)

        text = str(checked_query.text)
        if request.form in ("SELECT", "ASK") and "EXISTS" in text.upper():
            # Few queries have one.
            from askgraph.sparql.rewrite.canonical import nest_existence_conditions

            text = nest_existence_conditions(checked_query.text)
        worker_request = (text, row_limit, graphs, is_union)
        return await self._pool.run(
            worker_request, parse_reply, seconds=request.get_timeout(self._timeout)
        )

    def _build_error(self, letter: bytes, message: str, query: str) -> Exception:
        match letter:
            case b"!":
                if (
                    len(query) <= _MAX_EXPLAINED_CHARACTERS
                ):  # its words are better, if it finds the fault too
                    check_query(query, prefixes=self.prefixes)
                return errors.QuerySyntaxError(_shorten_message(message))
            case b"?":
                return errors.ServiceError("the query exceeded its memory limit")
            case b"+":
                return errors.ServiceError(_TOO_LARGE_MESSAGE)
            case b"X":
                return errors.SetupError(f"the store {self.address!r} cannot be opened: {message}")
            case _ if message.startswith("The custom function"):
                return errors.QueryError(f"{message}: take one of SPARQL 1.1")
            case _:
                return errors.ErrorReply(f"the store reports: {message}")


def _parse_bounded(parse: Callable[[bytes], Reply], body: bytes) -> Reply:
    """Parse a result; the parser rejects rows of more than 16 MiB."""
    try:
        return parse(body)
    except MemoryError as problem:
        # Drop the traceback: it would keep the data alive after this thread.
        problem.__traceback__ = None
    raise errors.ServiceError(_TOO_LARGE_MESSAGE)


def _parse_solutions(
    body: bytes, written_names: tuple[str, ...] | None
) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    """Parse rows; Oxigraph does not keep the column order of `SELECT *`, so restore it."""
    solutions = parse_query_results(body, QueryResultsFormat.TSV)
    assert isinstance(solutions, QuerySolutions)
    names = tuple(variable.value for variable in solutions.variables)
    if written_names is None or len(names) < 2:
        return names, tuple([tuple(solution) for solution in solutions])
    position_by_name = {name: column for column, name in enumerate(written_names)}
    column_order = sorted(
        range(len(names)),
        key=lambda column: position_by_name.get(names[column], len(written_names)),
    )
    select_columns = itemgetter(*column_order)
    return select_columns(names), tuple([select_columns(tuple(solution)) for solution in solutions])


def _parse_triples(body: bytes) -> tuple[Triple, ...]:
    return tuple([quad.triple for quad in parse(body, RdfFormat.N_TRIPLES)])


def _build_truncation(is_cut: bool, row_limit: int) -> Truncation | None:
    return Truncation("askgraph", f"stopped after {row_limit:,} rows") if is_cut else None


def _shorten_message(message: str) -> str:
    """Shorten Oxigraph's list of all tokens that it expected."""
    for part in message.split("expected one of ")[-1].split(", "):
        if part.startswith(("The ", "An ", "A ")):
            return part
    return message if len(message) < 200 else message[:200] + "…"


class _ProcessPool:
    """Worker processes over one store; a query never outlives its caller in a worker."""

    def __init__(self, store: Path, *, workers: int, memory: int) -> None:
        self._store = store
        self._memory = memory
        self._count = workers
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="askgraph-oxigraph")
        self._free: SimpleQueue[_StoreProcess] = SimpleQueue()
        self._all: set[_StoreProcess] = set()
        self._lock = threading.Lock()
        self._started = self._closed = False
        self._busy = 0

    def start(self) -> None:
        """Start the workers without waiting; stop idle pools if there are too many."""
        with self._lock:
            if self._started or self._closed:
                return
            self._started = True
            for _ in range(self._count):
                self._free.put(self._create_worker())
        _ACTIVE_POOLS.add(self)

    def stop_if_idle(self) -> bool:
        """Stop the workers until the next query; return False if they are busy."""
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
        self, request: Request, parse: Callable[[bytes], Reply], *, seconds: float
    ) -> Reply:
        """Return the reply to a request, parsed by `parse` in a thread.

        Raises:
            TimedOut: there is no reply in time.
            ServiceError: the worker failed.
        """
        with self._lock:
            self._busy += 1
        self.start()
        call = _WorkerCall(request, seconds)
        try:
            future = self._threads.submit(lambda: parse(self._serve(call)))
        except RuntimeError as problem:
            self._finish_request()
            raise errors.ServiceError(f"the store {self._store} is closed") from problem
        future.add_done_callback(self._finish_request)
        pending = asyncio.wrap_future(future)
        try:
            await asyncio.wait({pending}, timeout=call.get_remaining_seconds())
            if not pending.done() and future.cancel():
                raise errors.TimedOut(
                    f"no worker was free within {seconds:g} seconds: all are running other "
                    "queries; try again later"
                )
            return await pending
        except asyncio.CancelledError:
            pending.cancel()
            call.abort()
            raise

    def close(self) -> None:
        """Kill all workers; a second call has no effect."""
        with self._lock:
            self._closed = True
            workers, self._all = self._all, set()
        _ACTIVE_POOLS.discard(self)
        for worker in workers:
            worker.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for worker in workers:
            worker.close()

    def _finish_request(self, _: object = None) -> None:
        with self._lock:
            self._busy -= 1
            if self._closed:
                return
        _ACTIVE_POOLS.mark_used(self)

    def _serve(self, call: "_WorkerCall") -> bytes:
        worker = self._free.get()
        try:
            call.begin(worker)
            return worker.send_request(marshal.dumps(call.request), call)
        finally:
            call.end()
            self._free.put(worker if worker.is_idle else self._replace(worker))

    def _replace(self, worker: "_StoreProcess") -> "_StoreProcess":
        worker.kill()
        with self._lock:
            if self._closed:
                return worker
            self._all.discard(worker)
            worker.close()
            return self._create_worker()

    def _create_worker(self) -> "_StoreProcess":
        worker = _StoreProcess(self._store, self._memory)
        self._all.add(worker)
        return worker


class _ActivePools:
    """The pools with running workers, the most recently used last."""

    def __init__(self) -> None:
        self.max_count = MAX_ACTIVE_STORES
        self._pools: dict[_ProcessPool, float] = {}
        self._lock = threading.Lock()
        self._watching = False

    def add(self, pool: "_ProcessPool") -> None:
        """Add a pool whose workers were started."""
        self.mark_used(pool)
        with self._lock:
            if not self._watching:
                self._watching = True
                name = "askgraph-oxigraph-rest"
                threading.Thread(target=self._watch, name=name, daemon=True).start()

    def mark_used(self, pool: "_ProcessPool") -> None:
        """Move a pool to the end, and stop the first ones beyond the limit."""
        with self._lock:
            self._pools.pop(pool, None)
            self._pools[pool] = time.monotonic()
            excess = list(self._pools)[: max(0, len(self._pools) - self.max_count)]
        self._stop(excess)

    def discard(self, pool: "_ProcessPool") -> None:
        """Remove a closed pool."""
        with self._lock:
            self._pools.pop(pool, None)

    def _stop(self, pools: Iterable["_ProcessPool"]) -> None:
        for pool in pools:
            if pool.stop_if_idle():
                self.discard(pool)

    def _watch(self) -> None:
        while True:
            time.sleep(_MAX_IDLE_SECONDS / 4)
            threshold = time.monotonic() - _MAX_IDLE_SECONDS
            with self._lock:
                idle = [pool for pool, last_use in self._pools.items() if last_use < threshold]
            self._stop(idle)


_ACTIVE_POOLS = _ActivePools()


def set_max_active_stores(stores: int) -> None:
    """Set the maximum number of stores with worker processes; the default is `MAX_ACTIVE_STORES`.

    The least recently used are stopped first, also after a minute without a query; each
    starts again, within some 50 ms, with its next query.
    """
    _ACTIVE_POOLS.max_count = max(1, stores)


class _WorkerCall:
    """A request in progress, and its worker."""

    def __init__(self, request: Request, seconds: float) -> None:
        self.request = request
        self.seconds = seconds
        self._deadline = time.monotonic() + seconds
        self._worker: _StoreProcess | None = None
        self._aborted = False
        self._lock = threading.Lock()

    def get_remaining_seconds(self) -> float:
        return max(0.0, self._deadline - time.monotonic())

    def begin(self, worker: "_StoreProcess") -> None:
        with self._lock:
            if self._aborted:
                raise errors.ServiceError("the query was cancelled")
            self._worker = worker

    def end(self) -> None:
        with self._lock:
            self._worker = None

    def abort(self) -> None:
        with self._lock:
            self._aborted = True
            if self._worker:
                self._worker.kill()


class _StoreProcess:
    """A worker process; `idle` is true while it lives and has no request."""

    def __init__(self, store: Path, memory: int) -> None:
        self._memory = memory
        folder = Path(pyoxigraph.__file__).parent.parent
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_WORKER_SCRIPT), str(folder), str(store), str(memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # only the parent gets Ctrl-C
            bufsize=0,
        )
        assert self._process.stdin
        assert self._process.stdout
        self._input = self._process.stdin.fileno()
        self._output = self._process.stdout.fileno()
        os.set_blocking(self._input, False)
        os.set_blocking(self._output, False)
        self._lock = threading.Lock()
        self._killed = False
        self.is_idle = True

    def kill(self) -> None:
        """Kill the process; a pending request fails."""
        with self._lock:
            if not self._killed:
                self._killed = True
                self.is_idle = False
                self._process.kill()
                self._process.wait()

    def send_request(self, body: bytes, call: _WorkerCall) -> bytes:
        """Send a request and return its reply."""
        self.is_idle = False
        try:
            view = memoryview(len(body).to_bytes(8, "little") + body)
            while view:
                self._wait(self._input, select.POLLOUT, call)
                view = view[os.write(self._input, view) :]
            reply = self._receive(int.from_bytes(self._receive(8, call), "little"), call)
        except (BrokenPipeError, EOFError) as problem:
            raise errors.ServiceError(self._describe_death()) from problem
        self.is_idle = not self._killed
        return reply

    def close(self) -> None:
        """Close the pipes."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                stream.close()

    def _receive(self, count: int, call: _WorkerCall) -> bytes:
        data = bytearray(count)
        view, position = memoryview(data), 0
        while position < count:
            self._wait(self._output, select.POLLIN, call)
            part = os.read(self._output, min(count - position, 1 << 20))
            if not part:
                raise EOFError
            view[position : position + len(part)] = part
            position += len(part)
        return bytes(data)

    def _wait(self, handle: int, event: int, call: _WorkerCall) -> None:
        poll = select.poll()
        poll.register(handle, event)
        if not poll.poll(call.get_remaining_seconds() * 1000):
            self.kill()
            raise errors.TimedOut(f"the query was stopped after {call.seconds:g} seconds")

    def _describe_death(self) -> str:
        with self._lock:
            if self._killed:
                return "the query was cancelled"
        code = self._process.wait()
        limit = f" of {self._memory / 2**30:.3g} GiB" if self._memory else ""
        if code in (-6, 134):
            return f"the query exceeded its memory limit{limit}, or crashed the store"
        if code == -9:
            return (
                "the query's process was killed by the system, most likely because memory ran out"
            )
        return f"the query's process crashed with status {code}"
