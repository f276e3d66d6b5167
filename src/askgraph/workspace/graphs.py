"""Graphs opened: one from its data folder, or all that a question is asked of."""

import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence, Set
from contextlib import AsyncExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from askgraph.endpoint import Endpoint
from askgraph.endpoint.federated import Federated
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.profile import load_profile
from askgraph.methods import Method, can_search_indices
from askgraph.sparql.prefixes import PrefixMap
from askgraph.trace import Outcome, attempt_of
from askgraph.workspace.graph_data import (
    KEYS,
    Ground,
    all_paths,
    known_content,
    known_snapshot,
    open_endpoint,
)
from askgraph.workspace.run_sync import Progress, result_of, silent
from askgraph.workspace.settings import GraphSettings

if TYPE_CHECKING:
    from askgraph.graph.descriptions import DatasetDescription
    from askgraph.graph.examples import QueryExample
    from askgraph.graph.glossary import Glossary
    from askgraph.index import DiskIndex, Resource, SearchIndex

_SCHEME = "askgraph:"
_ALLOWED: ContextVar[Set[str] | None] = ContextVar("services that may be called", default=None)
Source = TypeVar("Source")
Result = TypeVar("Result")


def open_graph(
    name: str,
    settings: GraphSettings,
    data: Path,
    *,
    cache: Path,
    services: "WorkspaceServices",
    service: str = "",
    examples: "tuple[QueryExample, ...]" = (),
    description: Path | None = None,
    glossary: "Glossary | None" = None,
    notes: Path | None = None,
) -> KnowledgeGraph:
    """Open a graph from its data folder; `SetupError` if that is damaged.

    A local graph's worker process starts while the rest is read. A SERVICE in a query may call
    `services`; other graphs call this one by the URL `service`. The indices are opened, or built,
    when they are first looked at. `description` is the file with what the graph's publisher says of
    it, if there is one.
    """
    profile = load_profile(data / "profile.json")
    prefixes = PrefixMap(dict(profile.prefixes))
    # The search for names that the settings name, else the one that was detected.
    named = settings.name_search or profile.name_search
    if not (settings.url and named):
        search = None
    else:
        from askgraph.graph.nodes import get_naming
        from askgraph.index.name_search import name_search  # most graphs lie here

        search = name_search(named, get_naming(profile))
    own = open_endpoint(
        settings,
        data,
        cache=cache,
        prefixes=prefixes.namespaces,
        services=getattr(search, "services", frozenset()),
    )

    endpoint = Federated(
        own,
        services,
        timeout=settings.timeout,
        prefixes=prefixes.namespaces,
        at_close=services.opened.aclose,
    )
    try:
        names, arrays = known_content(data)
        short = name.partition("~")[0]
        snapshot = known_snapshot(data, profile)
        ground = Ground(short, data, settings, snapshot, profile, names, arrays)
        return KnowledgeGraph(
            name=short,
            endpoint=endpoint,
            profile=profile,
            names=names,
            prefixes=prefixes,
            arrays=arrays,
            snapshot=snapshot,
            indices=GraphIndices(ground),
            examples=examples,
            service=service,
            descriptions=kept_descriptions(description) if description else (),
            virtual_paths=all_paths(data),
            name_search=search,
            glossary=glossary,
            cache_folder=data / "indices" / "kept",
            notes=notes,
        )
    except BaseException:
        result_of(endpoint.close())
        raise


@dataclass(frozen=True)
class Ready:
    """Graphs to ask, and those among them that were opened for it; close it after use."""

    graphs: tuple[KnowledgeGraph, ...]
    opened: tuple[KnowledgeGraph, ...]

    def of(self, outcome: Outcome) -> KnowledgeGraph:
        """Return the graph that an outcome is of; the first one if it is of none."""
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
            if any(graph.name == other.name for other in graphs):
                raise SetupError(
                    f"two of the graphs are called {graph.name!r}, and could not be told apart: "
                    "name each once, and give others a name of their own with: askgraph add NAME "
                    "SOURCE"
                )
            graphs.append(graph)
        if can_search_indices(method):
            for graph in graphs:
                build_missing(graph, progress=progress, opens=False)
    except BaseException:
        result_of(_close(opened))
        raise
    return Ready(tuple(graphs), tuple(opened))


def run_over(graph: KnowledgeGraph, work: Coroutine[Any, Any, Result]) -> Result:
    """Run work over an opened graph to its end, and close the graph's endpoint."""

    async def run() -> Result:
        try:
            return await work
        finally:
            await graph.endpoint.close()

    return result_of(run())


def build_missing(
    graph: KnowledgeGraph, *, progress: Progress = silent, opens: bool = True
) -> None:
    """Build the indices of a graph of a workspace that are missing or do not fit it any more.

    It `opens` the others too, for those who keep the graph: it may be replaced meanwhile.
    Raises `SetupError` and `ServiceError` as building does.
    """
    if isinstance(graph.indices, GraphIndices):
        graph.indices.prepare(progress, opens=opens)


