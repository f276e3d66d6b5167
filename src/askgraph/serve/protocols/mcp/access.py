"""What the caller of a tool may reach: graphs by name, and methods to ask them with."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.metadata import Profile
from askgraph.rdf.prefixes import PrefixMap
from askgraph.serve.identity.principal import Scope
from askgraph.serve.runs.asking import Asked
from askgraph.trace import Step
from askgraph.workspace import Workspace

__all__ = ["CALLER", "Access", "Known", "chosen", "current"]


class Access(Protocol):
    """The graphs and methods of one caller; `query_timeout` is in seconds."""

    @property
    def query_timeout(self) -> float:
        """The seconds that one query may take."""
        ...

    def check(self, scope: Scope) -> None:
        """Raise `NotAllowed` where the caller may not do what needs this scope."""
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

    def steps(self, asked: Asked) -> AsyncGenerator[Step, None]:
        """Ask a question and give its steps as they come; closed early, it is stopped.

        Raises what is wrong with the question or its graphs, as errors of ours.
        """
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
"""Whose message is being answered; the server sets it for each message."""


def current() -> Access:
    """Return what the caller of this message may reach."""
    return CALLER.get()


def chosen(access: Access, graph: str | None) -> str:
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
