"""An endpoint with predicates that its graph does not have: queries are written out as paths."""

from collections.abc import Mapping

from askgraph.endpoint import Delegating, Endpoint, Kind, Run
from askgraph.sparql.judge import EndpointRequest
from askgraph.sparql.rewrite.virtual import VirtualPaths, expand_virtual_query

__all__ = ["VirtualEndpoint"]


class VirtualEndpoint(Delegating):
    """Asks `inner` each query with its virtual predicates written out as property paths.

    `paths` are those of the virtual predicates by IRI; queries need not declare `prefixes`. A
    negated property set with a virtual predicate is a `QueryError`.
    """

    def __init__(
        self, inner: Endpoint, paths: VirtualPaths, *, prefixes: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(inner)
        self._paths = paths
        self._prefixes = prefixes
        self.services: frozenset[str] = getattr(inner, "services", frozenset())

    async def _run(self, asked: EndpointRequest, kind: type[Kind], run: Run[Kind]) -> Kind:
        text = expand_virtual_query(asked.query, self._paths, prefixes=self._prefixes)
        return await run(self._inner, text, asked.timeout)
