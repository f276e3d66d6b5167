"""Open graphs: one from its data folder, or all graphs of a question."""

import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence, Set
from contextlib import AsyncExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from askgraph.endpoint import Endpoint
from askgraph.endpoint.federated import FederatedEndpoint
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.profile import load_profile
from askgraph.methods import Method, can_search_indices
from askgraph.sparql.prefixes import PrefixMap
from askgraph.trace import Outcome, get_attempt
from askgraph.workspace import graph_data
from askgraph.workspace.run_sync import Progress, ignore_progress, run_coroutine
from askgraph.workspace.settings import GraphSettings

if TYPE_CHECKING:
    from askgraph.graph.descriptions import DatasetDescription
    from askgraph.graph.examples import QueryExample
    from askgraph.index import DiskIndex, Resource, SearchIndex
    from askgraph.workspace.models import Models

_SERVICE_SCHEME = "askgraph:"
_ALLOWED_SERVICES: ContextVar[Set[str] | None] = ContextVar(
    "services that may be called", default=None
)
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
    notes: Path | None = None,
) -> KnowledgeGraph:
    """Open a graph from its data folder; `SetupError` if that is damaged.

    A local graph's worker process starts while the rest is read. A SERVICE in a query may
    call `services`. The indices are opened, or built, on first use. `description` is the
    file with the publisher's description of the graph, if any.
    """
    profile = load_profile(data / "profile.json")
    settings = graph_data.keep_united_graphs(settings, profile)
    prefixes = PrefixMap(dict(profile.prefixes))
    # The name search of the settings, else the detected one.
    search_name = settings.name_search or profile.name_search
    if not (settings.url and search_name):
        search = None
    else:
        from askgraph.graph.nodes import get_naming
        from askgraph.index.name_search import create_name_search  # most graphs lie here

        search = create_name_search(search_name, get_naming(profile))
    graph_endpoint = graph_data.open_endpoint(
        settings,
        data,
        cache=cache,
        prefixes=prefixes.namespaces,
        services=getattr(search, "services", frozenset()),
    )

    endpoint = FederatedEndpoint(
        graph_endpoint,
        services,
        timeout=settings.timeout,
        prefixes=prefixes.namespaces,
        on_close=services.opened.aclose,
    )
    try:
        names, arrays = graph_data.load_names_and_arrays(data)
        short_name = name.partition("~")[0]
        snapshot = graph_data.compute_snapshot(data, profile)
        index_context = graph_data.IndexContext(
            short_name, data, settings, snapshot, profile, names, arrays
        )
        return KnowledgeGraph(
            name=short_name,
            endpoint=endpoint,
            profile=profile,
            names=names,
            prefixes=prefixes,
            arrays=arrays,
            snapshot=snapshot,
            indices=GraphIndices(index_context),
            examples=examples,
            service=service,
            descriptions=load_descriptions(description) if description else (),
            virtual_paths=graph_data.load_all_paths(data),
            name_search=search,
            cache_folder=data / "indices" / "kept",
            notes=notes,
        )
    except BaseException:
        run_coroutine(endpoint.close())
        raise


@dataclass(frozen=True)
class OpenedGraphs:
    """The graphs of a question, and those that were opened for it; close it after use."""

    graphs: tuple[KnowledgeGraph, ...]
    opened: tuple[KnowledgeGraph, ...]

    def get_graph(self, outcome: Outcome) -> KnowledgeGraph:
        """Return the graph of an outcome; the first one if the outcome has no graph."""
        attempt = get_attempt(outcome)
        matches = (graph for graph in self.graphs if attempt and graph.name == attempt.graph)
        return next(matches, self.graphs[0])

    async def close(self) -> None:
        """Close the endpoints of the graphs that were opened here; the others stay open."""
        await _close_graphs(self.opened)


def prepare_graphs(
    sources: Sequence[Source | KnowledgeGraph],
    find: Callable[[Source], KnowledgeGraph],
    method: Method,
    *,
    progress: Progress = ignore_progress,
) -> OpenedGraphs:
    """Open graphs with `find`, and build missing indices that the method needs.

    Open graphs are used as they are. On an error, the graphs opened here are closed.

    Raises:
        SetupError: no graph is given, or two have the same name; also errors of opening and
            building.
    """
    if not sources:
        raise SetupError("name at least one graph")
    graphs: list[KnowledgeGraph] = []
    opened: list[KnowledgeGraph] = []
    try:
        for source in sources:
            graph = source if isinstance(source, KnowledgeGraph) else find(source)
            if graph is not source:
                opened.append(graph)
            if any(graph.name == earlier.name for earlier in graphs):
                raise SetupError(
                    f"two of the graphs have the name {graph.name!r}: name each graph "
                    "once, or add one under another name with: askgraph add NAME SOURCE"
                )
            graphs.append(graph)
        if can_search_indices(method):
            for graph in graphs:
                build_missing_indices(graph, progress=progress, open_others=False)
    except BaseException:
        run_coroutine(_close_graphs(opened))
        raise
    return OpenedGraphs(tuple(graphs), tuple(opened))


def run_and_close(
    opened: "KnowledgeGraph | Endpoint | Models", coroutine: Coroutine[Any, Any, Result]
) -> Result:
    """Run a coroutine that uses a graph, an endpoint or language models, and close them."""
    resource = opened.endpoint if isinstance(opened, KnowledgeGraph) else opened

    async def await_and_close() -> Result:
        try:
            return await coroutine
        finally:
            await resource.close()

    return run_coroutine(await_and_close())


