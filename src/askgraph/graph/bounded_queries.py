"""Query an endpoint within a budget of queries and seconds, and keep the replies.

Each reply is a line in a journal, so that an interrupted run can resume. A query that the endpoint
cannot answer in time loses only its own result.
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
from askgraph.graph.literals import parse_term
from askgraph.sparql.judge import get_limit
from askgraph.sparql.rdf_files import build_triples
from askgraph.sparql.results import Row, SelectResult

PROBE_ROWS = 10_001
"""Rows requested to detect a row cap: most caps are round numbers below this."""

ALL_TRIPLES = "?s ?p ?o"
_MAX_QUERY_SECONDS = 30.0
_MIN_QUERY_SECONDS = 1.0
_FIRST_QUERY_SECONDS = 10.0  # time limit of a query until the speed of the endpoint is known
_SLOWDOWN_FACTOR = 2.5  # time limit of a query as a multiple of the fastest reply
_MIN_CAP_ROWS = 100  # fewest rows that may be the effect of a silent cap
_QUERY_SHARE = 0.125  # of the seconds in all, for one query
_AMPLE_SHARE = 0.8  # optional queries run while this part of the bound is left
_MIN_PATIENCE_SHARE = 0.02  # of the seconds in all, for a costly query after others took too long


@dataclass(frozen=True)
class QueryReply:
    """Rows of one query; `cut` if the endpoint or one of our limits dropped some."""

    rows: tuple[Row, ...]
    cut: bool = False


class QuerySession:
    """Queries an endpoint within a budget; resumable if it has a journal.

    One query gets at most an eighth of the seconds. A costly query gets half of the time that the
    last costly query spent in vain, so that an endpoint that cannot count everything is soon left
    alone. A slow endpoint gets more time per query. A malformed reply is requested once more.

    Attributes:
        graphs: Named graphs to query together; empty for the endpoint's default.
        cap: Number of rows at which the endpoint silently cuts off results; None if unknown.
            Then a big result with a round number of rows counts as cut off.
        should_find_cap: Look for the cap when a result may be cut off.
        query_count: Number of queries sent.
        has_timed_out: Whether any query ran out of time.
        own_types: The graph's own predicates to query in place of the standard ones, by these.
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
        self._patience = _QUERY_SHARE
        self.cap: int | None = None
        self.should_find_cap = False
        self._fastest: float | None = None
        self._max_queries = max_queries
        self._max_seconds = max_seconds
        self._path = journal
        self._progress = progress
        self._replies: dict[str, QueryReply] = {}
        self._file: IO[str] | None = None
        self._started_at = time.monotonic()
        self.query_count = 0
        self.has_timed_out = False
        self._failures: dict[str, list[str]] = {}
        self.own_types: Mapping[str, str] = {}

    @property
    def failures(self) -> list[str]:
        """Failed queries in words, grouped by reason."""
        return [
            f"{', '.join(dict.fromkeys(queries))}: {reason}"
            for reason, queries in self._failures.items()
        ]

    @property
    def sole_failure_reason(self) -> str | None:
        """The reason of all failures if there is only one, else None."""
        return next(iter(self._failures)) if len(self._failures) == 1 else None

    def __enter__(self) -> Self:
        if self._path:
            self._replies = _read_journal(self._path, self._endpoint.address)
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("a" if self._replies else "w", encoding="utf-8")
            if self._replies:
                self._file.write("\n")  # end a truncated line
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
    def is_exhausted(self) -> bool:
        """Whether the budget is used up."""
        return (
            self.query_count >= self._max_queries
            or self._get_remaining_seconds() < _MIN_QUERY_SECONDS
        )

    @property
    def remaining_queries(self) -> int:
        """The number of queries that may still be sent."""
        return max(0, self._max_queries - self.query_count)

    @property
    def is_limited_by_budget(self) -> bool:
        """Whether a bigger budget could give more: a query timed out, or much of it is used."""
        return self.has_timed_out or self.get_remaining_share() < _AMPLE_SHARE

    def get_remaining_share(self) -> float:
        """Return the remaining share of the budget, between 0 and 1."""
        queries = 1 - self.query_count / self._max_queries
        return max(0.0, min(queries, self._get_remaining_seconds() / self._max_seconds))

    async def select(
        self, words: str, query: str, *, costly: bool = False, anywhere: bool = False
    ) -> QueryReply | None:
        """Return the rows of a SELECT query, or None if it failed or the budget is used up.

        Args:
            words: Description of the query for progress and failures.
            query: The query, without FROM clauses.
            costly: Whether it touches (nearly) every triple.
            anywhere: Query the endpoint's dataset as it is, not only `graphs`.
        """
        if not anywhere:
            from_clauses = "".join(f"FROM <{graph}> " for graph in self.graphs)
            query = query.replace("{", f"{from_clauses}{{", 1)
        if self.own_types:
            from askgraph.sparql.rewrite.virtual import expand_virtual_query  # few graphs need it

            paths = {iri: NamedNode(own_predicate) for iri, own_predicate in self.own_types.items()}
            query = expand_virtual_query(query, paths)
        key = hashlib.sha256(query.encode()).hexdigest()[:24]
        if key in self._replies:
            return self._replies[key]
        if self.is_exhausted:
            return None
        if self._progress:
            self._progress(f"asking for {words}", self.query_count, self._max_queries)
        result = await self._send_query(words, query, costly=costly)
        if result is None:
            return None
        rows = len(result.rows)
        if (
            self.should_find_cap
            and self.cap is None
            and (rows >= _MIN_CAP_ROWS or (rows >= 10 and not rows % 10))
        ):
            self.should_find_cap = False
            await self.find_cap()
        if self.cap is not None:
            is_capped = rows >= self.cap
        else:
            is_capped = rows > PROBE_ROWS and rows % 1_000 == 0 and get_limit(query) != rows
        reply = QueryReply(result.rows, result.truncated is not None or is_capped)
        self._replies[key] = reply
        row_texts = [[None if term is None else str(term) for term in row] for row in reply.rows]
        self._write({"query": key, "cut": reply.cut, "rows": row_texts})
        return reply

    async def find_cap(
        self, pattern: str = ALL_TRIPLES, *, rows: int = PROBE_ROWS
    ) -> tuple[int, bool]:
        """Return the number of solutions of a pattern that came, and whether these are all.

        If not, although fewer came than requested, that number is the endpoint's cap.
        """
        rows = max(rows, PROBE_ROWS)
        query = f"SELECT ?s {{ {pattern} }} LIMIT"
        reply = await self.select("its cap on rows", f"{query} {rows}")
        row_count = len(reply.rows) if reply else 0
        if not 0 < row_count < rows:
            return row_count, False
        next_reply = await self.select("whether there is more", f"{query} 1 OFFSET {row_count}")
        is_complete = next_reply is not None and not next_reply.rows
        if not is_complete:
            self.cap = row_count
        return row_count, is_complete

    async def _send_query(self, words: str, query: str, *, costly: bool) -> SelectResult | None:
        for is_last_attempt in (False, True):
            self.query_count += 1
            started_at = time.monotonic()
            try:
                share = (self._patience if costly else _QUERY_SHARE) * self._max_seconds
                first_seconds = min(_FIRST_QUERY_SECONDS, self._max_seconds / 3)
                usual_seconds = (
                    first_seconds if self._fastest is None else _SLOWDOWN_FACTOR * self._fastest
                )
                result = await self._endpoint.select(
                    query,
                    timeout=min(
                        _MAX_QUERY_SECONDS,
                        max(_MIN_QUERY_SECONDS, share, usual_seconds),
                        self._get_remaining_seconds(),
                    ),
                )
            except MalformedReply as error:
                if is_last_attempt or self.is_exhausted:
                    self._failures.setdefault(str(error), []).append(words)
                    return None
            except (TimedOut, ErrorReply, QueryError, Overloaded) as error:
                self._failures.setdefault(str(error), []).append(words)
                self.has_timed_out = self.has_timed_out or isinstance(error, TimedOut)
                if costly and isinstance(error, TimedOut):
                    self._patience = max(_MIN_PATIENCE_SHARE, self._patience / 2)
                return None
            else:
                elapsed_seconds = time.monotonic() - started_at
                self._fastest = min(elapsed_seconds, self._fastest or elapsed_seconds)
                return result
        return None

    def _get_remaining_seconds(self) -> float:
        return self._max_seconds - (time.monotonic() - self._started_at)

    def _write(self, line: Mapping[str, object]) -> None:
        if self._file:
            self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
            self._file.flush()


