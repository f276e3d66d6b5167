"""Statements on single resources: their names, what they are linked to, the classes above them."""

import numpy as np

from askgraph.metadata import ClassProfile, Profile
from askgraph.rdf import vocabulary as v
from askgraph.rdf.vocabulary import SCHEMA_SPACES
from askgraph.traversal.arrays import GraphArrays
from askgraph.traversal.literals import split_literal


def names_of(graph: GraphArrays, iri: str) -> tuple[tuple[str, str], ...]:
    """Return the (text, language) names that a resource has by the standard name predicates."""
    found: list[tuple[str, str]] = []
    at = graph.terms.iri(iri)
    for predicate in v.LABEL_PREDICATES + v.ALTERNATIVE_LABEL_PREDICATES:
        number = graph.number(predicate)
        if at is None or number is None:
            continue
        for literal in graph.step(np.array([at], dtype=np.int32), number):
            if graph.terms.is_literal(int(literal)):
                text, _, language = split_literal(graph.terms.text(int(literal)))
                found.append((text, language or ""))
    return tuple(dict.fromkeys(found))


def objects_of(graph: GraphArrays, iri: str, predicate: str) -> tuple[str, ...]:
    """Return the IRIs that a predicate leads to from a resource."""
    at, number = graph.terms.iri(iri), graph.number(predicate)
    if at is None or number is None:
        return ()
    found = graph.step(np.array([at], dtype=np.int32), number)
    return tuple(graph.terms.value(int(o)) for o in found if graph.terms.is_iri(int(o)))


def classes_above(graph: GraphArrays, profile: Profile) -> tuple[ClassProfile, ...]:
    """Return the classes above those of a profile that the profile does not have.

    They count no instances: all of theirs are instances of classes below them.
    """
    known = {one.iri for one in profile.classes}
    listed = [above for one in profile.classes for above in one.parents]
    found = {}
    for iri in listed:
        if iri not in known and not iri.startswith(SCHEMA_SPACES):
            known.add(iri)
            parents = objects_of(graph, iri, v.RDFS_SUB_CLASS_OF)
            found[iri] = ClassProfile(iri, 0, names=names_of(graph, iri), parents=parents)
            listed += parents
    return tuple(found.values())
