"""A graph's own words for `rdf:type` and `rdfs:subClassOf`, if it types its things otherwise.

Wikibase does: what its items are is said by two of its properties, and `rdf:type` is left to the
nodes that only carry statements. Which two these are, the shape of the graph tells: nearly
everything has the one, and it leads to classes, which the other one orders.
"""

from functools import reduce

import numpy as np

from askgraph.graph.arrays import GraphArrays, Ids, in_both
from askgraph.graph.names import is_hierarchy
from askgraph.sparql import vocabulary as v
from askgraph.sparql.rdf_files import OwnTypes

_CLASSES = 0.9
"""So many of the ends of an own `rdf:type` are classes, and so many of its starts are none."""
_MOST = 0.5
"""So many of the things that any property tells of have it."""


def own_types(graph: GraphArrays) -> OwnTypes:
    """Return the predicates of a Wikibase that say what things and classes are; empty elsewhere."""
    claims = graph.number(v.WIKIBASE_DIRECT)
    if claims is None:
        direct: list[int] = []
    else:
        named = graph.ends(claims, inverse=True).tolist()
        numbers = [graph.numbers[at] for at in named if at in graph.numbers]
        direct = [at for at in numbers if graph.terms.is_iri(int(graph.ends(at, inverse=True)[-1]))]
    if not direct:
        return {}
    starts = {number: graph.ends(number) for number in direct}
    most = max(map(len, starts.values()))
    common = sorted(
        (number for number in direct if len(starts[number]) >= _MOST * most),
        key=lambda number: -len(starts[number]),
    )
    orders = [number for number in direct if is_hierarchy(graph, number)]
    for kind in common:
        ends = graph.ends(kind, inverse=True)
        fitting = [
            (len(_both(graph, order, ends)), order)
            for order in orders
            if order != kind
            and len(_both(graph, order, ends)) >= _CLASSES * len(ends)
            and len(_both(graph, order, starts[kind])) <= _MOST * len(starts[kind])
        ]
        if fitting:
            above = max(fitting)[1]
            return {v.RDF_TYPE: graph.iri_of(kind), v.RDFS_SUB_CLASS_OF: graph.iri_of(above)}
    return {}


def _both(graph: GraphArrays, order: int, nodes: Ids) -> Ids:
    """Those of some nodes that stand at either end of a predicate."""
    ends = (graph.ends(order), graph.ends(order, inverse=True))
    return reduce(np.union1d, (in_both(nodes, some) for some in ends))
