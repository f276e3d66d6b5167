"""Graphs of the server: open graphs of a process, leased to callers who may see them.

Also summaries of graphs. Submodules add graphs by upload or address, in jobs.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, Field

from askgraph.answers.example_questions import describe_content
from askgraph.answers.verbalize.phrases import load_phrases
from askgraph.endpoint.oxigraph import set_max_active_stores
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.descriptions import DatasetDescription
from askgraph.graph.examples import QueryExample
from askgraph.server.auth import Principal
from askgraph.server.problems import NotFound
from askgraph.server.settings import ServeSettings
from askgraph.server.store import Store
from askgraph.server.store.tables import Opinions
from askgraph.sparql.prefixes import choose_label
from askgraph.workspace import Workspace
from askgraph.workspace.glossary import apply_glossary
from askgraph.workspace.graphs import build_missing_indices, load_descriptions, restrict_services
from askgraph.workspace.settings import GraphSettings

_STALENESS_CHECK_SECONDS = 2.0  # seconds between two looks at whether a graph's files changed


@dataclass(frozen=True)
class VerifiedAnswers:
    """The answers that people confirmed for a graph; `version` changes with them."""

    version: int = 0
    examples: tuple[tuple[QueryExample, Opinions], ...] = ()

    def select(self, caller: str, needed: int) -> tuple[QueryExample, ...]:
        """Return the examples of a caller: their own, then those that enough people confirmed."""
        own = {of.question for _, of in self.examples if of.is_own(caller)}
        return tuple(
            example
            for example, of in self.examples
            if of.is_own(caller)
            or (of.is_shared(needed) and caller not in of.disputing and of.question not in own)
        )


@dataclass(eq=False)
class _PooledGraph:
    """An open graph, and its state in the pool."""

    graph: KnowledgeGraph
    settings: GraphSettings
    data_stamp: tuple[int, int]  # identifies the data folder that it was opened from
    checked_at: float = field(default_factory=time.monotonic)  # seconds; the last check
    users: int = 0  # the number of current leases
    is_evicted: bool = False  # it left the pool, and closes with its last lease
    has_indices: bool = False  # its search indices are in place
    verified: tuple[QueryExample, ...] = ()  # the verified answers of `verified_graph`
    glossary_stamp: tuple[int, int] = (-1, -1)  # identifies the glossary file that was read
    verified_graph: KnowledgeGraph | None = None  # the graph with them among its examples


class GraphPool:
    """Leases the graphs of a workspace.

    A graph is reopened when its files or settings changed; current users keep the old one. Beyond
    `open_graphs`, the least recently used graphs are closed.
    """

    def __init__(self, workspace: Workspace, settings: ServeSettings) -> None:
        set_max_active_stores(settings.stores)
        self._workspace = workspace
        self._max_open_graphs = settings.open_graphs
        self._confirmations = settings.confirmations
        self._open: dict[str, _PooledGraph] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    @property
    def graph_names(self) -> list[str]:
        """The names of the open graphs."""
        return list(self._open)

    @asynccontextmanager
    async def lease(
        self, name: str, verified: VerifiedAnswers, caller: str, *, with_indices: bool = False
    ) -> AsyncIterator[KnowledgeGraph]:
        """Lease a graph, with verified answers for the caller with an id.

        With `with_indices`, its search indices are in place.

        Raises:
            NotFound: the graph is removed meanwhile. Errors of opening the graph are also raised.
        """
        async with self._locks.setdefault(name, asyncio.Lock()):
            settings = self._workspace.graphs().get(name)
            pooled = self._open.get(name)
            # It may be closed in the meantime because too many graphs are open.
            if pooled is not None and (
                await self._is_outdated(name, pooled, settings) or pooled.is_evicted
            ):
                await self.evict([name])
                pooled = None
            if pooled is None or settings is None:
                graph = await asyncio.to_thread(self._workspace.graph, name)
                settings = self._workspace.graphs().get(name)
                if settings is None:
                    await graph.endpoint.close()
                    raise NotFound(f"the graph {name!r} was just removed")
                pooled = self._open[name] = _PooledGraph(graph, settings, self._stamp_data(name))
        pooled.users += 1
        if self._open.get(name) is pooled:
            self._open[name] = self._open.pop(name)  # the most recently used one
        try:
            # If too many are open, close unused ones, least recently used first.
            unused = [name for name, pooled_graph in self._open.items() if not pooled_graph.users]
            await self.evict(unused[: max(0, len(self._open) - self._max_open_graphs)])
            if with_indices and not pooled.has_indices:
                await asyncio.to_thread(build_missing_indices, pooled.graph)
                pooled.has_indices = True
            glossary_stamp = _stamp_file(self._workspace.get_glossary_file(name))
            if glossary_stamp != pooled.glossary_stamp:
                glossary = await asyncio.to_thread(self._workspace.load_glossary, name)
                pooled.graph = apply_glossary(pooled.graph, glossary)
                pooled.glossary_stamp, pooled.verified_graph = glossary_stamp, None
            answers = verified.select(caller, self._confirmations)
            if pooled.verified_graph is None or pooled.verified != answers:
                examples = (*answers, *pooled.graph.examples)
                pooled.verified_graph = replace(pooled.graph, examples=examples)
                pooled.verified = answers
            yield pooled.verified_graph
        finally:
            pooled.users -= 1
            if pooled.is_evicted and not pooled.users:
                await pooled.graph.endpoint.close()

    async def evict(self, names: Sequence[str]) -> None:
        """Close graphs, at once or when their last leases end."""
        for name in names:
            pooled = self._open.pop(name, None)
            if pooled is not None:
                pooled.is_evicted = True
                if not pooled.users:
                    await pooled.graph.endpoint.close()

    async def close(self) -> None:
        """Close all graphs, those in use when their last leases end."""
        await self.evict(list(self._open))

    async def _is_outdated(
        self, name: str, pooled: _PooledGraph, settings: GraphSettings | None
    ) -> bool:
        if settings != pooled.settings or self._stamp_data(name) != pooled.data_stamp:
            return True
        if time.monotonic() - pooled.checked_at < _STALENESS_CHECK_SECONDS:
            return False
        pooled.checked_at = time.monotonic()
        return await asyncio.to_thread(self._workspace.find_stale_reason, name) is not None

    def _stamp_data(self, name: str) -> tuple[int, int]:
        """Return a stamp that changes when the data folder of a graph is replaced."""
        return _stamp_file(self._workspace.get_data_folder(name) / "built.json")


def _stamp_file(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return (0, 0)
    return (status.st_ino, status.st_mtime_ns)


_MAX_FILES = 20  # file names to list
_MAX_LANGUAGES = 20
FileStamps = tuple[tuple[int, int], ...]


class GraphSummary(BaseModel):
    """A graph in a list."""

    name: str = Field(description="Its name on this server, as used in URLs.")
    title: str = Field(description="The title that its publisher gives it, else its name.")
    description: str = Field(description="A description; else its largest classes in words.")
    triples: int | None = Field(description="Null if it has not been read yet.")
    classes: int | None
    predicates: int | None
    languages: list[str] = Field(description="Language tags of its texts, most frequent first.")
    remote: bool = Field(description="Whether its triples are at a remote endpoint.")
    source: str = Field(description="The endpoint's address, or the names of its files.")
    license: str
    addable_by_web: bool = Field(description="Whether it was added over the web.")


class GraphCatalog:
    """Leases the graphs of a workspace to callers, with the verified answers of the store."""

    def __init__(
        self,
        workspace: Workspace,
        store: Store,
        pool: GraphPool,
        on_forget: Callable[[str], Awaitable[None]],
        settings: ServeSettings,
    ) -> None:
        self._workspace = workspace
        self._store = store
        self.pool = pool
        self._on_forget = on_forget
        self._first_graphs = settings.first_graphs
        self._is_personal = settings.is_personal
        self._verified: dict[str, VerifiedAnswers] = {}

    def list_names(self, caller: Principal) -> list[str]:
        """Return the graphs that a caller may see, those of `first_graphs` first."""
        visible = self._load_visible(caller)
        first = [name for name in dict.fromkeys(self._first_graphs) if name in visible]
        return [*first, *(name for name in visible if name not in first)]

    def list_services(self, caller: Principal) -> frozenset[str]:
        """Return the graphs that a SERVICE of the caller may reach."""
        return frozenset(self._load_visible(caller))

    def get_settings(self, name: str, caller: Principal) -> GraphSettings:
        """Return the settings of a graph; raise `NotFound` if the caller may see no such graph."""
        visible = self._load_visible(caller)
        if name in visible:
            return visible[name]
        names = ", ".join(self.list_names(caller)) or "none"
        raise NotFound(f"there is no graph {name!r}; available: {names}")

    def choose(self, requested: Sequence[str] | None, caller: Principal) -> tuple[str, ...]:
        """Return the graphs to ask: the requested ones, or the only one.

        Raises:
            NotFound: the caller may not see a requested graph.
            SetupError: no graph is requested, and there is not exactly one.
        """
        visible = self.list_names(caller)
        if requested:
            for name in requested:
                self.get_settings(name, caller)
            return tuple(dict.fromkeys(requested))
        if len(visible) == 1:
            return tuple(visible)
        if visible:
            raise SetupError(f"name a graph in 'graphs'; available: {', '.join(visible)}")
        raise SetupError("there is no graph to ask yet: add one")

    @asynccontextmanager
    async def lease(
        self, name: str, caller: Principal, *, with_indices: bool = False
    ) -> AsyncIterator[KnowledgeGraph]:
        """Lease a graph; with `with_indices`, its search indices are in place.

        During the lease, a SERVICE reaches only graphs that the caller may see.

        Raises:
            NotFound: the caller may see no such graph. Errors of opening it are also raised.
        """
        self.get_settings(name, caller)
        verified = await self.load_verified(name)
        async with self.pool.lease(name, verified, caller.id, with_indices=with_indices) as graph:
            with restrict_services(self.list_services(caller)):
                yield graph

    async def load_verified(self, name: str) -> VerifiedAnswers:
        """Return the answers that people verified for a graph."""
        version = await self._store.get_verified_version(name)
        answers = self._verified.get(name)
        if answers is None or answers.version != version:
            rows = await self._store.list_verified(name)
            opinions = Opinions.count(rows)
            confirmed = [row for row in rows if not row.disputed]
            examples = {row.claim: (row.example, opinions[row.id]) for row in confirmed}
            answers = self._verified[name] = VerifiedAnswers(version, tuple(examples.values()))
        return answers

    async def forget(self, name: str) -> None:
        """Discard a graph that was removed or replaced."""
        self._verified.pop(name, None)
        await self.pool.evict([name])
        await self._on_forget(name)

    def _load_visible(self, caller: Principal) -> dict[str, GraphSettings]:
        """Return the graphs that a caller may see; personal ones only on a personal server."""
        return {
            name: settings
            for name, settings in self._workspace.graphs().items()
            if caller.can_see(name) and (self._is_personal or not settings.personal)
        }


class SummaryCache:
    """Reads and caches summaries of a workspace's graphs; thread-safe."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._summaries: dict[tuple[str, str], tuple[FileStamps, GraphSettings, GraphSummary]] = {}

    def load(self, name: str, settings: GraphSettings, language: str = "en") -> GraphSummary:
        """Return the summary of a graph; its files are read again if they changed."""
        paths = (
            self._workspace.get_data_folder(name) / "profile.json",
            self._workspace.get_description_file(name),
        )
        stamp = tuple(_stamp_file(path) for path in paths)
        key = (name, load_phrases(language).language)
        cached = self._summaries.get(key)
        if cached is not None and cached[:2] == (stamp, settings):
            return cached[2]
        summary = self._read(*key, settings)
        self._summaries[key] = (stamp, settings, summary)
        return summary

    def _read(self, name: str, language: str, settings: GraphSettings) -> GraphSummary:
        profile, description = None, DatasetDescription("")
        with suppress(SetupError):
            profile = self._workspace.load_profile(name)
        with suppress(SetupError):
            descriptions = load_descriptions(self._workspace.get_description_file(name))
            description = next(iter(descriptions), description)
        tags = [tag for tag, _ in profile.languages] if profile else []
        return GraphSummary(
            name=name,
            title=description.name or name,
            description=description.description
            or (choose_label(profile.described, [language]) if profile else None)
            or (describe_content(profile, language) if profile else ""),
            triples=profile.triples if profile else None,
            classes=len(profile.classes) if profile else None,
            predicates=len(profile.predicates) if profile else None,
            languages=list(filter(None, tags[:_MAX_LANGUAGES])),
            remote=settings.url is not None,
            source=_describe_source(settings),
            license=description.license,
            addable_by_web=bool(settings.added_by),
        )


def _describe_source(settings: GraphSettings) -> str:
    """Return the source of a graph without folders, keys and passwords."""
    if settings.url is None:
        return ", ".join(Path(source).name for source in settings.sources[:_MAX_FILES])
    parts = urlsplit(settings.url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
