"""Inquiries: questions to an endpoint within a bound of queries and seconds, answers kept.

Every reply is a line in a file, so that a run that was stopped goes on where it was. A query that
the endpoint cannot answer in time costs its own answer, not the run.
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from pyoxigraph import Literal, NamedNode, Triple

from askgraph.endpoint import Endpoint
from askgraph.errors import ErrorReply, MalformedReply, Overloaded, QueryError, TimedOut
from askgraph.graph.literals import term_of
from askgraph.sparql.judge import own_limit
from askgraph.sparql.rdf_files import triples_in
from askgraph.sparql.results import Row, SelectResult

PROBE = 10_001
"""Rows that are asked for to see whether they come: caps are round numbers below it, mostly."""

ALL = "?s ?p ?o"
_SLOWEST = 30.0
_LEAST = 1.0
_FIRST = 10.0  # seconds for a query as long as nobody knows how long the endpoint takes for any
_SLOWER = 2.5  # times what the fastest reply took, that each query gets
_MANY = 100  # rows, from which on, or from a round number on, a silent cap is looked for
_SHARE = 0.125  # of the seconds in all, for one query
_AMPLE = 0.8  # of the bound: all that may be asked is asked while so much is left
_LEAST_PATIENCE = 0.02  # of the seconds in all, for a costly query after others took too long


@dataclass(frozen=True)
class Reply:
    """Rows of one query; `cut` if the endpoint or a limit of ours left some out."""

    rows: tuple[Row, ...]
    cut: bool = False


class Inquiry:
    """Asks an endpoint; `rows` returns None if the bound is reached or the query failed.

    `graphs` are the named graphs to ask of, together as one; none means what the endpoint takes
    without being told. Of the seconds one query gets an eighth at most, and a costly one half of
    what the last costly one got in vain: an endpoint that cannot count everything is soon left in
    peace. One that takes long for whatever it is asked gets more. `cap` is the number of rows at
    which the endpoint is known to cut results off in silence; as long as none is, a big result of a
    round number of rows is taken for cut off. If `wary`, it is looked for when a result may be cut.
    A reply that makes no sense is asked for once more. `own_types` are predicates that are asked
    for in place of the standard ones, by these.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        max_queries: int,
        max_seconds: float,
        journal: Path | None = None,
        progress: Callable[[str, int, int | None], None] | None = None,
        graphs: Sequence[str] = (),
    ) -> None:
        self._endpoint = endpoint
        self.graphs = tuple(graphs)
        self._patience = _SHARE
        self.cap: int | None = None
        self.wary = False
        self._fastest: float | None = None
        self._max_queries = max_queries
        self._max_seconds = max_seconds
        self._path = journal
        self._progress = progress
        self._known: dict[str, Reply] = {}
        self._file: IO[str] | None = None
        self._began = time.monotonic()
        self.asked = 0
        self.late = False
        self._failed: dict[str, list[str]] = {}
        self.own_types: Mapping[str, str] = {}

    @property
    def failed(self) -> list[str]:
        """What could not be asked, and why, each reason once."""
        return [f"{', '.join(dict.fromkeys(what))}: {why}" for why, what in self._failed.items()]

    @property
    def only_reason(self) -> str | None:
        """Why all that failed did, if that is the same."""
        return next(iter(self._failed)) if len(self._failed) == 1 else None

    def __enter__(self) -> Self:
        if self._path:
            self._known = _read(self._path, self._endpoint.address)
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("a" if self._known else "w", encoding="utf-8")
            if self._known:
                self._file.write("\n")  # a line that was cut off ends here
            else:
                self._write({"endpoint": self._endpoint.address})
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file:
            self._file.close()

    @property
    def exhausted(self) -> bool:
        """Whether nothing more may be asked."""
        return self.asked >= self._max_queries or self._left() < _LEAST

    @property
    def queries_left(self) -> int:
        """The number of queries that may still be asked."""
        return max(0, self._max_queries - self.asked)

    @property
    def hurried(self) -> bool:
        """Whether a higher bound could have brought more: something was late, or much was used."""
        return self.late or self.share_left() < _AMPLE

    def over(self, graphs: Sequence[str]) -> None:
        """Ask of these named graphs from now on, together as one."""
        self.graphs = tuple(graphs)

    def share_left(self) -> float:
        """Return the part of the bound that is left, between 0 and 1."""
        queries = 1 - self.asked / self._max_queries
        return max(0.0, min(queries, self._left() / self._max_seconds))

    async def rows(
        self, what: str, query: str, *, costly: bool = False, anywhere: bool = False
    ) -> Reply | None:
        """Return the rows of a SELECT query; `what` is it in words, for progress and failures.

        `costly` queries touch (nearly) every triple; those of `anywhere` are asked of the dataset
        as the endpoint has it.
        """
        if not anywhere:
            named = "".join(f"FROM <{graph}> " for graph in self.graphs)
            query = query.replace("{", f"{named}{{", 1)
        if self.own_types:
            from askgraph.sparql.rewrite.virtual import written_out  # few graphs have such

            paths = {iri: NamedNode(own) for iri, own in self.own_types.items()}
            query = written_out(query, paths)
        key = hashlib.sha256(query.encode()).hexdigest()[:24]
        if key in self._known:
            return self._known[key]
        if self.exhausted:
            return None
        if self._progress:
            self._progress(f"asking for {what}", self.asked, self._max_queries)
        result = await self._result(what, query, costly=costly)
        if result is None:
            return None
        rows = len(result.rows)
        if self.wary and self.cap is None and (rows >= _MANY or (rows >= 10 and not rows % 10)):
            self.wary = False
            await self.find_cap()
        if self.cap is not None:
            capped = rows >= self.cap
        else:
            capped = rows > PROBE and rows % 1_000 == 0 and own_limit(query) != rows
        cut = result.truncated is not None or capped
        reply = Reply(result.rows, cut)
        self._known[key] = reply
        texts = [[None if term is None else str(term) for term in row] for row in reply.rows]
        self._write({"query": key, "cut": reply.cut, "rows": texts})
        return reply

    async def find_cap(self, pattern: str = ALL, *, rows: int = PROBE) -> tuple[int, bool]:
        """Return how many solutions of a pattern came, and whether these are all.

        If they are not, though fewer came than were asked for, that is the endpoint's cap.
        """
        rows = max(rows, PROBE)
        query = f"SELECT ?s {{ {pattern} }} LIMIT"
        reply = await self.rows("its cap on rows", f"{query} {rows}")
        came = len(reply.rows) if reply else 0
        if not 0 < came < rows:
            return came, False
        more = await self.rows("whether there is more", f"{query} 1 OFFSET {came}")
        whole = more is not None and not more.rows
        if not whole:
            self.cap = came
        return came, whole

    async def _result(self, what: str, query: str, *, costly: bool) -> SelectResult | None:
        for last in (False, True):
            self.asked += 1
            began = time.monotonic()
            try:
                share = (self._patience if costly else _SHARE) * self._max_seconds
                unknown = min(_FIRST, self._max_seconds / 3)
                usual = unknown if self._fastest is None else _SLOWER * self._fastest
                result = await self._endpoint.select(
                    query, timeout=min(_SLOWEST, max(_LEAST, share, usual), self._left())
                )
            except MalformedReply as error:
                if last or self.exhausted:
                    self._failed.setdefault(str(error), []).append(what)
                    return None
            except (TimedOut, ErrorReply, QueryError, Overloaded) as error:
                self._failed.setdefault(str(error), []).append(what)
                self.late = self.late or isinstance(error, TimedOut)
                if costly and isinstance(error, TimedOut):
                    self._patience = max(_LEAST_PATIENCE, self._patience / 2)
                return None
            else:
                taken = time.monotonic() - began
                self._fastest = min(taken, self._fastest or taken)
                return result
        return None

    def _left(self) -> float:
        return self._max_seconds - (time.monotonic() - self._began)

    def _write(self, line: Mapping[str, object]) -> None:
        if self._file:
            self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
            self._file.flush()


