"""The one contract of everything that answers SPARQL queries."""

from typing import Protocol, runtime_checkable

from askgraph.sparql.results import GraphResult, SelectResult

__all__ = ["Endpoint"]


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
        """Give back connections and processes; a second call does nothing."""
        ...
