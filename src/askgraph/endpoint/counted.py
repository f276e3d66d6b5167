"""An endpoint that counts the requests made of another one, for what a run cost."""

from dataclasses import dataclass

from askgraph.endpoint import Endpoint
from askgraph.sparql.results import GraphResult, SelectResult

__all__ = ["Counted"]


@dataclass
class Counted:
    """Passes every query on to `inner`; `requests` is how many there were, failed ones too."""

    inner: Endpoint
    requests: int = 0

    @property
    def address(self) -> str:
        """The address of the endpoint that is asked."""
        return self.inner.address

    async def select(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> SelectResult:
        """Run a SELECT query."""
        self.requests += 1
        return await self.inner.select(query, timeout=timeout, limit=limit)

    async def ask(self, query: str, *, timeout: float | None = None) -> bool:
        """Run an ASK query."""
        self.requests += 1
        return await self.inner.ask(query, timeout=timeout)

    async def construct(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> GraphResult:
        """Run a CONSTRUCT query."""
        self.requests += 1
        return await self.inner.construct(query, timeout=timeout, limit=limit)

    async def describe(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> GraphResult:
        """Run a DESCRIBE query."""
        self.requests += 1
        return await self.inner.describe(query, timeout=timeout, limit=limit)

    async def close(self) -> None:
        """Close the endpoint that is asked."""
        await self.inner.close()
