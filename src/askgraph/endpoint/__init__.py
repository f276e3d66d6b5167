"""Endpoints: the one contract of all that answer SPARQL queries.

What lives here: the contract, `http` and `oxigraph`, which answer, and `cached`, `federated` and
`recorded`, which wrap others. May import: `sparql` and the modules below it; may use the network.
Start reading at `Endpoint`.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar, runtime_checkable

from askgraph.sparql.judge import EndpointRequest
from askgraph.sparql.results import GraphResult, Result, SelectResult

Kind = TypeVar("Kind", SelectResult, GraphResult, bool)


@runtime_checkable
class Endpoint(Protocol):
    """Answers read-only SPARQL queries; raises if it cannot, never returns empty for a failure.

    Every query is checked by `askgraph.sparql.judge.checked` before anything is sent or run.
    `timeout` is in seconds and covers the whole call, retries included; `None` takes the endpoint's
    default. `limit` caps the rows (or triples) taken; a result cut by it says so in `truncated`.

    Raises `QueryError` (syntax, forbidden) or `ServiceError` (see `askgraph.errors`).
    """

    @property
    def address(self) -> str:
        """A URL or path that names this endpoint in messages; never holds a secret."""
        ...

    async def select(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> SelectResult:
        """Run a SELECT query."""
        ...

    async def ask(self, query: str, *, timeout: float | None = None) -> bool:
        """Run an ASK query."""
        ...

    async def construct(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> GraphResult:
        """Run a CONSTRUCT query."""
        ...

    async def describe(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> GraphResult:
        """Run a DESCRIBE query."""
        ...

    async def close(self) -> None:
        """Release connections and processes; a second call does nothing."""
        ...


async def run(
    endpoint: Endpoint,
    form: str,
    query: str,
    *,
    timeout: float | None = None,
    limit: int | None = None,
) -> Result:
    """Run a query of any form, as a SELECT if it has none; `limit` is of rows or triples.

    Raises `QueryError` and `ServiceError` as the endpoint does.
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


Run = Callable[[Endpoint, str, float | None], Awaitable[Kind]]
"""Runs a text on an endpoint within a timeout, in the form in which it was asked."""


class ByForm(ABC):
    """An endpoint whose queries of all forms come to one method."""

    async def select(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> SelectResult:
        """Run a SELECT query."""
        return await self._of_form(EndpointRequest("SELECT", query, timeout, limit), SelectResult)

    async def ask(self, query: str, *, timeout: float | None = None) -> bool:
        """Run an ASK query."""
        return await self._of_form(EndpointRequest("ASK", query, timeout), bool)

    async def construct(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> GraphResult:
        """Run a CONSTRUCT query."""
        return await self._of_form(EndpointRequest("CONSTRUCT", query, timeout, limit), GraphResult)

    async def describe(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> GraphResult:
        """Run a DESCRIBE query."""
        return await self._of_form(EndpointRequest("DESCRIBE", query, timeout, limit), GraphResult)

    @abstractmethod
    async def _of_form(self, asked: EndpointRequest, kind: type[Kind]) -> Kind:
        """Return the result of a query, which is of this kind."""


class Delegating(ByForm):
    """An endpoint over `inner`, to which queries are handed on."""

    def __init__(self, inner: Endpoint) -> None:
        self._inner = inner

    @property
    def address(self) -> str:
        """The address of the endpoint that is asked."""
        return self._inner.address

    async def close(self) -> None:
        """Close the endpoint that is asked."""
        await self._inner.close()

    async def _of_form(self, asked: EndpointRequest, kind: type[Kind]) -> Kind:
        async def handed_on(to: Endpoint, text: str, left: float | None) -> Kind:
            result = await run(to, asked.form, text, timeout=left, limit=asked.limit)
            assert isinstance(result, kind)
            return result

        return await self._run(asked, kind, handed_on)

    @abstractmethod
    async def _run(self, asked: EndpointRequest, kind: type[Kind], run: Run[Kind]) -> Kind:
        """Return the result, which is of this kind, of a query that `run` runs."""


class Counted(Delegating):
    """Passes every query on to `inner`; `requests` counts them, failed ones too."""

    def __init__(self, inner: Endpoint) -> None:
        super().__init__(inner)
        self.requests = 0

    async def _run(self, asked: EndpointRequest, kind: type[Kind], run: Run[Kind]) -> Kind:
        self.requests += 1
        return await run(self._inner, asked.query, asked.timeout)