@contextmanager
def only_services(names: Set[str] | None) -> Iterator[None]:
    """Within it, and in tasks begun there, a SERVICE may name these graphs alone; None: all."""
    token = _ALLOWED.set(names)
    try:
        yield
    finally:
        _ALLOWED.reset(token)


class WorkspaceServices(Mapping[str, Endpoint]):
    """The endpoints of a workspace's graphs, by `askgraph:NAME` and by their URL.

    A URL with a query part, which may hold a key, and one that several graphs share are no names.
    The settings are read at each look, so that graphs added later can be called too.
    """

    def __init__(
        self, graphs: Callable[[], Mapping[str, GraphSettings]], opened: Callable[[str], Endpoint]
    ) -> None:
        self._graphs = graphs
        self._opened = opened
        self._open: dict[str, Endpoint] = {}
        self._lock = threading.Lock()
        self.opened = AsyncExitStack()
        """Closes the endpoints that were opened here."""

    def __getitem__(self, target: str) -> Endpoint:
        """Return the endpoint that a SERVICE names, opening it first; may take as long."""
        name = service_names(self._graphs())[target]
        with self._lock:
            if name not in self._open:
                self._open[name] = self._opened(name)
                self.opened.push_async_callback(self._open[name].close)
                self.opened.callback(self._open.pop, name)
            return self._open[name]

    def __contains__(self, target: object) -> bool:
        return target in service_names(self._graphs())

    def __iter__(self) -> Iterator[str]:
        return iter(service_names(self._graphs()))

    def __len__(self) -> int:
        return len(service_names(self._graphs()))


def service_names(graphs: Mapping[str, GraphSettings]) -> dict[str, str]:
    """Return the names of the graphs that may be called, by what a SERVICE calls them."""
    allowed = _ALLOWED.get()
    graphs = {
        name: settings for name, settings in graphs.items() if allowed is None or name in allowed
    }
    used = Counter(settings.url for settings in graphs.values())
    targets = {f"{_SCHEME}{name}": name for name in graphs}
    for name, settings in graphs.items():
        if settings.url and used[settings.url] == 1 and not {"?", "#"} & set(settings.url):
            targets[settings.url] = name
    return targets


def service_url(name: str, graphs: Mapping[str, GraphSettings]) -> str:
    """Return the URL by which a graph can be called; empty if only its name will do."""
    iris = (iri for iri, of in service_names(graphs).items() if of == name)
    return next((iri for iri in iris if not iri.startswith(_SCHEME)), "")


class GraphIndices(Mapping[str, "SearchIndex[Resource]"]):
    """The indices of a graph by key; the first look at one opens it, or builds it, and waits.

    Several threads and processes may look at once: one of them builds. Raises `SetupError` if an
    index can be neither opened nor built.
    """

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._open: dict[str, DiskIndex] = {}
        self._locks = {key: threading.Lock() for key in KEYS}

    def __getitem__(self, key: str) -> "DiskIndex":
        return self._opened(key)

    def __contains__(self, key: object) -> bool:
        return key in self._locks

    def __iter__(self) -> Iterator[str]:
        return iter(KEYS)

    def __len__(self) -> int:
        return len(KEYS)

    def prepare(self, progress: Progress, *, opens: bool) -> None:
        """Build the indices that are missing or do not fit; with `opens`, open the others too.

        If nothing is to be built, `progress` is told nothing.
        """
        from askgraph.workspace.indices import is_there  # graph search looks at none

        for key in KEYS:
            if opens or not is_there(self._ground, key):
                self._opened(key, progress)

    def _opened(self, key: str, progress: Progress | None = None) -> "DiskIndex":
        with self._locks[key]:
            if key not in self._open:
                from askgraph.workspace.indices import ready_index  # graph search looks at none

                self._open[key] = ready_index(self._ground, key, progress)
            return self._open[key]


async def _close(graphs: Sequence[KnowledgeGraph]) -> None:
    async with AsyncExitStack() as stack:
        for graph in graphs:
            stack.push_async_callback(graph.endpoint.close)


def kept_descriptions(path: Path) -> "tuple[DatasetDescription, ...]":
    """Return the descriptions in a file; none if it is missing."""
    return read_descriptions(path) if path.is_file() else ()


def read_descriptions(path: Path) -> "tuple[DatasetDescription, ...]":
    """Return the descriptions in a file; `SetupError` if it cannot be read or is broken."""
    from askgraph.graph.descriptions import parse_descriptions  # of few graphs there are any

    try:
        return parse_descriptions(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"{str(path)!r} cannot be read: {error}") from error
    except SetupError as error:
        raise SetupError(f"{str(path)!r}: {error}") from error
