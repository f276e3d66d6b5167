"""A federation of graphs: SERVICE clauses are joined here, so that no server calls another."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Mapping

from askgraph.endpoint import Delegating, Endpoint, Kind, Run
from askgraph.sparql.judge import EndpointRequest, can_call_service
from askgraph.sparql.lexer import remove_comments

__all__ = ["Federated"]


class Federated(Delegating):
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
        super().__init__(own)
        self.services = others
        self._most = most
        self.prefixes: Mapping[str, str] = prefixes or getattr(own, "prefixes", {})
        self._timeout = timeout
        self._at_close = at_close

    async def close(self) -> None:
        """Close the inner endpoint; the others belong to their graphs."""
        await super().close()
        if self._at_close:
            await self._at_close()

    async def _run(self, asked: EndpointRequest, kind: type[Kind], run: Run[Kind]) -> Kind:
        query, timeout = asked.query, asked.timeout
        if not can_call_service(query):
            return await run(self._inner, query, timeout)
        deadline = time.monotonic() + (self._timeout if timeout is None else timeout)
        callable_there: Collection[str] = getattr(self._inner, "services", ())
        allowed = {*self.services, *callable_there}
        ready = await asyncio.to_thread(asked.check, self.prefixes, allowed)
        if not any(service in self.services for service in ready.services):
            return await run(self._inner, query, timeout)
        return await self._joined(remove_comments(ready.text), callable_there, deadline, run)

    async def _joined(
        self, text: str, left_alone: Collection[str], deadline: float, run: Run[Kind]
    ) -> Kind:
        # Every question opens this module; only one with a SERVICE needs the parser of clauses.
        from askgraph.endpoint._joining import Join, left, service_named
        from askgraph.sparql.federation.service import get_sole_clause

        if sole := get_sole_clause(text):
            clause, asked = sole
            service = await asyncio.to_thread(service_named, clause.target, self.services)
            return await run(service, asked, left(deadline))
        left_alone = [target for target in left_alone if target not in self.services]
        join = Join(text, self._inner, self.services, left_alone, self._most, deadline)
        return await run(self._inner, await join.solved(), left(deadline))