def _read(path: Path, address: str) -> dict[str, Reply]:
    """Read the replies kept of this endpoint; a line that was cut off is passed over."""
    known: dict[str, Reply] = {}
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
        if json.loads(lines[0]) != {"endpoint": address}:
            return {}
    except (OSError, ValueError):
        return {}
    for line in lines[1:]:
        try:
            kept = json.loads(line)
            rows = (tuple(text and term_of(text) for text in row) for row in kept["rows"])
            known[kept["query"]] = Reply(tuple(rows), kept["cut"])
        except (ValueError, KeyError):
            continue
    return known


@dataclass(frozen=True)
class Pages:
    """Triples, and what of them is not as it should be, in words."""

    triples: tuple[Triple, ...]
    cuts: tuple[str, ...] = ()


async def all_triples(inquiry: Inquiry, total: int) -> Pages | None:
    """Return the triples of a graph that has so many; None if they cannot be had.

    One query if the endpoint gives that many rows, else pages below its cap: the triples of
    several predicates at a time, big predicates in ordered pages. If these would cost more than
    half of the queries that are left, none is asked for.
    """
    whole = await inquiry.rows("all triples", "SELECT ?s ?p ?o { ?s ?p ?o }")
    if whole is None or not whole.rows:
        return None
    if len(whole.rows) >= total and not whole.cut:
        return Pages(tuple(triples_in(whole.rows)))
    inquiry.cap = len(whole.rows)
    cap = len(whole.rows)
    counted = await inquiry.rows(
        "predicates", "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p ORDER BY ?n"
    )
    if counted is None or counted.cut:
        return None
    queries = list(_queries(counted.rows, cap))
    if len(queries) > inquiry.queries_left / 2:
        return None
    rename = not await _lasting_names(inquiry)
    triples: list[Triple] = []
    for number, query in enumerate(queries):
        page = await inquiry.rows(f"triples, {len(triples):,} of {total:,}", query)
        if page is None:
            return None
        triples += triples_in(page.rows, f"p{number}x" if rename else "")
    cuts = []
    if len(triples) < total:
        cuts.append(f"{total - len(triples):,} of {total:,} triples did not come")
    if rename:
        cuts.append("blank nodes that several pages hold are taken for different ones")
    return Pages(tuple(triples), tuple(cuts))


