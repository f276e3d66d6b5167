"""The graphs of a server: opened once, lent to all questions, opened anew when they change."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, Field

from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.metadata import Profile
from askgraph.metadata.descriptions import Description
from askgraph.serve.identity.principal import Principal
from askgraph.serve.problems import Missing
from askgraph.serve.store import Store
from askgraph.workspace import Workspace
from askgraph.workspace.graphs import build_missing, kept_descriptions, only_services
from askgraph.workspace.settings import GraphSettings

_LOOK = 2.0  # seconds between two looks at whether a graph's files changed
_FILES = 20  # names of files that are told
_LANGUAGES = 20
Stamp = tuple[int, ...]


class GraphSummary(BaseModel):
    """A graph in a list."""

    name: str = Field(description="Its name here, as addresses have it.")
    title: str = Field(description="What its publisher calls it, else its name.")
    description: str
    triples: int | None = Field(description="Null if it has not been read yet.")
    classes: int | None
    predicates: int | None
    languages: list[str] = Field(description="Tags of the languages of its texts, most first.")
    remote: bool = Field(description="Whether its triples lie behind an endpoint.")
    source: str = Field(description="The endpoint's address, or the names of its files.")
    license: str
    addable_by_web: bool = Field(description="Whether it was added over the web.")


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
    learned: KnowledgeGraph | None = None


class OpenGraphs:
    """Lends the graphs of a workspace, each open once, with the store's verified answers.

    A graph whose files or settings changed is opened anew for those that come next; users of the
    old one keep it to the end.
    """

    def __init__(self, workspace: Workspace, store: Store) -> None:
        self._workspace = workspace
        self._store = store
        self._open: dict[str, _Kept] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    @property
    def opened(self) -> list[str]:
        """The graphs that are open."""
        return list(self._open)

    def names(self, caller: Principal) -> list[str]:
        """Return the graphs that a caller may see, in the order of the workspace."""
        return [name for name in self._workspace.graphs() if caller.sees(name)]

    def settings(self, name: str, caller: Principal) -> GraphSettings:
        """Return the settings of a graph; `Missing` if there is none that the caller may see."""
        graphs = self._workspace.graphs()
        if name in graphs and caller.sees(name):
            return graphs[name]
        there = ", ".join(self.names(caller)) or "none"
        raise Missing(f"there is no graph {name!r}; there are: {there}")

    def chosen(self, wanted: Sequence[str] | None, caller: Principal) -> tuple[str, ...]:
        """Return the graphs that a question is asked of: those wanted, or the only one there is.

        Raises `Missing` and `SetupError`.
        """
        there = self.names(caller)
        if wanted:
            for name in wanted:
                self.settings(name, caller)
            return tuple(dict.fromkeys(wanted))
        if len(there) == 1:
            return tuple(there)
        if there:
            raise SetupError(f"which graph? There are {', '.join(there)}: name one in 'graphs'")
        raise SetupError("there is no graph to ask yet: add one")

    @asynccontextmanager
    async def lease(
        self, name: str, caller: Principal, *, searched: bool = False
    ) -> AsyncIterator[KnowledgeGraph]:
        """Lend a graph; with `searched`, its indices are in place.

        Within it, a SERVICE reaches only graphs that the caller may see. Raises `Missing`, and
        what opening raises.
        """
        self.settings(name, caller)
        kept = await self._kept(name)
        kept.users += 1
        try:
            if searched and not kept.searched:
                await asyncio.to_thread(build_missing, kept.graph)
                kept.searched = True
            with only_services(None if caller.graphs is None else set(self.names(caller))):
                yield await self._learned(name, kept)
        finally:
            kept.users -= 1
            if kept.gone and not kept.users:
                await kept.graph.endpoint.close()

    @asynccontextmanager
    async def leases(
        self, names: Sequence[str], caller: Principal, *, searched: bool = False
    ) -> AsyncIterator[tuple[KnowledgeGraph, ...]]:
        """Lend several graphs at once; see `lease`."""
        async with AsyncExitStack() as stack:
            yield tuple(
                [
                    await stack.enter_async_context(self.lease(name, caller, searched=searched))
                    for name in dict.fromkeys(names)
                ]
            )

    async def forget(self, name: str) -> None:
        """Let go of a graph that was removed or replaced."""
        kept = self._open.pop(name, None)
        if kept is not None:
            await self._release(kept)

    async def close(self) -> None:
        """Close all graphs that nobody works on; the others once their work is done."""
        for name in list(self._open):
            await self.forget(name)

    async def _kept(self, name: str) -> _Kept:
        async with self._locks.setdefault(name, asyncio.Lock()):
            settings = self._workspace.graphs().get(name)
            kept = self._open.get(name)
            if kept is not None and await self._outdated(name, kept, settings):
                await self.forget(name)
                kept = None
            if kept is None or settings is None:
                graph = await asyncio.to_thread(self._workspace.graph, name)
                settings = self._workspace.graphs().get(name)
                if settings is None:
                    await graph.endpoint.close()
                    raise Missing(f"the graph {name!r} was removed just now")
                kept = self._open[name] = _Kept(graph, settings, self._place(name))
            return kept

    async def _outdated(self, name: str, kept: _Kept, settings: GraphSettings | None) -> bool:
        if settings != kept.settings or self._place(name) != kept.place:
            return True
        if time.monotonic() - kept.looked < _LOOK:
            return False
        kept.looked = time.monotonic()
        return await asyncio.to_thread(self._workspace.stale, name) is not None

    def _place(self, name: str) -> tuple[int, int]:
        """Return a mark that changes when another data folder takes the place of this one."""
        try:
            status = (self._workspace.data(name) / "built.json").stat()
        except FileNotFoundError:
            return (0, 0)
        return (status.st_ino, status.st_mtime_ns)

    async def _learned(self, name: str, kept: _Kept) -> KnowledgeGraph:
        """The graph with the answers that were verified so far, before its other examples."""
        version = await self._store.verified_version(name)
        if kept.learned is None or kept.verified != version:
            verified = [one.example for one in await self._store.verified(name)]
            kept.learned = replace(kept.graph, examples=(*verified, *kept.graph.examples))
            kept.verified = version
        return kept.learned

    async def _release(self, kept: _Kept) -> None:
        kept.gone = True
        if not kept.users:
            await kept.graph.endpoint.close()


class Summaries:
    """Reads the summaries of a workspace's graphs; safe to be called from several threads."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._known: dict[str, tuple[Stamp, GraphSettings, GraphSummary]] = {}

    def of(self, name: str, settings: GraphSettings) -> GraphSummary:
        """Return the summary of a graph, reading its files anew if they changed."""
        stamp = self._stamp(name)
        known = self._known.get(name)
        if known is not None and known[:2] == (stamp, settings):
            return known[2]
        summary = self._read(name, settings)
        self._known[name] = (stamp, settings, summary)
        return summary

    def _stamp(self, name: str) -> Stamp:
        """Return the times of the files that a summary is read from."""
        paths = (self._workspace.data(name) / "profile.json", self._workspace.description(name))
        return tuple(_changed(path) for path in paths)

    def _read(self, name: str, settings: GraphSettings) -> GraphSummary:
        profile = self._profile(name)
        told = self._description(name)
        return GraphSummary(
            name=name,
            title=told.name or name,
            description=told.description,
            triples=profile.triples if profile else None,
            classes=len(profile.classes) if profile else None,
            predicates=len(profile.predicates) if profile else None,
            languages=[tag for tag, _ in profile.languages[:_LANGUAGES] if tag] if profile else [],
            remote=settings.url is not None,
            source=_source(settings),
            license=told.license,
            addable_by_web=bool(settings.added_by),
        )

    def _profile(self, name: str) -> Profile | None:
        """The profile; None if there is none yet, or none that this version can read."""
        try:
            return self._workspace.profile(name)
        except SetupError:
            return None

    def _description(self, name: str) -> Description:
        try:
            told = kept_descriptions(self._workspace.description(name))
        except SetupError:
            told = ()
        return next(iter(told), Description(""))


def _source(settings: GraphSettings) -> str:
    """The source of a graph, without its folders, keys and passwords."""
    if settings.url is None:
        return ", ".join(Path(source).name for source in settings.sources[:_FILES])
    parts = urlsplit(settings.url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
