"""SERVICE clauses of a query: evaluated each on its endpoint, their solutions put in place.

SPARQL 1.1 Federated Query calls this the interplay of SERVICE and VALUES (section 2.4): if the
rest of a query has few values for the variables of a clause, these go along; if the clause has
few solutions, these restrict the rest.
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

MAX_BOUND = 5_000  # values of the surroundings that go along, in all
BATCH = 200  # in one request
BATCH_LENGTH = 50_000  # characters of them
AT_ONCE = 4  # requests


@dataclass(frozen=True)
class Solutions:
    """Solutions by the names of their variables, as often as they come."""

    names: tuple[str, ...]
    rows: tuple[Row, ...]

    def projected(self, names: Sequence[str]) -> "Solutions":
        """Return the different solutions for some of the variables."""
        at = [self.names.index(name) for name in names]
        rows = dict.fromkeys(tuple(row[i] for i in at) for row in self.rows)
        return Solutions(tuple(names), tuple(rows))


@dataclass(frozen=True)
class ServiceCall:
    """A clause of a join to be evaluated on `service` before `deadline`.

    `around` is what it is joined with: patterns that the join's own endpoint is asked for, or the
    solutions of another clause. `filters` are those that its own solutions must pass.
    """

    join: "Join"
    clause: ServiceClause
    service: Endpoint
    around: Restriction
    filters: tuple[str, ...]
    deadline: float

    async def solutions(self) -> Solutions:
        """Return those that the rest of the query may be joined with, in one of two ways.

        The side that looks more selective is asked first. Few values of the surroundings go along
        with the clause; else all of its solutions are taken. Raises `QueryError` if both are too
        many.
        """
        body = " ".join([self.clause.body, *self.filters])
        first = estimate_selectivity(body, self.join.prologue) > self.around.selectivity
        if (first or not self.around.shared) and (found := await self._whole()):
            return found
        bound = await self._bound() if self.around.shared else None
        if bound is not None and bound.names:
            return await self._restricted(bound)
        if not first and self.around.shared and (found := await self._whole()):
            return found
        raise self._too_many(
            f" and its surroundings more than {MAX_BOUND:,} values to restrict it by"
            if self.around.shared
            else " and nothing beside it restricts it"
        )

    async def _whole(self) -> Solutions | None:
        """Return all solutions; None if there are too many, or the service cut them off."""
        result = await self._asked("")
        if result.truncated or len(result.rows) > self.join.most:
            return None
        return self._received([result])

    async def _bound(self) -> Solutions | None:
        """Return the values of shared variables in the surroundings; None for too many.

        A variable that is not bound everywhere restricts nothing and is left out; a row with a
        blank node of one graph matches nothing in another.
        """
        if known := self.join.solutions_at(self.around.evaluated_position):
            found = known.projected(self.around.shared)
        else:
            variables = " ".join(f"?{name}" for name in self.around.shared)
            datasets = " ".join(parse_query(self.join.text).tree.datasets)
            query = (
                f"{self.join.prologue}SELECT DISTINCT {variables} {datasets}"
                f" WHERE {{ {self.around.text} }}"
            )
            time_left = left(self.deadline)
            result = await self.join.own.select(query, timeout=time_left, limit=MAX_BOUND + 1)
            if result.truncated:
                return None
            found = Solutions(result.variables, result.rows)
        if len(found.rows) > MAX_BOUND:
            return None
        full = [n for at, n in enumerate(found.names) if all(row[at] for row in found.rows)]
        found = found.projected(full)
        rows = (row for row in found.rows if not any(isinstance(t, BlankNode) for t in row))
        return Solutions(found.names, tuple(rows))

    async def _restricted(self, bound: Solutions) -> Solutions:
        """Return the solutions that have one of these values."""
        blocks = list(batches(bound.names, bound.rows, most=BATCH, characters=BATCH_LENGTH))
        inside = self.clause.leading.issuperset(bound.names)
        found: list[SelectResult] = []
        for at in range(0, len(blocks), AT_ONCE):
            some = blocks[at : at + AT_ONCE]
            found += await together([self._asked(block, inside=inside) for block in some])
            cut = next((each.truncated for each in found if each.truncated), None)
            if cut and cut.by == "server":
                raise self._too_many(f" than are sent: it was cut off ({cut.reason})")
            if cut or sum(len(each.rows) for each in found) > self.join.most:
                raise self._too_many(" that match what is beside it")
        return self._received(found)

    async def _asked(self, values: str, *, inside: bool = False) -> SelectResult:
        names = " ".join(f"?{name}" for name in self.clause.names) or "(1 AS ?one)"
        alone = inside or not (values or self.filters)
        body = self.clause.body if alone else f"{{ {self.clause.body} }}"
        where = " ".join(filter(None, (values, body, *self.filters)))
        query = f"{self.join.prologue}SELECT {names} WHERE {{ {where} }}"
        most = self.join.most + 1
        return await self.service.select(query, timeout=left(self.deadline), limit=most)

    def _received(self, results: Sequence[SelectResult]) -> Solutions:
        """Return rows in the order of the clause's names, blank nodes as IRIs.

        Their labels mean something within one reply only, so each reply has IRIs of its own.
        """
        rows: list[Row] = []
        for result in results:
            graph = _mark(self.clause)
            places = {name: at for at, name in enumerate(result.variables)}
            known = [places.get(name) for name in self.clause.names]
            rows += [
                tuple(None if at is None else _lasting(row[at], graph) for at in known)
                for row in result.rows
            ]
        return Solutions(self.clause.names, tuple(rows))

    def _too_many(self, why: str) -> QueryError:
        return QueryError(
            f"SERVICE <{self.clause.target}> gives more than {self.join.most:,} rows{why}: make it"
            " more selective, or bind its variables by patterns next to it"
        )


def left(deadline: float) -> float:
    """Return the seconds until a deadline; `TimedOut` if it has passed."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimedOut("the graphs together took longer than the time allowed")
    return seconds


