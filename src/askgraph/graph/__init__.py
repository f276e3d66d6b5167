"""A knowledge graph: an endpoint, and all that is known of its content.

What lives here: `KnowledgeGraph`, `profile` (its classes and predicates), `arrays` (its triples as
sorted integers), `shapes`, `examples`, `glossary`, and the surveys that find these out.
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
    from askgraph.graph.descriptions import Description
    from askgraph.graph.examples import QueryExample
    from askgraph.graph.glossary import Glossary
    from askgraph.index.name_search import NameSearch
    from askgraph.sparql.rewrite.virtual import VirtualPaths


@dataclass(frozen=True, eq=False, kw_only=True)
class KnowledgeGraph:
    """An endpoint with its profile, its names, and its triples as arrays if they lie here.

    `arrays` is None for a remote graph: `askgraph.graph.remote_arrays` fetches the part that a
    question needs. `name` is the graph's name in its workspace. `snapshot` tells its content from
    any other: equal ones hold the same triples, as far as can be known.

    `indices` find resources by text: "entities" (classes among them), "properties", "literals".
    The first look at one may read or even build it, which takes time: from asynchronous code, in a
    thread. `examples` are questions that people have asked of this graph, with their queries.
    `service` is the IRI by which queries on other graphs call it, if that is its address.
    `described` is what its publisher says of it as a resource: name, licence, version. `virtual`
    are the predicates that queries may use and the graph does not have, with their paths.
    `name_search` asks the endpoint for the names that are not in `names`, if these are not all.
    `glossary` is what its users taught of their words, if they taught any. `kept` is a folder for
    what is made of its content and is slow to make, `notes` the file of what agents noted about it
    (see `askgraph.graph.glossary`); None if there is none.
    """

    name: str
    endpoint: Endpoint
    profile: Profile
    names: NameIndex
    prefixes: PrefixMap
    arrays: GraphArrays | None = None
    snapshot: str = ""
    indices: Mapping[str, SearchIndex[Resource]] = field(default_factory=dict)
    examples: "tuple[QueryExample, ...]" = ()
    service: str = ""
    described: "tuple[Description, ...]" = ()
    virtual: "VirtualPaths" = field(default_factory=dict)
    name_search: "NameSearch | None" = None
    glossary: "Glossary | None" = None
    kept: Path | None = None
    notes: Path | None = None


def service_iri(graph: KnowledgeGraph) -> str:
    """Return the IRI by which a SERVICE names a graph: its endpoint's URL, or `askgraph:NAME`.

    It is the URL if that stands for one graph only and can be shown; a query with it runs
    elsewhere too. `askgraph:NAME` always names the graph within its workspace.
    """
    return graph.service or f"askgraph:{graph.name}"
