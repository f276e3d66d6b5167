"""An endpoint with predicates that its graph lacks: queries are rewritten with their paths."""

from collections.abc import Mapping

from askgraph.endpoint import Endpoint, EndpointWrapper, Kind, RunOnEndpoint
from askgraph.sparql.judge import EndpointRequest
from askgraph.sparql.rewrite.virtual import VirtualPaths, expand_virtual_query

__all__ = ["VirtualEndpoint"]


class VirtualEndpoint(EndpointWrapper):
    """Replaces virtual predicates by property paths and passes the query to `inner`.

    `paths` are the property paths by the IRI of the virtual predicate; queries need not declare
    `prefixes`. A negated property set with a virtual predicate is a `QueryError`.
    """

    def __init__(
        self, inner: Endpoint, paths: VirtualPaths, *, prefixes: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(inner)
        self._paths = paths
        self._prefixes = prefixes
        self.services: frozenset[str] = getattr(inner, "services", frozenset())

    async def _run_request(
        self, request: EndpointRequest, kind: type[Kind], run: RunOnEndpoint[Kind]
    ) -> Kind:
        text = expand_virtual_query(request.query, self._paths, prefixes=self._prefixes)
        return await run(self._inner, text, request.timeout)