def _queries(counted: Sequence[Row], cap: int) -> Iterator[str]:
    together: list[list[str]] = [[]]
    size = 0
    for predicate, number in counted:
        count = int(number.value) if isinstance(number, Literal) else 0
        if count >= cap:
            # Ordered inside, cut outside: Virtuoso refuses ORDER BY with an OFFSET beyond 10,000.
            inner = f"SELECT ?s ({predicate} AS ?p) ?o {{ ?s {predicate} ?o }} ORDER BY ?s ?o"
            for offset in range(0, count, cap):
                yield f"SELECT ?s ?p ?o {{ {{ {inner} }} }} LIMIT {cap} OFFSET {offset}"
            continue
        if size + count >= cap:
            together.append([])
            size = 0
        together[-1].append(str(predicate))
        size += count
    for predicates in filter(None, together):
        yield f"SELECT ?s ?p ?o {{ VALUES ?p {{ {' '.join(predicates)} }} ?s ?p ?o }}"


async def _lasting_names(inquiry: Inquiry) -> bool:
    """Return whether a blank node has the same name in two replies (or there is none)."""
    body = "{ ?b ?p ?o FILTER(isBlank(?b)) } ORDER BY ?b"
    two = await inquiry.rows("blank nodes", f"SELECT DISTINCT ?b {body} LIMIT 2")
    second = await inquiry.rows("blank nodes", f"SELECT DISTINCT ?b {body} LIMIT 1 OFFSET 1")
    if two is None or second is None:
        return False
    return len(two.rows) < 2 or two.rows[1:] == second.rows
