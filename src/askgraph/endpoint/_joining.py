"""SERVICE clauses of a query: each is evaluated on its endpoint and replaced by its solutions.

SPARQL 1.1 Federated Query calls this the interplay of SERVICE and VALUES (section 2.4): if the rest
of a query has few values for the variables of a clause, they restrict the clause; if the clause has
few solutions, they restrict the rest.
"""

import asyncio
import hashlib
import time
from collections.abc import Collection, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any, TypeVar

from pyoxigraph import BlankNode, NamedNode, Triple

from askgraph.endpoint import Endpoint
from askgraph.errors import ForbiddenQuery, QueryError, QuerySyntaxError, ServiceError, TimedOut
from askgraph.sparql.federation.service import ServiceClause, find_clauses, get_prologue
from askgraph.sparql.federation.surroundings import (
    EvaluatedClause,
    Restriction,
    choose_restriction,
    estimate_selectivity,
    find_filters,
    get_sibling_positions,
)
from askgraph.sparql.judge import MAX_QUERY_CHARACTERS
from askgraph.sparql.parser import parse_query
from askgraph.sparql.results import Row, SelectResult, Term

Value = TypeVar("Value")

MAX_BOUND_ROWS = 5_000  # bindings sent with a SERVICE, in total
BATCH_ROWS = 200  # in one request
BATCH_CHARACTERS = 50_000  # characters of the bindings in one request
MAX_PARALLEL_COUNT = 4  # requests


@dataclass(frozen=True)
class ClauseSolutions:
    """Solutions by the names of their variables, with duplicates."""

    names: tuple[str, ...]
    rows: tuple[Row, ...]

    def project(self, names: Sequence[str]) -> "ClauseSolutions":
        """Return the distinct solutions for some of the variables."""
        columns = [self.names.index(name) for name in names]
        rows = dict.fromkeys(tuple(row[column] for column in columns) for row in self.rows)
        return ClauseSolutions(tuple(names), tuple(rows))


