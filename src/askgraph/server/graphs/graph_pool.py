"""The open graphs of one process: each open once, lent to many, opened anew when it changes."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from askgraph.endpoint.oxigraph import keep_awake
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import QueryExample
from askgraph.graph.glossary import Glossary
from askgraph.server.problems import Missing
from askgraph.server.settings import ServeSettings
from askgraph.workspace import Workspace
from askgraph.workspace.graphs import build_missing
from askgraph.workspace.settings import GraphSettings

_LOOK = 2.0  # seconds between two looks at whether a graph's files changed


@dataclass(frozen=True)
class Verified:
    """The answers to a graph's questions that people verified; `version` tells two states apart."""

    version: int = 0
    examples: tuple[QueryExample, ...] = ()


@dataclass(eq=False)
class _Kept:
    """An open graph, and the number of its users."""

    graph: KnowledgeGraph
    settings: GraphSettings
    place: tuple[int, int]
    looked: float = field(default_factory=time.monotonic)
    users: int = 0
    gone: bool = False
    searched: bool = False
    verified: int = -1
    taught: tuple[int, int] = (-1, -1)
    learned: KnowledgeGraph | None = None

    def with_verified(self, known: Verified) -> KnowledgeGraph:
        """The graph with the answers that were verified so far, before its other examples."""
        if self.learned is None or self.verified != known.version:
            self.learned = replace(self.graph, examples=(*known.examples, *self.graph.examples))
            self.verified = known.version
        return self.learned

    def teach(self, glossary: Glossary, mark: tuple[int, int]) -> None:
        """Let the graph have another glossary from now on."""
        self.graph = replace(self.graph, glossary=glossary)
        self.taught, self.learned = mark, None


class Shelf:
    """Lends the graphs of a workspace.

    A graph whose files or settings changed is opened anew for those that come next; users of the
    old one keep it to the end. Of more graphs than `open_graphs` those are closed that were asked
    longest ago.
    """

    def __init__(self, workspace: Workspace, settings: ServeSettings) -> None:
        keep_awake(settings.stores)
        self._workspace = workspace
        self._most = settings.open_graphs
        self._open: dict[str, _Kept] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    @property
    def opened(self) -> list[str]:
        """The graphs that are open."""
        return list(self._open)

    @asynccontextmanager
    async def lease(
        self, name: str, verified: Verified, *, searched: bool = False
    ) -> AsyncIterator[KnowledgeGraph]:
        """Lend a graph; with `searched`, its indices are in place.

        Raises `Missing` if it is removed meanwhile, and what opening raises.
        """
        async with self._locks.setdefault(name, asyncio.Lock()):
            settings = self._workspace.graphs().get(name)
            kept = self._open.get(name)
            # It may be closed while it is looked at, as one of too many.
            if kept is not None and (await self._outdated(name, kept, settings) or kept.gone):
                await self.forget([name])
                kept = None
            if kept is None or settings is None:
                graph = await asyncio.to_thread(self._workspace.graph, name)
                settings = self._workspace.graphs().get(name)
                if settings is None:
                    await graph.endpoint.close()
                    raise Missing(f"the graph {name!r} was removed just now")
                kept = self._open[name] = _Kept(graph, settings, self._place(name))
        kept.users += 1
        if self._open.get(name) is kept:
            self._open[name] = self._open.pop(name)  # the last one asked
        try:
            await self.forget(self._too_many())
            if searched and not kept.searched:
                await asyncio.to_thread(build_missing, kept.graph)
                kept.searched = True
            mark = _mark(self._workspace.glossary_file(name))
            if mark != kept.taught:
                kept.teach(await asyncio.to_thread(self._workspace.glossary, name), mark)
            yield kept.with_verified(verified)
        finally:
            kept.users -= 1
            if kept.gone and not kept.users:
                await kept.graph.endpoint.close()

    async def forget(self, names: Sequence[str]) -> None:
        """Let go of graphs, at once or when their last users have ended."""
        for name in names:
            kept = self._open.pop(name, None)
            if kept is not None:
                kept.gone = True
                if not kept.users:
                    await kept.graph.endpoint.close()

    async def close(self) -> None:
        """Close all graphs that nobody works on; the others once their work is done."""
        await self.forget(list(self._open))

    def _too_many(self) -> list[str]:
        """The graphs to close: those that nobody uses, of too many the first."""
        more = max(0, len(self._open) - self._most)
        return [name for name, kept in self._open.items() if not kept.users][:more]

    async def _outdated(self, name: str, kept: _Kept, settings: GraphSettings | None) -> bool:
        if settings != kept.settings or self._place(name) != kept.place:
            return True
        if time.monotonic() - kept.looked < _LOOK:
            return False
        kept.looked = time.monotonic()
        return await asyncio.to_thread(self._workspace.stale, name) is not None

    def _place(self, name: str) -> tuple[int, int]:
        """Return a mark that changes when another data folder takes the place of this one."""
        return _mark(self._workspace.data(name) / "built.json")


def _mark(path: Path) -> tuple[int, int]:
    """Return what changes when another file takes the place of this one."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (status.st_ino, status.st_mtime_ns)
