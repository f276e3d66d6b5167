"""MCP on standard input and output: for the agent that started this process, and nobody else."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import Any

from mcp.server.context import ServerRequestContext

from askgraph import plugins
from askgraph.graph import KnowledgeGraph
from askgraph.methods import searches
from askgraph.server.auth.principal import Scope
from askgraph.server.mcp import graph_server
from askgraph.server.mcp.access import FOLLOWING, Access, Known
from askgraph.server.runs.request import RunRequest
from askgraph.trace import Answer, Outcome, Question, Step
from askgraph.workspace import Workspace
from askgraph.workspace.graphs import build_missing
from askgraph.workspace.models import Models
from askgraph.workspace.next_questions import following
from askgraph.workspace.outcome import steps_of


class LocalAccess:
    """The graphs of a workspace, or some of them; close it after use.

    `timeout` and `query_timeout` are the seconds that a question and a query may take.
    """

    def __init__(
        self,
        workspace: Workspace,
        graphs: Sequence[str] = (),
        *,
        timeout: float = 120.0,
        query_timeout: float = 30.0,
    ) -> None:
        self._workspace = workspace
        self._wanted = tuple(graphs)
        self._models = Models(workspace.folder)
        self._open: dict[str, KnowledgeGraph] = {}
        self._opening = asyncio.Lock()
        self._timeout = timeout
        self.query_timeout = query_timeout

    def check(self, scope: Scope) -> None:
        """Allow everything: the graphs belong to the person who started the server."""

    def graph_names(self) -> Sequence[str]:
        """Return the graphs of the workspace, or those that were named at the start."""
        return self._wanted or tuple(self._workspace.graphs())

    def method_names(self) -> Sequence[str]:
        """Return all methods."""
        return [name.replace("_", "-") for name in plugins.names("method")]

    async def known(self, name: str) -> Known:
        """Return what is known of a graph, without opening it."""
        return await asyncio.to_thread(Known.read, self._workspace, name)

    @asynccontextmanager
    async def graph(self, name: str) -> AsyncIterator[KnowledgeGraph]:
        """Open a graph, or give the one that is open; it stays open until the end."""
        yield await self._opened(name, searched=True)

    async def steps(self, asked: RunRequest) -> AsyncGenerator[Step, None]:
        """Ask a question in this process."""
        method = asked.made(self._workspace, self._models)
        graphs = [await self._opened(name, searched=searches(method)) for name in asked.graphs]
        steps = steps_of(asked.question, method, graphs, timeout=self._timeout)
        async with aclosing(steps):
            async for step in steps:
                yield step

    async def following(self, asked: Question, outcome: Outcome) -> Sequence[str]:
        """Return questions that may follow an outcome."""
        if not isinstance(outcome, Answer):
            return ()
        method = await asyncio.to_thread(self._workspace.method)
        graph = await self._opened(outcome.graph, searched=searches(method))
        return await following(asked, outcome, method, graph, seconds=FOLLOWING)

    async def aclose(self) -> None:
        """Close the graphs and language models that were used."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._models.close)
            for graph in self._open.values():
                stack.push_async_callback(graph.endpoint.close)

    async def _opened(self, name: str, *, searched: bool) -> KnowledgeGraph:
        async with self._opening:
            if name not in self._open:
                self._open[name] = await asyncio.to_thread(self._workspace.graph, name)
            if searched:
                await asyncio.to_thread(build_missing, self._open[name])
            return self._open[name]


async def run(
    workspace: Workspace, graphs: Sequence[str], *, timeout: float, query_timeout: float
) -> None:
    """Answer until the input ends; the graphs of the workspace, or those that are named."""
    access = LocalAccess(workspace, graphs, timeout=timeout, query_timeout=query_timeout)
    async with aclosing(access):

        async def same(request: ServerRequestContext[Any, Any]) -> Access:
            return access

        await graph_server(same).run_stdio_async()