@dataclass(frozen=True)
class ServiceCall:
    """A clause of a join to be evaluated on `service` before `deadline`.

    `surroundings` are the other side of the join: patterns for the join's own endpoint, or the
    solutions of another clause. `filters` are those that apply to the clause alone.
    """

    join: "FederatedJoin"
    clause: ServiceClause
    service: Endpoint
    surroundings: Restriction
    filters: tuple[str, ...]
    deadline: float

    async def evaluate(self) -> ClauseSolutions:
        """Return solutions that include all that join with the rest of the query.

        The side that looks more selective is queried first. Few values of the surroundings restrict
        the clause; otherwise all of its solutions are fetched.

        Raises:
            QueryError: both sides have too many solutions.
        """
        body = " ".join([self.clause.body, *self.filters])
        is_clause_first = (
            estimate_selectivity(body, self.join.prologue) > self.surroundings.selectivity
        )
        if (is_clause_first or not self.surroundings.shared) and (
            solutions := await self._fetch_all()
        ):
            return solutions
        bound = await self._fetch_bound_values() if self.surroundings.shared else None
        if bound is not None and bound.names:
            blocks = list(
                format_batches(
                    bound.names, bound.rows, max_rows=BATCH_ROWS, max_characters=BATCH_CHARACTERS
                )
            )
            inside = self.clause.leading.issuperset(bound.names)
            results: list[SelectResult] = []
            for start in range(0, len(blocks), MAX_PARALLEL_COUNT):
                parallel_blocks = blocks[start : start + MAX_PARALLEL_COUNT]
                results += await gather_or_cancel(
                    [self._select(block, inside=inside) for block in parallel_blocks]
                )
                truncation = next(
                    (result.truncated for result in results if result.truncated), None
                )
                if truncation and truncation.by == "server":
                    raise self._build_size_error(
                        f" than are sent: it was cut off ({truncation.reason})"
                    )
                if truncation or sum(len(result.rows) for result in results) > self.join.max_rows:
                    raise self._build_size_error(" that match what is beside it")
            return self._collect(results)
        if (
            not is_clause_first
            and self.surroundings.shared
            and (solutions := await self._fetch_all())
        ):
            return solutions
        raise self._build_size_error(
            f" and its surroundings more than {MAX_BOUND_ROWS:,} values to restrict it by"
            if self.surroundings.shared
            else " and no other pattern restricts it"
        )

    async def _fetch_all(self) -> ClauseSolutions | None:
        """Return all solutions; None if there are too many or the service truncated them."""
        result = await self._select("")
        if result.truncated or len(result.rows) > self.join.max_rows:
            return None
        return self._collect([result])

    async def _fetch_bound_values(self) -> ClauseSolutions | None:
        """Return the values of shared variables in the surroundings; None if there are too many."""
        # A variable that is unbound in some row does not restrict and is dropped; a row with a
        # blank node of one graph matches nowhere in another.
        if known_solutions := self.join.get_solutions(self.surroundings.evaluated_position):
            values = known_solutions.project(self.surroundings.shared)
        else:
            variables = " ".join(f"?{name}" for name in self.surroundings.shared)
            datasets = " ".join(parse_query(self.join.text).tree.datasets)
            query = (
                f"{self.join.prologue}SELECT DISTINCT {variables} {datasets}"
                f" WHERE {{ {self.surroundings.text} }}"
            )
            result = await self.join.own_endpoint.select(
                query, timeout=get_seconds_left(self.deadline), limit=MAX_BOUND_ROWS + 1
            )
            if result.truncated:
                return None
            values = ClauseSolutions(result.variables, result.rows)
        if len(values.rows) > MAX_BOUND_ROWS:
            return None
        bound_names = [
            name
            for column, name in enumerate(values.names)
            if all(row[column] for row in values.rows)
        ]
        values = values.project(bound_names)
        rows = (row for row in values.rows if not any(isinstance(term, BlankNode) for term in row))
        return ClauseSolutions(values.names, tuple(rows))

    async def _select(self, values: str, *, inside: bool = False) -> SelectResult:
        names = " ".join(f"?{name}" for name in self.clause.names) or "(1 AS ?one)"
        is_single_group = inside or not (values or self.filters)
        body = self.clause.body if is_single_group else f"{{ {self.clause.body} }}"
        where = " ".join(filter(None, (values, body, *self.filters)))
        query = f"{self.join.prologue}SELECT {names} WHERE {{ {where} }}"
        return await self.service.select(
            query, timeout=get_seconds_left(self.deadline), limit=self.join.max_rows + 1
        )

    def _collect(self, results: Sequence[SelectResult]) -> ClauseSolutions:
        """Return rows in the order of the clause's names, with blank nodes as IRIs."""
        # A blank node's label is valid within one reply only, so each reply has IRIs of its own.
        rows: list[Row] = []
        for result in results:
            graph = hashlib.sha256(self.clause.target.encode()).hexdigest()[:12]
            mark = f"urn:blank:{graph}:{next(_REPLIES)}"
            position_by_name = {name: position for position, name in enumerate(result.variables)}
            positions = [position_by_name.get(name) for name in self.clause.names]
            rows += [
                tuple(
                    NamedNode(f"{mark}:{term.value}") if isinstance(term, BlankNode) else term
                    for term in (None if at is None else row[at] for at in positions)
                )
                for row in result.rows
            ]
        return ClauseSolutions(self.clause.names, tuple(rows))

    def _build_size_error(self, reason: str) -> QueryError:
        return QueryError(
            f"SERVICE <{self.clause.target}> gives more than {self.join.max_rows:,} rows{reason}: "
            "make it more selective, or bind its variables by patterns next to it"
        )


def get_seconds_left(deadline: float) -> float:
    """Return the seconds until a deadline; raise `TimedOut` if it has passed."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimedOut("the federated query exceeded its time limit")
    return seconds


async def gather_or_cancel(work: Sequence[Coroutine[Any, Any, Value]]) -> list[Value]:
    """Run all concurrently; if one fails, or the caller is cancelled, cancel the others."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


_REPLIES = count()


