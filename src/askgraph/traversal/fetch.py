"""Triples by queries within a budget of requests: a few at a time, failures counted."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from askgraph.endpoint import Endpoint
from askgraph.errors import ErrorReply, MalformedReply, ServiceError, TimedOut
from askgraph.sparql.results import Row, Term

__all__ = ["Fetch"]

_AT_ONCE = 4
_SECONDS = 20.0


@dataclass
class Fetch:
    """Requests to an endpoint, and the triples that came.

    Of the `budget`, `reserve` requests are kept for later. `cut` is set where anything was left
    out: by the endpoint, by the budget, or by a request that failed (`failure` is the last one).
    """

    endpoint: Endpoint
    budget: int
    reserve: int = 0
    found: set[Triple] = field(default_factory=set)
    cut: bool = False
    failure: ServiceError | None = None
    _replies: int = 0
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))

    async def triples(self, query: str) -> Sequence[Triple]:
        """Fetch triples: of rows of five terms, the first three and the last three.

        A blank node is the same one within a reply, and another one in every other reply.
        """
        rows = await self.rows(query)
        self._replies += 1
        found = [triple for row in rows for triple in _triples(row, f"r{self._replies}x")]
        self.found.update(found)
        return found

    async def rows(self, query: str) -> Sequence[Row]:
        """Fetch rows; none where the budget is spent or the request failed."""
        if self.budget <= self.reserve:
            self.cut = True
            return ()
        self.budget -= 1
        async with self._slots:
            try:
                result = await self.endpoint.select(query, timeout=_SECONDS)
            except (TimedOut, ErrorReply, MalformedReply) as error:
                self.failure, self.cut = error, True
                return ()
        self.cut = self.cut or result.truncated is not None
        return result.rows


def _triples(row: Row, mark: str) -> Iterator[Triple]:
    for at in range(0, len(row) - 2, 2):
        subject, predicate, value = (_marked(term, mark) for term in row[at : at + 3])
        if not isinstance(subject, NamedNode | BlankNode) or not isinstance(predicate, NamedNode):
            continue
        if isinstance(value, NamedNode | BlankNode | Literal):
            yield Triple(subject, predicate, value)


def _marked(term: Term | None, mark: str) -> Term | None:
    return BlankNode(mark + term.value) if isinstance(term, BlankNode) else term
