"""Endpoints: the contract of everything that answers SPARQL queries.

Contents: the contract, `http` and `oxigraph`, which answer queries, and `cached`, `federated` and
`recorded`, which wrap other endpoints. May import: `sparql` and the modules below it; may use the
network. Start reading at `Endpoint`.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar, runtime_checkable

from askgraph.sparql.judge import EndpointRequest
from askgraph.sparql.results import GraphResult, Result, SelectResult

Kind = TypeVar("Kind", SelectResult, GraphResult, bool)


@runtime_checkable
class Endpoint(Protocol):
    """Answers read-only SPARQL queries; a failure raises an error and is never an empty result.

    `askgraph.sparql.judge` checks every query before it is sent or run.

    Args of the queries:
        timeout: seconds for the whole call, retries included; None for the endpoint's default.
        limit: the maximum number of rows (or triples); a result cut by it is marked `truncated`.

    Raises:
        QueryError: the query is invalid or forbidden.
        ServiceError: the endpoint fails (see `askgraph.errors`).
    """

    @property
    def address(self) -> str:
        """A URL or path that identifies this endpoint in messages; never contains a secret."""

    async def select(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> SelectResult:
        """Run a SELECT query."""

    async def ask(self, query: str, *, timeout: float | None = None) -> bool:
        """Run an ASK query."""

    async def construct(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> GraphResult:
        """Run a CONSTRUCT query."""

    async def describe(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> GraphResult:
        """Run a DESCRIBE query."""

    async def close(self) -> None:
        """Release connections and processes; a second call has no effect."""


async def execute_sparql(
    endpoint: Endpoint,
    form: str,
    query: str,
    *,
    timeout: float | None = None,
    limit: int | None = None,
) -> Result:
    """Run a query of any form, as a SELECT by default; `limit` is for rows or triples.

    Raises:
        QueryError: the query is invalid or forbidden.
        ServiceError: the endpoint fails.
    """
    match form:
        case "ASK":
            return await endpoint.ask(query, timeout=timeout)
        case "CONSTRUCT":
            return await endpoint.construct(query, timeout=timeout, limit=limit)
        case "DESCRIBE":
            return await endpoint.describe(query, timeout=timeout, limit=limit)
        case _:
            return await endpoint.select(query, timeout=timeout, limit=limit)


RunOnEndpoint = Callable[[Endpoint, str, float | None], Awaitable[Kind]]
"""Runs a query on an endpoint within a timeout, in the form of the original request."""


class FormEndpoint(ABC):
    """Base of endpoints that answer queries of all forms in one method."""

    async def select(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> SelectResult:
        """Run a SELECT query."""
        return await self._answer(EndpointRequest("SELECT", query, timeout, limit), SelectResult)

    async def ask(self, query: str, *, timeout: float | None = None) -> bool:
        """Run an ASK query."""
        return await self._answer(EndpointRequest("ASK", query, timeout), bool)

    async def construct(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> GraphResult:
        """Run a CONSTRUCT query."""
        return await self._answer(EndpointRequest("CONSTRUCT", query, timeout, limit), GraphResult)

    async def describe(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> GraphResult:
        """Run a DESCRIBE query."""
        return await self._answer(EndpointRequest("DESCRIBE", query, timeout, limit), GraphResult)

    @abstractmethod
    async def _answer(self, request: EndpointRequest, kind: type[Kind]) -> Kind:
        """Return the result of a request, which is of this kind."""


class EndpointWrapper(FormEndpoint):
    """Base of endpoints that pass queries on to `inner`."""

    def __init__(self, inner: Endpoint) -> None:
        self._inner = inner

    @property
    def address(self) -> str:
        """The address of the inner endpoint."""
        return self._inner.address

    async def close(self) -> None:
        """Close the inner endpoint."""
        await self._inner.close()

    async def _answer(self, request: EndpointRequest, kind: type[Kind]) -> Kind:
        async def run_inner(endpoint: Endpoint, text: str, seconds_left: float | None) -> Kind:
            result = await execute_sparql(
                endpoint, request.form, text, timeout=seconds_left, limit=request.limit
            )
            assert isinstance(result, kind)
            return result

        return await self._run_request(request, kind, run_inner)

    @abstractmethod
    async def _run_request(
        self, request: EndpointRequest, kind: type[Kind], run: RunOnEndpoint[Kind]
    ) -> Kind:
        """Return the result, which is of this kind, of a request that `run` runs."""


class CountingEndpoint(EndpointWrapper):
    """Passes every query on to `inner`; `requests` counts them, including failed ones."""

    def __init__(self, inner: Endpoint) -> None:
        super().__init__(inner)
        self.requests = 0

    async def _run_request(
        self, request: EndpointRequest, kind: type[Kind], run: RunOnEndpoint[Kind]
    ) -> Kind:
        self.requests += 1
        return await run(self._inner, request.query, request.timeout)
