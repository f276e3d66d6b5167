"""Classes and properties that a graph declares, used or not, with their labels."""

from collections.abc import Mapping, Sequence

import numpy as np

from askgraph.graph import KnowledgeGraph
from askgraph.rdf import vocabulary as v
from askgraph.traversal.arrays import GraphArrays

__all__ = ["declared"]

_SPECIAL = tuple(
    v.OWL + kind
    for kind in (
        "FunctionalProperty",
        "InverseFunctionalProperty",
        "TransitiveProperty",
        "SymmetricProperty",
        "AsymmetricProperty",
        "ReflexiveProperty",
        "IrreflexiveProperty",
        "OntologyProperty",
        "DeprecatedProperty",
    )
)
_KINDS = (*v.CLASS_TYPES, *v.PROPERTY_TYPES, *_SPECIAL)
_MOST = 2_000  # with more, the terms that are declared are what the graph is about


def declared(graph: KnowledgeGraph) -> Mapping[str, Sequence[str]]:
    """Return the labels of each class and property that a graph here declares as one.

    Nothing where there are more than 2,000: such a graph is a terminology, whose classes are its
    things.
    """
    arrays = graph.arrays
    typed = None if arrays is None else arrays.number(v.RDF_TYPE)
    if arrays is None or typed is None:
        return {}
    kinds = [at for kind in _KINDS if (at := arrays.terms.iri(kind)) is not None]
    nodes = arrays.step(np.array(sorted(kinds), dtype=np.int32), typed, inverse=True)
    if len(nodes) > _MOST:
        return {}
    return {
        arrays.terms.value(at): _labels(arrays, at)
        for at in nodes.tolist()
        if arrays.terms.is_iri(at)
    }


def _labels(arrays: GraphArrays, node: int) -> list[str]:
    here = np.array([node], dtype=np.int32)
    return [
        arrays.terms.value(label)
        for iri in v.LABEL_PREDICATES
        if (number := arrays.number(iri)) is not None
        for label in arrays.step(here, number).tolist()
        if arrays.terms.is_literal(label)
    ]