@dataclass
class FederatedJoin:
    """One query whose clauses are evaluated on `others`, and the rest on `own`.

    `direct_services` are the addresses that `own` calls itself. Each clause may have `most` rows;
    more are a `QueryError`, as a part of them could silently make the result wrong.
    """

    text: str
    own_endpoint: Endpoint
    other_endpoints: Mapping[str, Endpoint]
    direct_services: Collection[str]
    max_rows: int
    deadline: float
    _solved: dict[int, EvaluatedClause] = field(default_factory=dict)
    _solutions: dict[int, ClauseSolutions] = field(default_factory=dict)

    async def rewrite_query(self) -> str:
        """Return the query with the solutions of its clauses in place of the clauses."""
        service_clauses = [
            clause
            for clause in find_clauses(self.text)
            if clause.target not in self.direct_services
        ]
        pending = service_clauses
        while pending:
            ranked = sorted(
                pending, key=lambda clause: (-self._measure_selectivity(clause), clause.start)
            )
            ready = [
                clause
                for position, clause in enumerate(ranked)
                if not any(_can_restrict(preceding, clause) for preceding in ranked[:position])
            ]
            results = await gather_or_cancel([self._evaluate(clause) for clause in ready])
            for clause, solutions in zip(ready, results, strict=True):
                self._store(clause, solutions)
            pending = [clause for clause in pending if clause not in ready]
        pieces, end = list[str](), 0
        for clause in service_clauses:
            pieces += [self.text[end : clause.start], f" {self._solved[clause.start].text} "]
            end = clause.end
        text = "".join(pieces) + self.text[end:]
        if len(text) > MAX_QUERY_CHARACTERS:
            raise QueryError(
                f"the solutions of the SERVICE clauses have {len(text):,} characters; at most "
                f"{MAX_QUERY_CHARACTERS:,} can be joined: make the clauses more selective"
            )
        return text

    @cached_property
    def prologue(self) -> str:
        """The declarations of the query."""
        return get_prologue(self.text)

    def get_solutions(self, start: int | None) -> ClauseSolutions | None:
        """Return the solutions of the clause at a position, if they are known."""
        return None if start is None else self._solutions.get(start)

    def _measure_selectivity(self, clause: ServiceClause) -> int:
        surroundings = self._find_surroundings(clause)
        body = " ".join([clause.body, *find_filters(self.text, clause)])
        return max(
            estimate_selectivity(body, self.prologue),
            surroundings.selectivity if surroundings.shared else 0,
        )

    def _find_surroundings(self, clause: ServiceClause) -> Restriction:
        return choose_restriction(self.text, clause, self._solved, self.prologue)

    async def _evaluate(self, clause: ServiceClause) -> ClauseSolutions | None:
        """Return the solutions of a clause; None if it failed and is SILENT."""
        service = await asyncio.to_thread(get_service, clause.target, self.other_endpoints)
        # A SERVICE SILENT gets half of the time, so that the query can continue without it.
        clause_deadline = (time.monotonic() + self.deadline) / 2 if clause.silent else self.deadline
        surroundings, filters = self._find_surroundings(clause), find_filters(self.text, clause)
        try:
            return await ServiceCall(
                self, clause, service, surroundings, filters, clause_deadline
            ).evaluate()
        except (ServiceError, QuerySyntaxError):
            if not clause.silent:
                raise
            return None

    def _store(self, clause: ServiceClause, solutions: ClauseSolutions | None) -> None:
        if solutions is None:  # one solution that binds nothing: section 2.3
            self._solved[clause.start] = EvaluatedClause("{}", frozenset())
            return
        self._solutions[clause.start] = solutions
        text = format_values(solutions.names, solutions.rows)
        if clause.is_alternative:  # Virtuoso 7.2 loses the solutions of a lone VALUES in a UNION
            text = f"{{ SELECT * WHERE {{ {text} }} }}"
        self._solved[clause.start] = EvaluatedClause(text, clause.certain)


def get_service(target: str, endpoints: Mapping[str, Endpoint]) -> Endpoint:
    """Return the endpoint of an address; raise `ForbiddenQuery` if the address is relative."""
    if target not in endpoints:
        raise ForbiddenQuery(f"a SERVICE needs a full address: <{target}> is relative")
    return endpoints[target]


def _can_restrict(preceding: ServiceClause, clause: ServiceClause) -> bool:
    """Return whether the solutions of one clause may restrict another."""
    is_adjacent = preceding.start in get_sibling_positions(
        clause
    ) or clause.start in get_sibling_positions(preceding)
    return is_adjacent and not set(preceding.names).isdisjoint(clause.names)


def format_values(names: Sequence[str], rows: Sequence[Row]) -> str:
    """Return solutions as a VALUES block, with duplicates; None is UNDEF.

    Solutions without variables become empty groups, as not all servers accept them in VALUES.

    Raises:
        QueryError: there is a blank node or a triple, which a query cannot name.
    """
    if not names:
        return " UNION ".join("{}" for _ in rows) if rows else "{ FILTER(false) }"
    return _format_block(names, [_format_row(row) for row in rows])


def format_batches(
    names: Sequence[str], rows: Sequence[Row], *, max_rows: int, max_characters: int
) -> Iterator[str]:
    """Yield VALUES blocks that contain the solutions in order.

    A block has at most `max_rows` solutions and `max_characters` characters, unless a single
    solution is longer.
    """
    lines, size = list[str](), 0
    for line in map(_format_row, rows):
        if lines and (len(lines) == max_rows or size + len(line) > max_characters):
            yield _format_block(names, lines)
            lines, size = [], 0
        lines.append(line)
        size += len(line)
    if lines:
        yield _format_block(names, lines)


def _format_block(names: Sequence[str], lines: Sequence[str]) -> str:
    variables = " ".join(f"?{name}" for name in names)
    return f"VALUES ({variables}) {{ {' '.join(lines)} }}"


def _format_row(row: Row) -> str:
    return f"({' '.join(map(_format_term, row))})"


def _format_term(term: Term | None) -> str:
    match term:
        case None:
            return "UNDEF"
        case BlankNode() | Triple():
            raise QueryError(
                f"{str(term)[:80]!r} cannot be named in a query: only IRIs and literals can"
            )
        case _:
            return str(term)
