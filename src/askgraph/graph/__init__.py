"""Knowledge graphs: an endpoint with its profile, names, shapes and triples.

What lives here: `KnowledgeGraph`, `profile` (its classes and predicates), `arrays` (its triples as
sorted integers), `shapes`, `examples`, `glossary`, and the surveys that collect them.
May import: `index`, `endpoint`, `llm`, `sparql` and the modules below them.
Start reading at `KnowledgeGraph`, then `profile.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from askgraph.endpoint import Endpoint
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.profile import Profile
from askgraph.index import Resource, SearchIndex
from askgraph.index.names import NameIndex
from askgraph.sparql.prefixes import PrefixMap

if TYPE_CHECKING:
    from askgraph.graph.descriptions import DatasetDescription
    from askgraph.graph.examples import QueryExample
    from askgraph.graph.glossary import Glossary
    from askgraph.index.name_search import NameSearch
    from askgraph.sparql.rewrite.virtual import VirtualPaths


@dataclass(frozen=True, eq=False, kw_only=True)
class KnowledgeGraph:
    """An endpoint with its profile, its names and, for a local graph, its triples.

    Attributes:
        arrays: All triples; None for a remote graph, whose relevant part
            `askgraph.graph.remote_arrays` fetches for each question.
        snapshot: Identifies the content: equal snapshots mean equal triples, as far as known.
        indices: Search for resources by text: "entities" (including classes), "properties",
            "literals". First access may load or build an index: use a thread in async code.
        examples: Questions that people asked about this graph, with their queries.
        descriptions: The publisher's description: name, licence, version.
        virtual_paths: Property paths of virtual predicates, which queries may use.
        name_search: Searches the endpoint for names missing from `names`; None if complete.
    """

    name: str  # the graph's name in its workspace
    endpoint: Endpoint  # where queries run
    profile: Profile  # statistics of classes and predicates
    names: NameIndex  # index of the names in the graph
    prefixes: PrefixMap  # prefixes for queries and output
    arrays: GraphArrays | None = None
    snapshot: str = ""
    indices: Mapping[str, SearchIndex[Resource]] = field(default_factory=dict)
    examples: "tuple[QueryExample, ...]" = ()
    service: str = ""  # IRI by which queries on other graphs call it, if that is its address
    descriptions: "tuple[DatasetDescription, ...]" = ()
    virtual_paths: "VirtualPaths" = field(default_factory=dict)
    name_search: "NameSearch | None" = None
    glossary: "Glossary | None" = None  # words that its users have defined, or None
    cache_folder: Path | None = None  # folder for derived data that is slow to build, or None
    notes: Path | None = None  # file of notes by agents (see `askgraph.graph.glossary`), or None
    complete: "KnowledgeGraph | None" = None  # with what its glossary hides, if it hides anything


def get_service_iri(graph: KnowledgeGraph) -> str:
    """Return the IRI of a graph in SERVICE clauses: its endpoint's URL, or `askgraph:NAME`.

    The URL is used if it belongs to one graph only and may be shown; such a query runs elsewhere,
    too. `askgraph:NAME` identifies the graph within its workspace.
    """
    return graph.service or f"askgraph:{graph.name}"
