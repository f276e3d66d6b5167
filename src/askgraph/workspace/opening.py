"""A data folder and its settings become a graph: the endpoint, and all that is known of it."""

from pathlib import Path
from typing import TYPE_CHECKING

from askgraph.metadata.store import load_profile
from askgraph.workspace.build import Progress, known_content
from askgraph.workspace.running import result_of
from askgraph.workspace.settings import GraphSettings

if TYPE_CHECKING:
    from askgraph.endpoint import Endpoint
    from askgraph.graph import KnowledgeGraph
    from askgraph.rdf.prefixes import PrefixMap

__all__ = ["build_remote", "open_graph"]


def open_graph(name: str, settings: GraphSettings, data: Path, *, cache: Path) -> "KnowledgeGraph":
    """Open a graph from its data folder; `SetupError` where that is damaged.

    A local graph's worker process starts while the rest is read.
    """
    from askgraph.rdf.prefixes import PrefixMap

    profile = load_profile(data / "profile.json")
    prefixes = PrefixMap(dict(profile.prefixes))
    if settings.url:
        endpoint = _remote_endpoint(settings, prefixes, cache)
    else:
        endpoint = _local_endpoint(settings, prefixes, data / "store")
    try:
        names, arrays = known_content(data)
        from askgraph.graph import KnowledgeGraph

        return KnowledgeGraph(name, endpoint, profile, names, prefixes, arrays)
    except BaseException:
        result_of(endpoint.close())
        raise


def build_remote(
    settings: GraphSettings, folder: Path, *, answers: Path, progress: Progress
) -> None:
    """Fill an empty folder with what an endpoint says of itself."""
    raise NotImplementedError


def _local_endpoint(settings: GraphSettings, prefixes: "PrefixMap", store: Path) -> "Endpoint":
    from askgraph.endpoint.oxigraph import OxigraphEndpoint

    endpoint = OxigraphEndpoint(
        store,
        timeout=settings.timeout,
        graphs=settings.graphs or None,
        prefixes=dict(prefixes.namespaces),
    )
    endpoint.start()
    return endpoint


def _remote_endpoint(settings: GraphSettings, prefixes: "PrefixMap", cache: Path) -> "Endpoint":
    raise NotImplementedError