async def together(work: Sequence[Coroutine[Any, Any, Value]]) -> list[Value]:
    """Do all at once; if one fails, or the caller is cancelled, none goes on."""
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


_REPLIES = count()


def _mark(clause: ServiceClause) -> str:
    """Return a mark that sets the blank nodes of one reply apart from all others."""
    graph = hashlib.sha256(clause.target.encode()).hexdigest()[:12]
    return f"urn:blank:{graph}:{next(_REPLIES)}"


def _lasting(term: Term | None, mark: str) -> Term | None:
    return NamedNode(f"{mark}:{term.value}") if isinstance(term, BlankNode) else term


@dataclass
class Join:
    """One query of which the clauses go to `others`, and the rest to `own`.

    `left_alone` are the addresses that `own` calls itself. Each clause may give `most` rows; more
    are a `QueryError` that says what to do, as a part of them could make the result wrong without a
    sign of it.
    """

    text: str
    own: Endpoint
    others: Mapping[str, Endpoint]
    left_alone: Collection[str]
    most: int
    deadline: float
    _solved: dict[int, EvaluatedClause] = field(default_factory=dict)
    _solutions: dict[int, Solutions] = field(default_factory=dict)

    async def solved(self) -> str:
        """Return the query with the solutions of its clauses in their places."""
        found = [each for each in find_clauses(self.text) if each.target not in self.left_alone]
        waiting = found
        while waiting:
            ranked = sorted(waiting, key=lambda clause: (-self._rank(clause), clause.start))
            ready = [
                clause
                for at, clause in enumerate(ranked)
                if not any(_restrict(better, clause) for better in ranked[:at])
            ]
            done = await together([self._evaluated(clause) for clause in ready])
            for clause, solutions in zip(ready, done, strict=True):
                self._keep(clause, solutions)
            waiting = [clause for clause in waiting if clause not in ready]
        return self._filled(found)

    @cached_property
    def prologue(self) -> str:
        """The declarations of the query."""
        return get_prologue(self.text)

    def solutions_at(self, place: int | None) -> Solutions | None:
        """Return the solutions of the clause that begins at a place, if they are known."""
        return None if place is None else self._solutions.get(place)

    def _rank(self, clause: ServiceClause) -> int:
        around = self._around(clause)
        body = " ".join([clause.body, *find_filters(self.text, clause)])
        return max(
            estimate_selectivity(body, self.prologue), around.selectivity if around.shared else 0
        )

    def _around(self, clause: ServiceClause) -> Restriction:
        return choose_restriction(self.text, clause, self._solved, self.prologue)

    async def _evaluated(self, clause: ServiceClause) -> Solutions | None:
        """Return the solutions of a clause; None if it failed and is SILENT."""
        service = await asyncio.to_thread(service_named, clause.target, self.others)
        # One that may fail leaves the rest of the query time to go on without it.
        silent = (time.monotonic() + self.deadline) / 2
        end = silent if clause.silent else self.deadline
        around, filters = self._around(clause), find_filters(self.text, clause)
        try:
            return await ServiceCall(self, clause, service, around, filters, end).solutions()
        except (ServiceError, QuerySyntaxError):
            if not clause.silent:
                raise
            return None

    def _keep(self, clause: ServiceClause, solutions: Solutions | None) -> None:
        if solutions is None:  # one solution that binds nothing: section 2.3
            self._solved[clause.start] = EvaluatedClause("{}", frozenset())
            return
        self._solutions[clause.start] = solutions
        text = values_of(solutions.names, solutions.rows)
        if (
            clause.is_alternative
        ):  # of a VALUES alone in a UNION, Virtuoso (7.2) loses the solutions
            text = f"{{ SELECT * WHERE {{ {text} }} }}"
        self._solved[clause.start] = EvaluatedClause(text, clause.certain)

    def _filled(self, found: Sequence[ServiceClause]) -> str:
        pieces, at = list[str](), 0
        for clause in found:
            pieces += [self.text[at : clause.start], f" {self._solved[clause.start].text} "]
            at = clause.end
        text = "".join(pieces) + self.text[at:]
        if len(text) > MAX_QUERY_CHARACTERS:
            raise QueryError(
                f"the solutions of the SERVICE clauses have {len(text):,} characters, of which"
                f" {MAX_QUERY_CHARACTERS:,} can be joined: make the clauses more selective"
            )
        return text


