"""Ask a service for the solutions of one SERVICE clause, and no more of them than may matter."""

import asyncio
import hashlib
import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

from pyoxigraph import BlankNode, NamedNode

from askgraph.endpoint import Endpoint
from askgraph.errors import QueryError, TimedOut
from askgraph.sparql.federation.service import Clause
from askgraph.sparql.federation.surroundings import Surroundings, anchoring
from askgraph.sparql.federation.values import batches
from askgraph.sparql.results import Row, SelectResult, Term

__all__ = ["ServiceCall", "Solutions", "left", "together"]

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
    """A clause to be evaluated on `service` before `deadline`.

    `around` is what it is joined with: patterns that `own` is asked for as `asked`, or, if they
    are the solutions of another clause, `known`. `filters` are those that its own solutions must
    pass. It may give `most` rows.
    """

    clause: Clause
    service: Endpoint
    own: Endpoint
    around: Surroundings
    filters: tuple[str, ...]
    prologue: str
    datasets: str
    known: Solutions | None
    most: int
    deadline: float

    async def solutions(self) -> Solutions:
        """Return those that the rest of the query may be joined with, in one of two ways.

        The side that looks more selective is asked first. Few values of the surroundings go along
        with the clause; else all of its solutions are taken. Raises `QueryError` if both are too
        many.
        """
        body = " ".join([self.clause.body, *self.filters])
        first = anchoring(body, self.prologue) > self.around.anchoring
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
        if result.truncated or len(result.rows) > self.most:
            return None
        return self._received([result])

    async def _bound(self) -> Solutions | None:
        """Return the values of shared variables in the surroundings; None for too many.

        A variable that is not bound everywhere restricts nothing and is left out; a row with a
        blank node of one graph matches nothing in another.
        """
        if self.known is not None:
            found = self.known.projected(self.around.shared)
        else:
            variables = " ".join(f"?{name}" for name in self.around.shared)
            query = (
                f"{self.prologue}SELECT DISTINCT {variables} {self.datasets}"
                f" WHERE {{ {self.around.text} }}"
            )
            result = await self.own.select(query, timeout=left(self.deadline), limit=MAX_BOUND + 1)
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
            if cut or sum(len(each.rows) for each in found) > self.most:
                raise self._too_many(" that match what is beside it")
        return self._received(found)

    async def _asked(self, values: str, *, inside: bool = False) -> SelectResult:
        names = " ".join(f"?{name}" for name in self.clause.names) or "(1 AS ?one)"
        body = (
            self.clause.body
            if inside or not (values or self.filters)
            else f"{{ {self.clause.body} }}"
        )
        where = " ".join(piece for piece in (values, body, *self.filters) if piece)
        query = f"{self.prologue}SELECT {names} WHERE {{ {where} }}"
        return await self.service.select(query, timeout=left(self.deadline), limit=self.most + 1)

    def _received(self, results: Sequence[SelectResult]) -> Solutions:
        """Return rows in the order of the clause's names, blank nodes as IRIs.

        Their labels mean something within one reply only, so each reply has IRIs of its own.
        """
        rows: list[Row] = []
        for result in results:
            graph = _mark(self.clause)
            places = [
                result.variables.index(name) if name in result.variables else None
                for name in self.clause.names
            ]
            rows += [
                tuple(None if at is None else _lasting(row[at], graph) for at in places)
                for row in result.rows
            ]
        return Solutions(self.clause.names, tuple(rows))

    def _too_many(self, why: str) -> QueryError:
        return QueryError(
            f"SERVICE <{self.clause.target}> gives more than {self.most:,} rows{why}: make it more"
            " selective, or bind its variables by patterns next to it"
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


def _mark(clause: Clause) -> str:
    """Return what tells the blank nodes of one reply from all others."""
    graph = hashlib.sha256(clause.target.encode()).hexdigest()[:12]
    return f"urn:blank:{graph}:{next(_REPLIES)}"


def _lasting(term: Term | None, mark: str) -> Term | None:
    return NamedNode(f"{mark}:{term.value}") if isinstance(term, BlankNode) else term
