"""Which graphs a SERVICE may reach, and how: passed on to a server, or joined here."""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TYPE_CHECKING, TypeVar

from pyoxigraph import BlankNode, Triple

from askgraph.endpoint import Endpoint
from askgraph.errors import ForbiddenQuery, QueryError, ServiceError, TimedOut
from askgraph.sparql.lexer import unescaped
from askgraph.sparql.query import admitted, datasets
from askgraph.sparql.results import GraphResult, Row, SelectResult, Term

if TYPE_CHECKING:
    from askgraph.sparql.service import ServiceClause

__all__ = ["FederatedEndpoint"]

Result = TypeVar("Result")

MAX_BOUND = 5_000  # bindings sent along to a service
MAX_ROWS = 10_000  # rows taken from one
BATCH = 200  # bindings in one request


class FederatedEndpoint:
    """Runs queries on `inner`, in which SERVICE may name the keys of `services` and nothing else.

    Where `inner` is itself allowed to call them (`HttpEndpoint(services=…)`), the query goes there
    as it is. Else each clause is evaluated first, restricted to what the rest of the query may
    bind, and its solutions are put in its place as VALUES. Blank nodes of another graph become IRIs
    `urn:blank:…`. A SERVICE to a variable or within a SERVICE is refused.

    `services` is looked at only where a query has a SERVICE, and each of its endpoints only where
    one names it, so it may open them then; `at_close` closes what it opened. `prefixes` need not be
    declared in a query with a SERVICE; they are those of `inner` unless said otherwise.
    """

    def __init__(
        self,
        inner: Endpoint,
        services: Mapping[str, Endpoint],
        *,
        timeout: float = 60.0,
        prefixes: Mapping[str, str] | None = None,
        at_close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._inner = inner
        self.services = services
        self.prefixes: Mapping[str, str] = prefixes or getattr(inner, "prefixes", {})
        self._timeout = timeout
        self._at_close = at_close

    @property
    def address(self) -> str:
        """The address of the endpoint that runs the query itself."""
        return self._inner.address

    async def select(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> SelectResult:
        """Run a SELECT query."""
        return await self._run(
            query, timeout, lambda text, left: self._inner.select(text, timeout=left, limit=limit)
        )

    async def ask(self, query: str, *, timeout: float | None = None) -> bool:
        """Run an ASK query."""
        return await self._run(
            query, timeout, lambda text, left: self._inner.ask(text, timeout=left)
        )

    async def construct(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> GraphResult:
        """Run a CONSTRUCT query."""
        return await self._run(
            query,
            timeout,
            lambda text, left: self._inner.construct(text, timeout=left, limit=limit),
        )

    async def describe(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> GraphResult:
        """Run a DESCRIBE query."""
        return await self._run(
            query, timeout, lambda text, left: self._inner.describe(text, timeout=left, limit=limit)
        )

    async def close(self) -> None:
        """Close the inner endpoint; the others belong to their graphs."""
        await self._inner.close()
        if self._at_close:
            await self._at_close()

    async def _run(
        self,
        query: str,
        timeout: float | None,
        run: Callable[[str, float | None], Awaitable[Result]],
    ) -> Result:
        if "service" not in unescaped(query).lower():
            return await run(query, timeout)
        deadline = time.monotonic() + (self._timeout if timeout is None else timeout)
        ready = await asyncio.to_thread(
            admitted, query, allowed_services=self.services, prefixes=self.prefixes
        )
        within_inner: Collection[str] = getattr(self._inner, "services", ())
        if all(service in within_inner for service in ready.services):
            return await run(query, timeout)
        return await run(await self._joined(ready.text, deadline), _left(deadline))

    async def _joined(self, text: str, deadline: float) -> str:
        """Return a query with the solutions of its SERVICE clauses in their places."""
        from askgraph.sparql.service import first_service

        while clause := first_service(text):
            solutions = await self._solutions(text, clause, deadline)
            text = text[: clause.start] + solutions + text[clause.end :]
        admitted(text)
        return text

    async def _solutions(self, text: str, clause: "ServiceClause", deadline: float) -> str:
        """Return the solutions of a clause as a group of VALUES."""
        try:
            names, rows = await self._evaluated(text, clause, deadline)
        except ServiceError:
            if clause.silent:
                return "{}"  # what SILENT means: one solution that binds nothing
            raise
        lines = [" ".join(_written(term, clause.target) for term in row) for row in rows]
        variables = " ".join(f"?{name}" for name in names)
        return f"{{ VALUES ({variables}) {{ {' '.join(f'({line})' for line in lines)} }} }}"

    async def _evaluated(
        self, text: str, clause: "ServiceClause", deadline: float
    ) -> tuple[tuple[str, ...], list[Row]]:
        from askgraph.sparql.service import prologue

        service = await asyncio.to_thread(self._service, clause.target)
        head = prologue(text)
        rows: dict[Row, None] = {}
        names: tuple[str, ...] = ()
        for values in await self._batches(text, clause, deadline):
            query = f"{head}SELECT DISTINCT * WHERE {{ {values} {clause.body} }}"
            result = await service.select(query, timeout=_left(deadline), limit=MAX_ROWS + 1)
            names = result.variables
            rows |= dict.fromkeys(result.rows)
            if result.truncated and result.truncated.by == "server":
                raise QueryError(
                    f"SERVICE <{clause.target}> was cut off ({result.truncated.reason}): bind its"
                    " variables by patterns next to it, or make it more selective"
                )
            if len(rows) > MAX_ROWS:
                raise QueryError(
                    f"SERVICE <{clause.target}> gives more than {MAX_ROWS:,} rows: bind its"
                    " variables by patterns next to it, or make it more selective"
                )
        return names, list(rows)

    def _service(self, target: str) -> Endpoint:
        if target not in self.services:
            raise ForbiddenQuery(f"a SERVICE needs its address in full: <{target}> is only a part")
        return self.services[target]

    async def _batches(self, text: str, clause: "ServiceClause", deadline: float) -> list[str]:
        """Return the VALUES blocks that restrict a clause to what it is joined with."""
        from askgraph.sparql.service import prologue

        if not clause.shared:
            return [""]
        variables = " ".join(f"?{name}" for name in clause.shared)
        given = " ".join(f"FROM <{graph}> FROM NAMED <{graph}>" for graph in datasets(text))
        query = f"{prologue(text)}SELECT DISTINCT {variables} {given} WHERE {{ {clause.before} }}"
        try:
            bound = await self._inner.select(query, timeout=_left(deadline), limit=MAX_BOUND + 1)
        except QueryError:
            return [""]  # such patterns cannot stand alone: take the service's solutions whole
        if bound.truncated or len(bound.rows) > MAX_BOUND:
            return [""]
        rows = [row for row in bound.rows if not any(isinstance(t, BlankNode) for t in row)]
        lines = [f"({' '.join(_written(term, '') for term in row)})" for row in rows]
        chunks = [lines[at : at + BATCH] for at in range(0, len(lines), BATCH)] or [[]]
        return [f"VALUES ({variables}) {{ {' '.join(chunk)} }}" for chunk in chunks]


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimedOut("the graphs together took longer than the time allowed")
    return left


def _written(term: Term | None, target: str) -> str:
    """Return a term as a VALUES block has it."""
    match term:
        case None:
            return "UNDEF"
        case BlankNode():
            graph = hashlib.sha256(target.encode()).hexdigest()[:12]
            return f"<urn:blank:{graph}:{term.value}>"
        case Triple():
            raise QueryError("a SERVICE gives triples as terms, which cannot be joined")
        case _:
            return str(term)
