"""Symmetric relations that a graph states in one direction only: they hold in both."""

from typing import Final

import numpy as np

from askgraph.metadata.stated import objects_of
from askgraph.rdf import vocabulary as v
from askgraph.search.grow.schema import Schema
from askgraph.search.linking.word_lists import shared_words
from askgraph.traversal.arrays import Ids

_MIRRORED: Final = 0.6
"""The share of links that also lead back from which on the others are taken to do so as well."""
_FEWEST = 4
"""So many links at least say anything about their share."""


def is_mirrored(schema: Schema, predicate: int) -> bool:
    """Whether a relation is symmetric, and some of its links are stated one way only.

    It is if its schema says so, if its name does ("sibling", "borders") and it links things of
    one class, or if most of its links lead back as well.
    """
    known = schema.found["is_mirrored"]
    if predicate not in known:
        known[predicate] = _is_mirrored(schema, predicate)
    return bool(known[predicate])


def _is_mirrored(schema: Schema, predicate: int) -> bool:
    profile = schema.predicates.get(predicate)
    if profile is None or predicate == schema.kind or not schema.leads_on(predicate):
        return False
    own = {cls for cls, _ in profile.subject_classes}
    if own and own.isdisjoint(cls for cls, _ in profile.object_classes):
        return False
    back = _leading_back(schema, predicate)
    if back == 1.0:
        return False
    if v.OWL_SYMMETRIC_PROPERTY in objects_of(schema.graph, profile.iri, v.RDF_TYPE):
        return True
    if not schema.words(predicate).isdisjoint(shared_words().names["symmetric"]):
        return not schema.names_subject(predicate)
    return back >= _MIRRORED and profile.triples >= _FEWEST


def _leading_back(schema: Schema, predicate: int) -> float:
    """The share of a predicate's links whose objects have their subjects for objects."""
    graph = schema.graph
    subjects, objects = graph.pairs(graph.ends(predicate), predicate)
    size = len(graph.terms)
    there = subjects.astype(np.int64) * size + objects
    back = objects.astype(np.int64) * size + subjects
    return float(np.isin(back, there).mean()) if len(there) else 0.0


def stepped(schema: Schema, nodes: Ids, predicate: int, *, inverse: bool = False) -> Ids:
    """Return the nodes that one edge of a predicate away from a set: of a mirrored one any edge."""
    found = schema.graph.step(nodes, predicate, inverse=inverse)
    if not is_mirrored(schema, predicate):
        return found
    return np.union1d(found, schema.graph.step(nodes, predicate, inverse=not inverse))


def leaving(schema: Schema, nodes: Ids, predicate: int, *, inverse: bool = False) -> Ids:
    """Return those of the nodes that an edge of a predicate leaves, or of a mirrored one any."""
    found = schema.graph.bearers(nodes, predicate, inverse=inverse)
    if not is_mirrored(schema, predicate):
        return found
    return np.union1d(found, schema.graph.bearers(nodes, predicate, inverse=not inverse))