def build_missing_indices(
    graph: KnowledgeGraph, *, progress: Progress = ignore_progress, open_others: bool = True
) -> None:
    """Build the indices of a graph of a workspace that are missing or out of date.

    With `open_others`, open the other indices too, for callers that keep the graph: its
    data may be replaced later.

    Raises:
        SetupError: an index cannot be built.
        ServiceError: an endpoint failed.
    """
    if isinstance(graph.indices, GraphIndices):
        graph.indices.prepare(progress, open_others=open_others)


@contextmanager
def restrict_services(names: Set[str] | None) -> Iterator[None]:
    """Restrict SERVICE to these graphs within the block and tasks started there; None: all."""
    token = _ALLOWED_SERVICES.set(names)
    try:
        yield
    finally:
        _ALLOWED_SERVICES.reset(token)


class WorkspaceServices(Mapping[str, Endpoint]):
    """The endpoints of a workspace's graphs, by `askgraph:NAME` and by their URL.

    A URL with a query part, which may hold a key, and a URL of several graphs are not valid
    names. The settings are read on each access, so graphs added later can be called too.
    """

    def __init__(
        self,
        graphs: Callable[[], Mapping[str, GraphSettings]],
        open_service: Callable[[str], Endpoint],
    ) -> None:
        self._graphs = graphs
        self._opened = open_service
        self._open: dict[str, Endpoint] = {}
        self._lock = threading.Lock()
        self.opened = AsyncExitStack()
        """Closes the endpoints that were opened here."""

    def __getitem__(self, target: str) -> Endpoint:
        """Return the endpoint of a SERVICE, opened if needed; opening takes time."""
        name = map_service_names(self._graphs())[target]
        with self._lock:
            if name not in self._open:
                self._open[name] = self._opened(name)
                self.opened.push_async_callback(self._open[name].close)
                self.opened.callback(self._open.pop, name)
            return self._open[name]

    def __contains__(self, target: object) -> bool:
        return target in map_service_names(self._graphs())

    def __iter__(self) -> Iterator[str]:
        return iter(map_service_names(self._graphs()))

    def __len__(self) -> int:
        return len(map_service_names(self._graphs()))


def map_service_names(graphs: Mapping[str, GraphSettings]) -> dict[str, str]:
    """Return the names of the graphs that may be called, by what a SERVICE calls them."""
    allowed = _ALLOWED_SERVICES.get()
    graphs = {
        name: settings for name, settings in graphs.items() if allowed is None or name in allowed
    }
    url_counts = Counter(settings.url for settings in graphs.values())
    targets = {f"{_SERVICE_SCHEME}{name}": name for name in graphs}
    for name, settings in graphs.items():
        if settings.url and url_counts[settings.url] == 1 and not {"?", "#"} & set(settings.url):
            targets[settings.url] = name
    return targets


def get_service_url(name: str, graphs: Mapping[str, GraphSettings]) -> str:
    """Return the URL by which a graph can be called; empty if only its name will do."""
    iris = (iri for iri, graph_name in map_service_names(graphs).items() if graph_name == name)
    return next((iri for iri in iris if not iri.startswith(_SERVICE_SCHEME)), "")


class GraphIndices(Mapping[str, "SearchIndex[Resource]"]):
    """The indices of a graph by key; the first access opens or builds an index, and waits for it.

    With concurrent access by threads and processes, one of them builds.

    Raises:
        SetupError: an index can neither be opened nor built.
    """

    def __init__(self, context: graph_data.IndexContext) -> None:
        self._ground = context
        self._open: dict[str, DiskIndex] = {}
        self._locks = {key: threading.Lock() for key in graph_data.INDEX_KEYS}

    def __getitem__(self, key: str) -> "DiskIndex":
        return self._get_index(key)

    def __contains__(self, key: object) -> bool:
        return key in self._locks

    def __iter__(self) -> Iterator[str]:
        return iter(graph_data.INDEX_KEYS)

    def __len__(self) -> int:
        return len(graph_data.INDEX_KEYS)

    def prepare(self, progress: Progress, *, open_others: bool) -> None:
        """Build indices that are missing or out of date; with `open_others`, open the others too.

        If nothing needs building, `progress` is not called.
        """
        from askgraph.workspace.indices import has_index  # graph search does not need them

        for key in graph_data.INDEX_KEYS:
            if open_others or not has_index(self._ground, key):
                self._get_index(key, progress)

    def _get_index(self, key: str, progress: Progress | None = None) -> "DiskIndex":
        with self._locks[key]:
            if key not in self._open:
                # Graph search does not need them.
                from askgraph.workspace.indices import open_or_build_index

                self._open[key] = open_or_build_index(self._ground, key, progress)
            return self._open[key]


async def _close_graphs(graphs: Sequence[KnowledgeGraph]) -> None:
    async with AsyncExitStack() as stack:
        for graph in graphs:
            stack.push_async_callback(graph.endpoint.close)


def load_descriptions(path: Path) -> "tuple[DatasetDescription, ...]":
    """Return the descriptions in a file; empty if the file does not exist."""
    return read_descriptions(path) if path.is_file() else ()


def read_descriptions(path: Path) -> "tuple[DatasetDescription, ...]":
    """Return the descriptions in a file; `SetupError` if it cannot be read or is invalid."""
    from askgraph.graph.descriptions import parse_descriptions  # of few graphs there are any

    try:
        return parse_descriptions(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"{str(path)!r} cannot be read: {error}") from error
    except SetupError as error:
        raise SetupError(f"{str(path)!r}: {error}") from error