def _read_journal(path: Path, address: str) -> dict[str, QueryReply]:
    """Read the replies of this endpoint from a journal, ignoring incomplete lines."""
    replies: dict[str, QueryReply] = {}
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
        if json.loads(lines[0]) != {"endpoint": address}:
            return {}
    except (OSError, ValueError):
        return {}
    for line in lines[1:]:
        try:
            entry = json.loads(line)
            rows = (tuple(text and parse_term(text) for text in row) for row in entry["rows"])
            replies[entry["query"]] = QueryReply(tuple(rows), entry["cut"])
        except (ValueError, KeyError):
            continue
    return replies


@dataclass(frozen=True)
class TripleDownload:
    """Downloaded triples, and their shortcomings in words."""

    triples: tuple[Triple, ...]
    cuts: tuple[str, ...] = ()


async def download_triples(inquiry: QuerySession, total: int) -> TripleDownload | None:
    """Download a graph of `total` triples; None if that is impossible.

    One query if the endpoint returns that many rows, else pages below its cap: several predicates
    at a time, big predicates in ordered pages. Gives up if these pages would cost more than half
    of the remaining queries.
    """
    first_page = await inquiry.select("all triples", "SELECT ?s ?p ?o { ?s ?p ?o }")
    if first_page is None or not first_page.rows:
        return None
    if len(first_page.rows) >= total and not first_page.cut:
        return TripleDownload(tuple(build_triples(first_page.rows)))
    inquiry.cap = len(first_page.rows)
    cap = len(first_page.rows)
    predicate_counts = await inquiry.select(
        "predicates", "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p ORDER BY ?n"
    )
    if predicate_counts is None or predicate_counts.cut:
        return None
    queries = list(_build_page_queries(predicate_counts.rows, cap))
    if len(queries) > inquiry.remaining_queries / 2:
        return None
    rename = not await _has_stable_blank_nodes(inquiry)
    triples: list[Triple] = []
    for number, query in enumerate(queries):
        page = await inquiry.select(f"triples, {len(triples):,} of {total:,}", query)
        if page is None:
            return None
        triples += build_triples(page.rows, f"p{number}x" if rename else "")
    cuts = []
    if len(triples) < total:
        cuts.append(f"{total - len(triples):,} of {total:,} triples are missing")
    if rename:
        cuts.append("blank nodes on several pages count as different nodes")
    return TripleDownload(tuple(triples), tuple(cuts))


