"""A federation of graphs: SERVICE clauses are joined here, so that no server calls another."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TypeVar

from askgraph.endpoint import Endpoint
from askgraph.errors import QueryError
from askgraph.sparql.judge import Form, admitted
from askgraph.sparql.lexer import unescaped, without_comments
from askgraph.sparql.results import GraphResult, SelectResult

__all__ = ["Federated"]

Result = TypeVar("Result")


class Federated:
    """Runs queries on `own`, in which SERVICE may name the keys of `others` and nothing else.

    Each clause is evaluated on its own endpoint, if it can be restricted to what the rest of the
    query may bind, and its solutions are put in its place as VALUES: no server reaches another. One
    that gives more than `most` rows even so is a `QueryError`, never a part of the answer. A query
    that is one clause and nothing else goes to its endpoint as it is. SILENT stands for one
    solution that binds nothing if the endpoint fails (SPARQL 1.1 Federated Query, section 2.3).
    Blank nodes of another graph become IRIs `urn:blank:…`, different in each reply. A SERVICE to a
    variable or within a SERVICE is refused.

    Only what `own` itself may call and `others` lacks (`HttpEndpoint(services=…)`) is left to it.
    `others` is looked at only if a query has a SERVICE, and each of its endpoints only if
    one names it, so it may open them then; `at_close` closes what it opened. `prefixes` need not be
    declared in a query with a SERVICE; they are those of `own` unless said otherwise. `timeout` is
    for all graphs together, in seconds.
    """

    def __init__(
        self,
        own: Endpoint,
        others: Mapping[str, Endpoint],
        *,
        most: int = 10_000,
        timeout: float = 60.0,
        prefixes: Mapping[str, str] | None = None,
        at_close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._own = own
        self.services = others
        self._most = most
        self.prefixes: Mapping[str, str] = prefixes or getattr(own, "prefixes", {})
        self._timeout = timeout
        self._at_close = at_close

    @property
    def address(self) -> str:
        """The address of the endpoint that runs the query itself."""
        return self._own.address

    async def select(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> SelectResult:
        """Run a SELECT query."""
        return await self._run(
            query,
            "SELECT",
            timeout,
            lambda on, text, left: on.select(text, timeout=left, limit=limit),
        )

    async def ask(self, query: str, *, timeout: float | None = None) -> bool:
        """Run an ASK query."""
        return await self._run(
            query, "ASK", timeout, lambda on, text, left: on.ask(text, timeout=left)
        )

    async def construct(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> GraphResult:
        """Run a CONSTRUCT query."""
        return await self._run(
            query,
            "CONSTRUCT",
            timeout,
            lambda on, text, left: on.construct(text, timeout=left, limit=limit),
        )

    async def describe(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> GraphResult:
        """Run a DESCRIBE query."""
        return await self._run(
            query,
            "DESCRIBE",
            timeout,
            lambda on, text, left: on.describe(text, timeout=left, limit=limit),
        )

    async def close(self) -> None:
        """Close the inner endpoint; the others belong to their graphs."""
        await self._own.close()
        if self._at_close:
            await self._at_close()

    async def _run(
        self,
        query: str,
        form: Form,
        timeout: float | None,
        run: Callable[[Endpoint, str, float | None], Awaitable[Result]],
    ) -> Result:
        if "service" not in unescaped(query).lower():
            return await run(self._own, query, timeout)
        deadline = time.monotonic() + (self._timeout if timeout is None else timeout)
        callable_there: Collection[str] = getattr(self._own, "services", ())
        allowed = {*self.services, *callable_there}
        ready = await asyncio.to_thread(
            admitted, query, allowed_services=allowed, prefixes=self.prefixes
        )
        if ready.form != form:
            raise QueryError(f"{form} was asked for, but the query is {ready.form}")
        if not any(service in self.services for service in ready.services):
            return await run(self._own, query, timeout)
        return await self._joined(without_comments(ready.text), callable_there, deadline, run)

    async def _joined(
        self,
        text: str,
        left_alone: Collection[str],
        deadline: float,
        run: Callable[[Endpoint, str, float | None], Awaitable[Result]],
    ) -> Result:
        from askgraph.endpoint._joining import Join, service_named
        from askgraph.endpoint._service_call import left
        from askgraph.sparql.federation.service import sole_clause

        if sole := sole_clause(text):
            clause, asked = sole
            service = await asyncio.to_thread(service_named, clause.target, self.services)
            return await run(service, asked, left(deadline))
        left_alone = [target for target in left_alone if target not in self.services]
        join = Join(text, self._own, self.services, left_alone, self._most, deadline)
        return await run(self._own, await join.solved(), left(deadline))
