"""A federation of graphs: SERVICE clauses are joined here, so that no server calls another."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Mapping

from askgraph.endpoint import Endpoint, EndpointWrapper, Kind, RunOnEndpoint
from askgraph.sparql.judge import EndpointRequest, can_call_service
from askgraph.sparql.lexer import remove_comments

__all__ = ["FederatedEndpoint"]


class FederatedEndpoint(EndpointWrapper):
    """Runs queries on `inner`; their SERVICE clauses may use the addresses in `services` only.

    Each clause is evaluated on its own endpoint, restricted by the rest of the query where
    possible, and replaced by its solutions as VALUES: no server calls another. A clause that
    still has more than `max_rows` rows is a `QueryError`, never an incomplete answer. A query
    that consists of one clause only goes to its endpoint unchanged. If the endpoint of a
    SILENT clause fails, the clause is one solution without bindings (SPARQL 1.1 Federated
    Query, section 2.3). Blank nodes of another graph become IRIs `urn:blank:…`, different in
    each reply. A SERVICE with a variable, or within another SERVICE, is rejected.

    Services that `inner` may call itself (`HttpEndpoint(services=…)`) and that `services`
    lacks are left to it. `services` is only read if a query has a SERVICE, and its endpoints
    only if a clause names them, so that it can open them lazily; `on_close` closes them.
    `prefixes` need no declaration in a query with a SERVICE; the default are those of
    `inner`. `timeout` is for all graphs together, in seconds.
    """

    def __init__(
        self,
        inner: Endpoint,
        services: Mapping[str, Endpoint],
        *,
        max_rows: int = 10_000,
        timeout: float = 60.0,
        prefixes: Mapping[str, str] | None = None,
        on_close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        super().__init__(inner)
        self.services = services
        self._max_rows = max_rows
        self.prefixes: Mapping[str, str] = prefixes or getattr(inner, "prefixes", {})
        self._timeout = timeout
        self._on_close = on_close

    async def close(self) -> None:
        """Close the inner endpoint; other endpoints belong to their graphs."""
        await super().close()
        if self._on_close:
            await self._on_close()

    async def _run_request(
        self, request: EndpointRequest, kind: type[Kind], run: RunOnEndpoint[Kind]
    ) -> Kind:
        query, timeout = request.query, request.timeout
        if not can_call_service(query):
            return await run(self._inner, query, timeout)
        deadline = time.monotonic() + (self._timeout if timeout is None else timeout)
        direct_services: Collection[str] = getattr(self._inner, "services", ())
        allowed = {*self.services, *direct_services}
        checked_query = await asyncio.to_thread(request.check, self.prefixes, allowed)
        if not any(service in self.services for service in checked_query.services):
            return await run(self._inner, query, timeout)
        # Every question opens this module; only one with a SERVICE needs the parser of clauses.
        from askgraph.endpoint._joining import FederatedJoin, get_seconds_left, get_service
        from askgraph.sparql.federation.service import get_sole_clause

        text = remove_comments(checked_query.text)
        if single_clause := get_sole_clause(text):
            clause, query = single_clause
            service = await asyncio.to_thread(get_service, clause.target, self.services)
            return await run(service, query, get_seconds_left(deadline))
        direct_services = [target for target in direct_services if target not in self.services]
        join = FederatedJoin(
            text, self._inner, self.services, direct_services, self._max_rows, deadline
        )
        return await run(self._inner, await join.rewrite_query(), get_seconds_left(deadline))
