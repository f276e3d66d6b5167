"""Predicates whose schema does not say all: values that are codes, links that hold both ways, ends.

Codes are texts for true and false, and for words of a closed table. A symmetric relation that is
stated in one direction holds in both. What words come from is an origin, what they go to is a
destination.
"""

from typing import Final

import numpy as np

from askgraph.index import folded, tokens
from askgraph.metadata.names import objects_of
from askgraph.rdf import vocabulary as v
from askgraph.rdf import words_of_local_name
from askgraph.search.grow import DOUBT_MISDIRECTED, Node
from askgraph.search.grow.schema import Schema
from askgraph.search.linking.link import Link, Linked
from askgraph.search.linking.word_lists import shared_words
from askgraph.traversal import Ids
from askgraph.traversal.literals import Sort, split_literal

Truths = tuple[str, str]
"""What says yes and what says no, as terms; empty if the data have none."""

_FEW: Final = 6
"""Codes of one predicate at most: how each of two is written differs little."""
_MIRRORED: Final = 0.6
"""The share of links that also lead back from which on the others are taken to do so as well."""
_FEWEST = 4
"""So many links at least say anything about their share."""
_WITHIN = 4
"""Words from a preposition to the name that it is about: "from the airport of"."""


def truths_of(schema: Schema, predicate: int) -> Truths | None:
    """Return the values of a predicate that mean true and false, None if others occur, too."""
    known = schema.found["truths_of"]
    if predicate not in known:
        known[predicate] = _truths_of(schema, predicate)
    found: Truths | None = known[predicate]
    return found


def _truths_of(schema: Schema, predicate: int) -> Truths | None:
    sort = schema.sort(predicate)
    if sort is Sort.BOOLEAN:
        return "true", "false"
    values = _values(schema, predicate)
    words = shared_words().truths
    if sort is Sort.NUMBER:
        first = tokens(words_of_local_name(schema.graph.iri_of(predicate)))[:1]
        if words["asking"].isdisjoint(first):
            return None
    yes = [term for text, term in values if text in words["yes"]]
    no = [term for text, term in values if text in words["no"]]
    if len(yes) != 1 or len(no) > 1 or len(values) > len(yes) + len(no):
        return None
    return yes[0], no[0] if no else ""


def holds_codes(schema: Schema, predicate: int, table: str) -> bool:
    """Whether all values of a predicate are codes of one table."""
    known, key = schema.found["holds_codes"], (predicate, table)
    if key not in known:
        values = _values(schema, predicate)
        held = shared_words().held[table]
        known[key] = bool(values) and all(text in held for text, _ in values)
    return bool(known[key])


def _values(schema: Schema, predicate: int) -> list[tuple[str, str]]:
    """The literals of a predicate, each as its folded text and as a term; none if of many."""
    objects = schema.graph.ends(predicate, inverse=True)
    if not 0 < len(objects) <= _FEW or int(objects[-1]) >= schema.graph.terms.first_iri:
        return []
    terms = [schema.graph.terms.text(int(at)) for at in objects]
    return [(folded(split_literal(term)[0].strip()), term) for term in terms]


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


def misdirected(linked: Linked, schema: Schema, node: Node, predicate: int) -> float:
    """Return the doubt that a predicate leads to what words come from, or the other way round."""
    if predicate not in schema.predicates:
        return 0.0
    held = schema.words(predicate)
    ways = {name: not held.isdisjoint(way.held) for name, way in shared_words().directions.items()}
    if not any(ways.values()) or all(ways.values()):
        return 0.0
    link = _named(node)
    said = _said_before(linked, link) if link is not None else ""
    return DOUBT_MISDIRECTED if said and not ways[said] else 0.0


def _named(node: Node) -> Link | None:
    """The link of the thing or value at the end of a chain."""
    while node.link is None and len(node.edges) == 1:
        node = node.edges[0][1]
    return node.link


def _said_before(linked: Linked, link: Link) -> str:
    """The direction that words before a name say, "" if none do."""
    tokens, first = linked.reading.tokens, link.positions[0]
    for at in range(first - 1, max(-1, first - 1 - _WITHIN), -1):
        for name, way in shared_words().directions.items():
            if tokens[at].folded in way.said:
                return name
        if tokens[at].quote is not None or tokens[at].capital:
            return ""
    return ""
