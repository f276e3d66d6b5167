"""Access of a caller of the server: the graphs that they may see, asked like any question there."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing

from askgraph.graph import KnowledgeGraph
from askgraph.serve.accounts.principal import Principal, Scope
from askgraph.serve.asking import Asked, method_names
from askgraph.serve.hub import Hub
from askgraph.serve.run_steps import steps_read
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

    def graph(
        self, name: str, *, searched: bool = False
    ) -> AbstractAsyncContextManager[KnowledgeGraph]:
        """Lend one of the server's graphs."""
        return self._hub.graphs.lease(name, self._caller, searched=searched)

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
