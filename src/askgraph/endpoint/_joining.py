"""Evaluate the SERVICE clauses of a query, and put their solutions in their places.

What SPARQL 1.1 Federated Query calls the interplay of SERVICE and VALUES (section 2.4): if the
rest of a query has few values for the variables of a clause, these go along; if the clause has
few solutions, these restrict the rest.
"""

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from askgraph.endpoint import Endpoint
from askgraph.endpoint._service_call import ServiceCall, Solutions, together
from askgraph.errors import ForbiddenQuery, QueryError, QuerySyntaxError, ServiceError
from askgraph.sparql.federation.outline import outline
from askgraph.sparql.federation.service import Clause, clauses, prologue
from askgraph.sparql.federation.surroundings import (
    Solved,
    Surroundings,
    anchoring,
    beside,
    filters_on,
    surroundings,
)
from askgraph.sparql.federation.values import values_of
from askgraph.sparql.judge import MAX_LENGTH

__all__ = ["Join", "service_named"]


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
    _solved: dict[int, Solved] = field(default_factory=dict)
    _solutions: dict[int, Solutions] = field(default_factory=dict)

    async def solved(self) -> str:
        """Return the query with the solutions of its clauses in their places."""
        found = [each for each in clauses(self.text) if each.target not in self.left_alone]
        waiting = found
        while waiting:
            ready = self._ready(waiting)
            done = await together([self._evaluated(clause) for clause in ready])
            for clause, solutions in zip(ready, done, strict=True):
                self._keep(clause, solutions)
            waiting = [clause for clause in waiting if clause not in ready]
        return self._filled(found)

    def _ready(self, waiting: Sequence[Clause]) -> list[Clause]:
        """Return the clauses to evaluate now: those that no better one would restrict."""
        ranked = sorted(waiting, key=lambda clause: (-self._rank(clause), clause.start))
        return [
            clause
            for at, clause in enumerate(ranked)
            if not any(_restrict(better, clause) for better in ranked[:at])
        ]

    def _rank(self, clause: Clause) -> int:
        around = self._around(clause)
        body = " ".join([clause.body, *filters_on(self.text, clause)])
        return max(anchoring(body, prologue(self.text)), around.anchoring if around.shared else 0)

    def _around(self, clause: Clause) -> Surroundings:
        return surroundings(self.text, clause, self._solved, prologue(self.text))

    async def _evaluated(self, clause: Clause) -> Solutions | None:
        """Return the solutions of a clause; None if it failed and is SILENT."""
        service = await asyncio.to_thread(service_named, clause.target, self.others)
        around = self._around(clause)
        # One that may fail leaves the rest of the query time to go on without it.
        silent = (time.monotonic() + self.deadline) / 2
        call = ServiceCall(
            clause,
            service,
            self.own,
            around,
            filters_on(self.text, clause),
            prologue(self.text),
            outline(self.text).datasets,
            None if around.solved is None else self._solutions.get(around.solved),
            self.most,
            silent if clause.silent else self.deadline,
        )
        try:
            return await call.solutions()
        except (ServiceError, QuerySyntaxError):
            if not clause.silent:
                raise
            return None

    def _keep(self, clause: Clause, solutions: Solutions | None) -> None:
        if solutions is None:  # one solution that binds nothing: section 2.3
            self._solved[clause.start] = Solved("{}", frozenset())
            return
        self._solutions[clause.start] = solutions
        text = values_of(solutions.names, solutions.rows)
        if clause.alternative:  # of a VALUES alone in a UNION, Virtuoso (7.2) loses the solutions
            text = f"{{ SELECT * WHERE {{ {text} }} }}"
        self._solved[clause.start] = Solved(text, clause.certain)

    def _filled(self, found: Sequence[Clause]) -> str:
        pieces, at = list[str](), 0
        for clause in found:
            pieces += [self.text[at : clause.start], f" {self._solved[clause.start].text} "]
            at = clause.end
        text = "".join(pieces) + self.text[at:]
        if len(text) > MAX_LENGTH:
            raise QueryError(
                f"the solutions of the SERVICE clauses have {len(text):,} characters, of which"
                f" {MAX_LENGTH:,} can be joined: make the clauses more selective"
            )
        return text


def service_named(target: str, others: Mapping[str, Endpoint]) -> Endpoint:
    """Return the endpoint of an address, which may open it; a part of an address is forbidden."""
    if target not in others:
        raise ForbiddenQuery(f"a SERVICE needs its address in full: <{target}> is only a part")
    return others[target]


def _restrict(better: Clause, clause: Clause) -> bool:
    """Whether the solutions of one clause may restrict another."""
    near = better.start in beside(clause) or clause.start in beside(better)
    return near and not set(better.names).isdisjoint(clause.names)
