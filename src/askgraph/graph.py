"""A knowledge graph: an endpoint, and all that is known of its content."""

from dataclasses import dataclass

from askgraph.endpoint import Endpoint
from askgraph.index.names import NameIndex
from askgraph.metadata import Profile
from askgraph.rdf.prefixes import PrefixMap
from askgraph.traversal.arrays import GraphArrays

__all__ = ["KnowledgeGraph"]


@dataclass(frozen=True, eq=False)
class KnowledgeGraph:
    """An endpoint with its profile, its names, and its triples as arrays where they lie here.

    `arrays` is None for a remote graph: `askgraph.traversal.remote` fetches the part that a
    question needs. `name` is the graph's name in its workspace.
    """

    name: str
    endpoint: Endpoint
    profile: Profile
    names: NameIndex
    prefixes: PrefixMap
    arrays: GraphArrays | None = None
