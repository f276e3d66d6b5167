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
from weakref import WeakKeyDictionary

from askgraph.endpoint import Endpoint
from askgraph.graph.arrays import GraphArrays, Seeds
from askgraph.graph.profile import Profile
from askgraph.index import Resource, SearchIndex
from askgraph.index.names import NameIndex
from askgraph.sparql import Query, renamed
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.serializer import Written, plain_text

if TYPE_CHECKING:
    from askgraph.graph.descriptions import Description
    from askgraph.graph.examples import QueryExample
    from askgraph.graph.glossary import Glossary
    from askgraph.graph.remote_arrays import Kept
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

    @property
    def own_types(self) -> Mapping[str, str]:
        """The graph's own predicates for what things are, by the standard ones that it lacks."""
        return dict(self.profile.types)

    def plain_text(self, query: Query) -> Written:
        """Return a query with one pattern a line, over the graph's own predicates."""
        own = self.own_types
        text = plain_text(renamed(query, own) if own else query, self.prefixes)
        return Written.of(query, text) if own else text


def service_iri(graph: KnowledgeGraph) -> str:
    """Return the IRI by which a SERVICE names a graph: its endpoint's URL, or `askgraph:NAME`.

    It is the URL if that stands for one graph only and can be shown; a query with it runs
    elsewhere too. `askgraph:NAME` always names the graph within its workspace.
    """
    return graph.service or f"askgraph:{graph.name}"


_WHOLE: WeakKeyDictionary[NameIndex, GraphArrays] = WeakKeyDictionary()
_KEPT: "WeakKeyDictionary[NameIndex, Kept]" = WeakKeyDictionary()


async def surroundings(graph: KnowledgeGraph, seeds: Seeds) -> GraphArrays:
    """Return the arrays of what lies around the seeds, asking the endpoint if they are not here.

    A remote graph that came whole is kept as long as its names are in use: they are the same if
    only the endpoint was wrapped in another one. Raises `ServiceError` if nothing can be
    fetched.
    """
    known = _WHOLE.get(graph.names) if graph.arrays is None else graph.arrays
    if known is not None:
        return known
    from askgraph.graph.remote_arrays import Kept, neighbourhood  # most graphs lie here

    predicates = graph.profile.predicates
    arrays = await neighbourhood(
        graph.endpoint,
        seeds,
        triples=graph.profile.triples,
        counts={p.iri: (p.triples, p.subjects, p.objects) for p in predicates},
        naming=[p.iri for p in predicates if p.naming == "name"],
        links=[p.iri for p in predicates if not p.literal],
        own_types=graph.own_types,
        kept=_KEPT.setdefault(graph.names, Kept()),
    )
    if arrays.complete:
        _WHOLE[graph.names] = arrays
    return arrays
