"""An embedded endpoint: a store on disk, read by worker processes that can be killed.

A worker has one request at a time, is killed at its deadline, and replaced.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from operator import itemgetter
from pathlib import Path
from typing import TypeVar

from pyoxigraph import (
    QueryResultsFormat,
    QuerySolutions,
    RdfFormat,
    Triple,
    parse,
    parse_query_results,
)

from askgraph.endpoint import in_time
from askgraph.endpoint._oxigraph_pool import AWAKE, Pool, keep_awake
from askgraph.errors import (
    ErrorReply,
    ForbiddenQuery,
    QueryError,
    QuerySyntaxError,
    ServiceError,
    SetupError,
)
from askgraph.sparql.judge import CheckedQuery, Form, admitted, checked, datasets, starred
from askgraph.sparql.results import GraphResult, Row, SelectResult, Truncation

__all__ = ["AWAKE", "OxigraphEndpoint", "keep_awake"]

Progress = Callable[[int, int, str], None]
Value = TypeVar("Value")


_TOO_LARGE = "the result is too large to be read: add a LIMIT, or ask for shorter values"
_EXPLAINED = 10_000  # characters of a query whose faults are looked at again, for better words
_UNITED = "askgraph-united"  # a store's file that says that its default graph is the union of all


class OxigraphEndpoint:
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
        self._pool = Pool(self._path, workers=workers, memory=memory)

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

    async def select(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> SelectResult:
        """Run a SELECT query."""
        began = time.perf_counter()
        cap = self._cap(limit)
        written = starred(query)
        (names, rows), cut = await self._run(
            query, "SELECT", lambda body: _solutions(body, written), timeout, cap
        )
        return SelectResult(names, rows, _truncation(cut, cap), time.perf_counter() - began)

    async def ask(self, query: str, *, timeout: float | None = None) -> bool:
        """Run an ASK query."""
        answer, _ = await self._run(query, "ASK", lambda body: body == b"1", timeout, None)
        return answer

    async def construct(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> GraphResult:
        """Run a CONSTRUCT query."""
        return await self._graph(query, "CONSTRUCT", timeout, limit)

    async def describe(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> GraphResult:
        """Run a DESCRIBE query."""
        return await self._graph(query, "DESCRIBE", timeout, limit)

    async def close(self) -> None:
        """End the workers."""
        self._pool.close()

    async def _graph(
        self, query: str, form: Form, timeout: float | None, limit: int | None
    ) -> GraphResult:
        began = time.perf_counter()
        cap = self._cap(limit)
        triples, cut = await self._run(query, form, _triples, timeout, cap)
        return GraphResult(triples, _truncation(cut, cap), time.perf_counter() - began)

    def _cap(self, limit: int | None) -> int:
        return self._max_rows if limit is None else min(limit, self._max_rows)

    async def _run(
        self,
        query: str,
        form: Form,
        read: Callable[[bytes], Value],
        timeout: float | None,
        cap: int | None,
    ) -> tuple[Value, bool]:
        """Return what the reply holds, and whether it was cut at the cap."""
        ready = admitted(query, prefixes=self.prefixes)
        if ready.form != form:
            raise QueryError(f"{form} was asked for, but the query is {ready.form}")
        graphs, union = self._dataset(ready)

        def received(reply: bytes) -> tuple[Value, bool]:
            letter, body = reply[:1], reply[1:]
            if letter in b"BSGsg":
                return _within_bounds(read, body), letter in b"sg"
            raise self._failure(letter, body.decode(), query)

        seconds = in_time(self._timeout if timeout is None else timeout)
        text = str(ready.text)
        if form in ("SELECT", "ASK") and "EXISTS" in text.upper():
            from askgraph.sparql.rewrite.canonical import stepwise  # few queries have one

            text = stepwise(ready.text)
        request = (text, cap, graphs, union)
        return await self._pool.run(request, received, seconds=seconds)

    def _dataset(self, ready: CheckedQuery) -> tuple[list[str] | None, bool]:
        """Return the graphs to read, and whether the default graph is the union of all.

        Oxigraph lets both settings override a query's own FROM, so it gets neither there.
        """
        named = datasets(ready.text)
        if not named:
            return self._graphs, self._graphs is None and not self._united
        if self._graphs is not None and (other := sorted(set(named) - set(self._graphs))):
            raise ForbiddenQuery(f"the graph <{other[0]}> is not among those that may be read")
        return None, False

    def _failure(self, letter: bytes, message: str, query: str) -> Exception:
        match letter:
            case b"!":
                if len(query) <= _EXPLAINED:  # its words are better, if it finds the fault too
                    checked(query, prefixes=self.prefixes)
                return QuerySyntaxError(_readable(message))
            case b"?":
                return ServiceError("the query needed more memory than it may have")
            case b"+":
                return ServiceError(_TOO_LARGE)
            case b"X":
                return SetupError(f"the store {self.address!r} cannot be opened: {message}")
            case _:
                return ErrorReply(f"the store reports: {message}")


def _within_bounds(read: Callable[[bytes], Value], body: bytes) -> Value:
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
    order = sorted(range(len(names)), key=lambda at: _place(names[at], written))
    take = itemgetter(*order)
    ordered = tuple(names[at] for at in order)
    return ordered, tuple([take(tuple(solution)) for solution in solutions])


def _place(name: str, written: tuple[str, ...]) -> int:
    return written.index(name) if name in written else len(written)


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
