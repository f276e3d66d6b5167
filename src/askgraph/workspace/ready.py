"""The graphs that questions are asked of: open, one of each name, with the indices in place."""

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TypeVar

from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.methods import Method, searches
from askgraph.trace import Outcome, attempt_of
from askgraph.workspace import Progress, silent
from askgraph.workspace.indices import GraphIndices
from askgraph.workspace.running import result_of

__all__ = ["Ready", "build_missing", "ready_graphs"]

Source = TypeVar("Source")


@dataclass(frozen=True)
class Ready:
    """Graphs to ask, and those among them that were opened for it; close it after use."""

    graphs: tuple[KnowledgeGraph, ...]
    opened: tuple[KnowledgeGraph, ...]

    def of(self, outcome: Outcome) -> KnowledgeGraph:
        """Return the graph that an outcome is of; the first one where it is of none."""
        attempt = attempt_of(outcome)
        named = (one for one in self.graphs if attempt and one.name == attempt.graph)
        return next(named, self.graphs[0])

    async def close(self) -> None:
        """Close the endpoints of the graphs that were opened; the others stay open."""
        await _close(self.opened)


def ready_graphs(
    wanted: Sequence[Source | KnowledgeGraph],
    find: Callable[[Source], KnowledgeGraph],
    method: Method,
    *,
    progress: Progress = silent,
) -> Ready:
    """Open graphs with `find`, and build the indices that the method needs and they lack.

    A graph that is open already is taken as it is. Raises `SetupError` for no graph and for two of
    one name, and what opening and building raise; then what was opened is closed.
    """
    if not wanted:
        raise SetupError("no graph was given: name at least one")
    graphs: list[KnowledgeGraph] = []
    opened: list[KnowledgeGraph] = []
    try:
        for one in wanted:
            graph = one if isinstance(one, KnowledgeGraph) else find(one)
            if graph is not one:
                opened.append(graph)
            _check_name(graph, graphs)
            graphs.append(graph)
        if searches(method):
            for graph in graphs:
                build_missing(graph, progress=progress)
    except BaseException:
        result_of(_close(opened))
        raise
    return Ready(tuple(graphs), tuple(opened))


def build_missing(graph: KnowledgeGraph, *, progress: Progress = silent) -> None:
    """Open the indices of a graph of a workspace; build those that cannot be opened.

    Raises `SetupError` and `ServiceError` as building does.
    """
    if isinstance(graph.indices, GraphIndices):
        graph.indices.prepare(progress)


def _check_name(graph: KnowledgeGraph, others: Sequence[KnowledgeGraph]) -> None:
    if any(graph.name == other.name for other in others):
        raise SetupError(
            f"two of the graphs are called {graph.name!r}, and could not be told apart: name each "
            "once, and give others a name of their own with: askgraph add NAME SOURCE"
        )


async def _close(graphs: Sequence[KnowledgeGraph]) -> None:
    async with AsyncExitStack() as stack:
        for graph in graphs:
            stack.push_async_callback(graph.endpoint.close)
