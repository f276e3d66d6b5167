"""The endpoints of a workspace's graphs: opened by their settings, and called by SERVICE."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from askgraph.endpoint import Endpoint
from askgraph.endpoint.oxigraph import OxigraphEndpoint
from askgraph.workspace.data import known_paths
from askgraph.workspace.settings import GraphSettings

_SCHEME = "askgraph:"
_ALLOWED: ContextVar[Set[str] | None] = ContextVar("services that may be called", default=None)


def open_endpoint(
    settings: GraphSettings,
    data: Path,
    *,
    cache: Path,
    prefixes: Mapping[str, str] | None = None,
) -> Endpoint:
    """Open only the endpoint of a graph; queries need not declare `prefixes`.

    If the graph was enriched virtually, queries may use its virtual predicates.
    """
    own = _own_endpoint(settings, data, cache=cache, prefixes=prefixes)
    paths = known_paths(data)
    if not paths:
        return own

    # Few graphs have virtual predicates.
    from askgraph.endpoint.virtual import VirtualEndpoint

    return VirtualEndpoint(own, paths, prefixes=prefixes)


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
        self,
        graphs: Callable[[], Mapping[str, GraphSettings]],
        opened: Callable[[str], Endpoint],
    ) -> None:
        self._graphs = graphs
        self._opened = opened
        self._open: dict[str, Endpoint] = {}
        self._lock = threading.Lock()

    def __getitem__(self, target: str) -> Endpoint:
        """Return the endpoint that a SERVICE names, opening it first; may take as long."""
        name = self._targets()[target]
        with self._lock:
            if name not in self._open:
                self._open[name] = self._opened(name)
            return self._open[name]

    def __contains__(self, target: object) -> bool:
        return target in self._targets()

    def __iter__(self) -> Iterator[str]:
        return iter(self._targets())

    def __len__(self) -> int:
        return len(self._targets())

    def url_of(self, name: str) -> str:
        """Return the URL by which a graph can be called; empty if only its name will do."""
        return next((iri for iri, of in self._targets().items() if of == name and _is_url(iri)), "")

    async def close(self) -> None:
        """Close the endpoints that were opened here."""
        while self._open:
            _, endpoint = self._open.popitem()
            await endpoint.close()

    def _targets(self) -> dict[str, str]:
        """Return the names of graphs by what a SERVICE calls them."""
        allowed = _ALLOWED.get()
        graphs = {
            name: settings
            for name, settings in self._graphs().items()
            if allowed is None or name in allowed
        }
        used = Counter(settings.url for settings in graphs.values())
        targets = {f"{_SCHEME}{name}": name for name in graphs}
        for name, settings in graphs.items():
            if settings.url and used[settings.url] == 1 and not {"?", "#"} & set(settings.url):
                targets[settings.url] = name
        return targets


def _own_endpoint(
    settings: GraphSettings, data: Path, *, cache: Path, prefixes: Mapping[str, str] | None
) -> Endpoint:
    if settings.url:
        # Its libraries take 0.1 s to import, and most graphs are local.
        from askgraph.workspace.remote import cached_endpoint

        return cached_endpoint(settings, cache, prefixes)
    endpoint = OxigraphEndpoint(
        data / "store",
        timeout=settings.timeout,
        graphs=settings.graphs or None,
        prefixes=dict(prefixes or {}),
    )
    endpoint.start()
    return endpoint


def _is_url(iri: str) -> bool:
    return not iri.startswith(_SCHEME)
