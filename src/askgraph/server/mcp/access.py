"""Access to graphs and methods: of a caller's tools, and of the person who started `askgraph mcp`.

Errors of ours become those whose text reaches the agent.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    aclosing,
    asynccontextmanager,
    contextmanager,
)
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Annotated, Protocol

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from askgraph import plugins
from askgraph.errors import AskgraphError, SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.profile import Profile
from askgraph.methods import can_search_indices
from askgraph.methods.tools import Context, ToolLimits
from askgraph.server.auth import Scope
from askgraph.server.runs import LANGUAGE_TAG, RunRequest
from askgraph.sparql.prefixes import PrefixMap, best_label, words_of_local_name
from askgraph.trace import Answer, Outcome, Question, Step
from askgraph.workspace import Workspace
from askgraph.workspace.graphs import build_missing
from askgraph.workspace.models import Models
from askgraph.workspace.next_questions import following
from askgraph.workspace.run_sync import steps_of

GraphName = Annotated[
    str | None, Field(description="The graph's name; may be left out if there is only one.")
]
Language = Annotated[
    str | None,
    Field(
        description="Of labels and questions, as 'de' (BCP 47); default: English.",
        pattern=LANGUAGE_TAG,
    ),
]
FOLLOWING = 3.0
"""Seconds for the questions that may follow an answer."""
_CLASSES = 100
_LIMITS = ToolLimits(rows=30, triples=20, clip=200)


class Access(Protocol):
    """The graphs and methods of one caller; `query_timeout` is in seconds."""

    @property
    def query_timeout(self) -> float:
        """The seconds that one query may take."""
        ...

    def check(self, scope: Scope) -> None:
        """Raise `NotAllowed` if the caller does not have a scope."""
        ...

    def graph_names(self) -> Sequence[str]:
        """Return the names of the graphs that the caller may see."""
        ...

    def method_names(self) -> Sequence[str]:
        """Return the names of the methods that the caller may choose."""
        ...

    async def known(self, name: str) -> "Known":
        """Return what is known of a graph, without opening it."""
        ...

    def graph(self, name: str) -> AbstractAsyncContextManager[KnowledgeGraph]:
        """Lend a graph, its indices in place; it may have to be waited for."""
        ...

    def steps(self, asked: RunRequest) -> AsyncGenerator[Step, None]:
        """Ask a question and give its steps as they come; closed early, it is stopped.

        Raises what is wrong with the question or its graphs, as errors of ours.
        """
        ...

    async def following(self, asked: Question, outcome: Outcome) -> Sequence[str]:
        """Return questions that may follow an outcome, tried for `FOLLOWING` seconds."""
        ...


@dataclass(frozen=True)
class Known:
    """What is known of a graph; a `remote` one lies behind an endpoint."""

    name: str
    profile: Profile
    prefixes: PrefixMap
    remote: bool

    @classmethod
    def read(cls, workspace: Workspace, name: str) -> "Known":
        """Read it from a workspace, which may have to build the graph first."""
        profile, arrays = workspace.known(name)
        return cls(name, profile, PrefixMap(dict(profile.prefixes)), arrays is None)


CALLER: ContextVar[Access] = ContextVar("caller")
"""The access of the caller whose message is being answered; the server sets it for each message."""


def current() -> Access:
    """Return the access of the caller of this message."""
    return CALLER.get()


def find_graph(access: Access, graph: str | None) -> str:
    """Return the graph that a call names, or the only one there is.

    Raises `SetupError`, which names the graphs that there are.
    """
    names = access.graph_names()
    if graph is not None and graph in names:
        return graph
    there = ", ".join(names)
    if not names:
        raise SetupError("there is no graph here yet; add one with: askgraph add NAME SOURCE")
    if graph is not None:
        raise SetupError(f"there is no graph {graph!r}; there are: {there}")
    if len(names) > 1:
        raise SetupError(f"there are several graphs: name one of them as `graph`: {there}")
    return names[0]


@contextmanager
def tool_errors(kind: type[Exception] = ToolError) -> Iterator[None]:
    """Turn errors of ours into those whose text reaches the model; others stay hidden."""
    try:
        yield
    except AskgraphError as error:
        raise kind(str(error)) from error


@asynccontextmanager
async def graph_context(
    graph: str | None, *, text: str = "", language: str | None = None, scope: Scope = "ask"
) -> AsyncIterator[Context]:
    """Lend the graph that a call names, its indices in place; errors of ours reach the agent."""
    access = current()
    with tool_errors():
        access.check(scope)
        async with access.graph(find_graph(access, graph)) as opened:
            limits = replace(_LIMITS, timeout=access.query_timeout)
            yield Context(opened, Question(text, language), limits, guarded=False)


def class_lines(graph: Known | KnowledgeGraph, language: str, *, most: int = _CLASSES) -> list[str]:
    """Return the most frequent classes as lines: `ont:Moon "moon": 55 instances`."""
    return [
        f'{graph.prefixes.shorten(one.iri)} "{label_of(one.names, one.iri, language)}": '
        f"{one.instances:,} instances"
        for one in graph.profile.classes[:most]
    ]


def label_of(names: tuple[tuple[str, str], ...], iri: str, language: str) -> str:
    """Return the label of a class or predicate, else the words of its IRI."""
    pairs = [(text, tag or None) for text, tag in names]
    return best_label(pairs, [language, "en"]) or words_of_local_name(iri)


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
        return [name.replace("_", "-") for name in plugins.list_names("method")]

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
        graphs = [
            await self._opened(name, searched=can_search_indices(method)) for name in asked.graphs
        ]
        steps = steps_of(asked.question, method, graphs, timeout=self._timeout)
        async with aclosing(steps):
            async for step in steps:
                yield step

    async def following(self, asked: Question, outcome: Outcome) -> Sequence[str]:
        """Return questions that may follow an outcome."""
        if not isinstance(outcome, Answer):
            return ()
        method = await asyncio.to_thread(self._workspace.method)
        graph = await self._opened(outcome.graph, searched=can_search_indices(method))
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
