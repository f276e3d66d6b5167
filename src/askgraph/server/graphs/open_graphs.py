"""The graphs of a server, as its callers may see them, and the summaries of them."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, Field

from askgraph.answers.example_questions import in_a_sentence
from askgraph.answers.verbalize.phrases import phrases_in
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.descriptions import Description
from askgraph.server.auth.principal import Principal
from askgraph.server.graphs.graph_pool import Shelf, Verified
from askgraph.server.problems import Missing
from askgraph.server.store import Store
from askgraph.sparql.prefixes import best_label
from askgraph.workspace import Workspace
from askgraph.workspace.graphs import kept_descriptions, only_services
from askgraph.workspace.settings import GraphSettings

_FILES = 20  # names of files that are told
_LANGUAGES = 20
Stamp = tuple[int, ...]


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
        shelf: Shelf,
        forgotten: Callable[[str], Awaitable[None]],
        *,
        first: Sequence[str] = (),
    ) -> None:
        self._workspace = workspace
        self._store = store
        self._shelf = shelf
        self._forgotten = forgotten
        self._first = {name: at for at, name in enumerate(first)}
        self._verified: dict[str, Verified] = {}

    @property
    def opened(self) -> list[str]:
        """The graphs that are open in this process."""
        return self._shelf.opened

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
        verified = await self.verified(name)
        async with self._shelf.lease(name, verified, searched=searched) as graph:
            with only_services(self.services(caller)):
                yield graph

    async def verified(self, name: str) -> Verified:
        """Return what people verified of a graph so far."""
        version = await self._store.verified_version(name)
        known = self._verified.get(name)
        if known is None or known.version != version:
            examples = tuple([one.example for one in await self._store.verified(name)])
            known = self._verified[name] = Verified(version, examples)
        return known

    async def forget(self, name: str) -> None:
        """Let go of a graph that was removed or replaced."""
        self._verified.pop(name, None)
        await self._shelf.forget([name])
        await self._forgotten(name)

    async def close(self) -> None:
        """Close all graphs that nobody works on; the others once their work is done."""
        await self._shelf.close()


class Summaries:
    """Reads the summaries of a workspace's graphs; safe to be called from several threads."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._known: dict[tuple[str, str], tuple[Stamp, GraphSettings, GraphSummary]] = {}

    def of(self, name: str, settings: GraphSettings, language: str = "en") -> GraphSummary:
        """Return the summary of a graph, reading its files anew if they changed."""
        paths = (self._workspace.data(name) / "profile.json", self._workspace.description(name))
        stamp, key = tuple(_changed(path) for path in paths), (name, phrases_in(language).language)
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
        told = self._description(name)
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
