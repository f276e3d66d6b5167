"""Access of a caller of the server: the graphs that they may see, asked like any question there."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager

from askgraph.graph import KnowledgeGraph
from askgraph.serve.hub import Hub
from askgraph.serve.identity.principal import Principal, Scope
from askgraph.serve.protocols.mcp.access import Known
from askgraph.serve.runs.asking import Asked, method_names
from askgraph.serve.runs.steps import steps_read
from askgraph.serve.views.runs import AskBody
from askgraph.trace import Step

__all__ = ["HostedAccess"]


class HostedAccess:
    """What one caller may reach; questions are kept in their history."""

    def __init__(self, hub: Hub, caller: Principal) -> None:
        self._hub = hub
        self._caller = caller

    @property
    def query_timeout(self) -> float:
        """The seconds that one query may take."""
        return self._hub.settings.query_timeout

    def check(self, scope: Scope) -> None:
        """Raise `NotAllowed` where the caller may not do what needs this scope."""
        self._caller.check(scope)

    def graph_names(self) -> Sequence[str]:
        """Return the graphs that the caller may see."""
        return self._hub.graphs.names(self._caller)

    def method_names(self) -> Sequence[str]:
        """Return the methods that callers may choose."""
        return method_names(self._hub.settings)

    async def known(self, name: str) -> Known:
        """Return what is known of a graph, without opening it."""
        self._hub.graphs.settings(name, self._caller)
        return await asyncio.to_thread(Known.read, self._hub.workspace, name)

    @asynccontextmanager
    async def graph(self, name: str) -> AsyncIterator[KnowledgeGraph]:
        """Lend one of the server's graphs, to as many callers at once as it may have queries."""
        async with (
            self._hub.graphs.lease(name, self._caller, searched=True) as graph,
            self._hub.queries.turn(name),
        ):
            yield graph

    async def steps(self, asked: Asked) -> AsyncGenerator[Step, None]:
        """Ask through the server's line, within the caller's limits."""
        body = AskBody(
            question=asked.question.text,
            graphs=list(asked.graphs),
            method=asked.method,
            language=asked.question.language,
        )
        run = await self._hub.ask(body, self._caller, before=asked.question.before)
        async with aclosing(steps_read(self._hub, run)) as steps:
            async for step in steps:
                yield step
