"""The open graphs of a process, lent to many, as callers may see them; and summaries of graphs."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, Field

from askgraph.answers.example_questions import in_a_sentence
from askgraph.answers.verbalize.phrases import phrases_in
from askgraph.endpoint.oxigraph import keep_awake
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.descriptions import DatasetDescription
from askgraph.graph.examples import QueryExample
from askgraph.graph.glossary import Glossary
from askgraph.server.auth import Principal
from askgraph.server.problems import Missing
from askgraph.server.settings import ServeSettings
from askgraph.server.store import Store
from askgraph.sparql.prefixes import best_label
from askgraph.workspace import Workspace
from askgraph.workspace.graphs import build_missing, kept_descriptions, only_services
from askgraph.workspace.settings import GraphSettings

_LOOK = 2.0  # seconds between two looks at whether a graph's files changed


@dataclass(frozen=True)
class VerifiedAnswers:
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

    def with_verified(self, known: VerifiedAnswers) -> KnowledgeGraph:
        """The graph with the answers that were verified so far, before its other examples."""
        if self.learned is None or self.verified != known.version:
            self.learned = replace(self.graph, examples=(*known.examples, *self.graph.examples))
            self.verified = known.version
        return self.learned

    def teach(self, glossary: Glossary, mark: tuple[int, int]) -> None:
        """Let the graph have another glossary from now on."""
        self.graph = replace(self.graph, glossary=glossary or None)
        self.taught, self.learned = mark, None


class GraphPool:
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
        self, name: str, verified: VerifiedAnswers, *, searched: bool = False
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
            # Of too many, close those that nobody uses, the one asked longest ago first.
            unused = [name for name, one in self._open.items() if not one.users]
            await self.forget(unused[: max(0, len(self._open) - self._most)])
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
    except OSError:
        return (0, 0)
    return (status.st_ino, status.st_mtime_ns)


_FILES = 20  # names of files that are told
_LANGUAGES = 20
Stamp = tuple[tuple[int, int], ...]


class GraphSummary(BaseModel):
    """A graph in a list."""

    name: str = Field(description="Its name here, as addresses have it.")
    title: str = Field(description="What its publisher calls it, else its name.")
    description: str = Field(
        description="Its publisher's words, or its own; else its largest classes in a sentence."
    )
    triples: int | None = Field(description="Null if it has not been read yet.")
    classes: int | None
    predicates: int | None
    languages: list[str] = Field(description="Tags of the languages of its texts, most first.")
    remote: bool = Field(description="Whether its triples lie behind an endpoint.")
    source: str = Field(description="The endpoint's address, or the names of its files.")
    license: str
    addable_by_web: bool = Field(description="Whether it was added over the web.")


class OpenGraphs:
    """Lends the graphs of a workspace to callers, with the store's verified answers."""

    def __init__(
        self,
        workspace: Workspace,
        store: Store,
        pool: GraphPool,
        forgotten: Callable[[str], Awaitable[None]],
        *,
        first: Sequence[str] = (),
    ) -> None:
        self._workspace = workspace
        self._store = store
        self.pool = pool
        self._forgotten = forgotten
        self._first = {name: at for at, name in enumerate(first)}
        self._verified: dict[str, VerifiedAnswers] = {}

    def names(self, caller: Principal) -> list[str]:
        """Return the graphs that a caller may see, the first ones before those of the workspace."""
        seen = (name for name in self._workspace.graphs() if caller.sees(name))
        return sorted(seen, key=lambda name: self._first.get(name, len(self._first)))

    def services(self, caller: Principal) -> frozenset[str] | None:
        """Return the graphs that a SERVICE of the caller may reach; None for all."""
        return None if caller.graphs is None else frozenset(self.names(caller))

    def settings(self, name: str, caller: Principal) -> GraphSettings:
        """Return the settings of a graph; `Missing` if there is none that the caller may see."""
        graphs = self._workspace.graphs()
        if name in graphs and caller.sees(name):
            return graphs[name]
        there = ", ".join(self.names(caller)) or "none"
        raise Missing(f"there is no graph {name!r}; there are: {there}")

    def choose(self, wanted: Sequence[str] | None, caller: Principal) -> tuple[str, ...]:
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
        verified = await self.verified(name)
        async with self.pool.lease(name, verified, searched=searched) as graph:
            with only_services(self.services(caller)):
                yield graph

    async def verified(self, name: str) -> VerifiedAnswers:
        """Return what people verified of a graph so far."""
        version = await self._store.verified_version(name)
        known = self._verified.get(name)
        if known is None or known.version != version:
            examples = tuple([one.example for one in await self._store.verified(name)])
            known = self._verified[name] = VerifiedAnswers(version, examples)
        return known

    async def forget(self, name: str) -> None:
        """Let go of a graph that was removed or replaced."""
        self._verified.pop(name, None)
        await self.pool.forget([name])
        await self._forgotten(name)


class Summaries:
    """Reads the summaries of a workspace's graphs; safe to be called from several threads."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._known: dict[tuple[str, str], tuple[Stamp, GraphSettings, GraphSummary]] = {}

    def of(self, name: str, settings: GraphSettings, language: str = "en") -> GraphSummary:
        """Return the summary of a graph, reading its files anew if they changed."""
        paths = (self._workspace.data(name) / "profile.json", self._workspace.description(name))
        stamp, key = tuple(_mark(path) for path in paths), (name, phrases_in(language).language)
        known = self._known.get(key)
        if known is not None and known[:2] == (stamp, settings):
            return known[2]
        summary = self._read(*key, settings)
        self._known[key] = (stamp, settings, summary)
        return summary

    def _read(self, name: str, language: str, settings: GraphSettings) -> GraphSummary:
        try:
            profile = self._workspace.profile(name)
        except SetupError:
            profile = None
        try:
            told = next(
                iter(kept_descriptions(self._workspace.description(name))), DatasetDescription("")
            )
        except SetupError:
            told = DatasetDescription("")
        own = best_label(profile.described, [language]) if profile else None
        return GraphSummary(
            name=name,
            title=told.name or name,
            description=told.description
            or own
            or (in_a_sentence(profile, language) if profile else ""),
            triples=profile.triples if profile else None,
            classes=len(profile.classes) if profile else None,
            predicates=len(profile.predicates) if profile else None,
            languages=[tag for tag, _ in profile.languages[:_LANGUAGES] if tag] if profile else [],
            remote=settings.url is not None,
            source=_source(settings),
            license=told.license,
            addable_by_web=bool(settings.added_by),
        )


def _source(settings: GraphSettings) -> str:
    """The source of a graph, without its folders, keys and passwords."""
    if settings.url is None:
        return ", ".join(Path(source).name for source in settings.sources[:_FILES])
    parts = urlsplit(settings.url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))