def service_named(target: str, others: Mapping[str, Endpoint]) -> Endpoint:
    """Return the endpoint of an address, which may open it; a part of an address is forbidden."""
    if target not in others:
        raise ForbiddenQuery(f"a SERVICE needs its address in full: <{target}> is only a part")
    return others[target]


def _restrict(better: ServiceClause, clause: ServiceClause) -> bool:
    """Return whether the solutions of one clause may restrict another."""
    near = better.start in get_sibling_positions(clause) or clause.start in get_sibling_positions(
        better
    )
    return near and not set(better.names).isdisjoint(clause.names)


def values_of(names: Sequence[str], rows: Sequence[Row]) -> str:
    """Return solutions as a VALUES block, as often as they come; None is UNDEF.

    Solutions without variables, which VALUES is not taken to hold everywhere, are empty groups.
    Raises `QueryError` for a blank node or a triple: a query cannot name them.
    """
    if not names:
        return " UNION ".join("{}" for _ in rows) if rows else "{ FILTER(false) }"
    return _block(names, [_line(row) for row in rows])


def batches(
    names: Sequence[str], rows: Sequence[Row], *, most: int, characters: int
) -> Iterator[str]:
    """Yield VALUES blocks that hold the solutions in turn.

    No block has more than `most` of them, nor more than so many characters unless in a single one.
    """
    lines, size = list[str](), 0
    for line in map(_line, rows):
        if lines and (len(lines) == most or size + len(line) > characters):
            yield _block(names, lines)
            lines, size = [], 0
        lines.append(line)
        size += len(line)
    if lines:
        yield _block(names, lines)


def _block(names: Sequence[str], lines: Sequence[str]) -> str:
    variables = " ".join(f"?{name}" for name in names)
    return f"VALUES ({variables}) {{ {' '.join(lines)} }}"


def _line(row: Row) -> str:
    return f"({' '.join(map(_written, row))})"


def _written(term: Term | None) -> str:
    match term:
        case None:
            return "UNDEF"
        case BlankNode() | Triple():
            raise QueryError(
                f"{str(term)[:80]!r} cannot be named in a query: only IRIs and literals can"
            )
        case _:
            return str(term)
