"""Settings become objects: the endpoint of a graph, and the graph with all that is known of it."""

from pathlib import Path
from typing import TYPE_CHECKING

from askgraph.workspace.build import Progress, opened
from askgraph.workspace.settings import GraphSettings

if TYPE_CHECKING:
    from askgraph.endpoint import Endpoint
    from askgraph.graph import KnowledgeGraph

__all__ = ["build_remote", "endpoint_of", "known_graph"]


def endpoint_of(settings: GraphSettings, data: Path, cache: Path) -> "Endpoint":
    """Return the endpoint of a graph: its store on disk, or the server behind its URL."""
    from askgraph.endpoint.oxigraph import OxigraphEndpoint

    return OxigraphEndpoint.open(data / "store")


def known_graph(name: str, endpoint: "Endpoint", data: Path) -> "KnowledgeGraph":
    """Return an endpoint together with what its data folder knows of it."""
    profile, names, arrays = opened(data)
    from askgraph.graph import KnowledgeGraph
    from askgraph.rdf.prefixes import PrefixMap

    return KnowledgeGraph(
        name=name,
        endpoint=endpoint,
        profile=profile,
        names=names,
        prefixes=PrefixMap(dict(profile.prefixes)),
        arrays=arrays,
    )


def build_remote(
    settings: GraphSettings, folder: Path, *, answers: Path, progress: Progress
) -> None:
    """Fill an empty folder with what an endpoint says of itself."""
    raise NotImplementedError