def _build_page_queries(predicate_counts: Sequence[Row], cap: int) -> Iterator[str]:
    batches: list[list[str]] = [[]]
    size = 0
    for predicate, number in predicate_counts:
        count = int(number.value) if isinstance(number, Literal) else 0
        if count >= cap:
            # Ordered inside, cut outside: Virtuoso refuses ORDER BY with an OFFSET beyond 10,000.
            inner = f"SELECT ?s ({predicate} AS ?p) ?o {{ ?s {predicate} ?o }} ORDER BY ?s ?o"
            for offset in range(0, count, cap):
                yield f"SELECT ?s ?p ?o {{ {{ {inner} }} }} LIMIT {cap} OFFSET {offset}"
            continue
        if size + count >= cap:
            batches.append([])
            size = 0
        batches[-1].append(str(predicate))
        size += count
    for predicates in filter(None, batches):
        yield f"SELECT ?s ?p ?o {{ VALUES ?p {{ {' '.join(predicates)} }} ?s ?p ?o }}"


async def _has_stable_blank_nodes(inquiry: QuerySession) -> bool:
    """Return whether blank nodes keep their names between replies, or do not occur."""
    body = "{ ?b ?p ?o FILTER(isBlank(?b)) } ORDER BY ?b"
    first_reply = await inquiry.select("blank nodes", f"SELECT DISTINCT ?b {body} LIMIT 2")
    second_reply = await inquiry.select(
        "blank nodes", f"SELECT DISTINCT ?b {body} LIMIT 1 OFFSET 1"
    )
    if first_reply is None or second_reply is None:
        return False
    return len(first_reply.rows) < 2 or first_reply.rows[1:] == second_reply.rows
