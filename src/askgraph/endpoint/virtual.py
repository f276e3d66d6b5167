"""An endpoint with predicates that its graph does not have: queries are written out as paths."""

from collections.abc import Mapping

from askgraph.endpoint import Endpoint
from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.sparql.rewrite.virtual import VirtualPaths, written_out

__all__ = ["VirtualEndpoint"]


class VirtualEndpoint:
    """Asks `inner` each query with its virtual predicates written out as property paths.

    `paths` are those of the virtual predicates by IRI; queries need not declare `prefixes`. A
    negated property set with a virtual predicate is a `QueryError`.
    """

    def __init__(
        self, inner: Endpoint, paths: VirtualPaths, *, prefixes: Mapping[str, str] | None = None
    ) -> None:
        self._inner = inner
        self._paths = paths
        self._prefixes = prefixes

    @property
    def address(self) -> str:
        """The address of the endpoint that is asked."""
        return self._inner.address

    async def select(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> SelectResult:
        """Run a SELECT query."""
        return await self._inner.select(self._written(query), timeout=timeout, limit=limit)

    async def ask(self, query: str, *, timeout: float | None = None) -> bool:
        """Run an ASK query."""
        return await self._inner.ask(self._written(query), timeout=timeout)

    async def construct(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> GraphResult:
        """Run a CONSTRUCT query."""
        return await self._inner.construct(self._written(query), timeout=timeout, limit=limit)

    async def describe(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> GraphResult:
        """Run a DESCRIBE query."""
        return await self._inner.describe(self._written(query), timeout=timeout, limit=limit)

    async def close(self) -> None:
        """Close the endpoint that is asked."""
        await self._inner.close()

    def _written(self, query: str) -> str:
        return written_out(query, self._paths, prefixes=self._prefixes)
