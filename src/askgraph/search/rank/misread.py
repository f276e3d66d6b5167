"""Misread directions: a relation that goes the other way than grammar says."""

import numpy as np
from pyoxigraph import NamedNode

from askgraph.index.names import Kind
from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.search.grow.predicates import is_mirrored
from askgraph.search.grow.schema import Schema
from askgraph.search.linking.link import Link, Linked
from askgraph.search.linking.word_lists import shared_words
from askgraph.search.operators.query_builder import Candidate
from askgraph.search.query import patterns_in, predicate_of

_OWN_WORDS = 0.95
"""Words of such quality are a relation's own, but for an ending."""
_ARTICLES = 2
"""Function words between a verb and what it is about."""


def turned(candidate: Candidate, linked: Linked, schema: Schema) -> float:
    """Return how many relations are read against the grammar, of those that a thing has both ways.

    "Who taught X" seeks the teacher, "whom did X teach" the one who was taught.
    """
    return float(
        sum(
            _is_turned(predicate_of(one), end.value, end is one.subject, linked, schema)
            for one in patterns_in(candidate.tree.where)
            for end in (one.subject, one.object)
            if isinstance(end, NamedNode) and predicate_of(one) != RDF_TYPE
        )
    )


def _is_turned(
    predicate: str, thing: str, is_subject: bool, linked: Linked, schema: Schema
) -> bool:
    number, at = schema.number(predicate), schema.graph.terms.iri(thing)
    if number is None or at is None or is_mirrored(schema, number):
        return False
    node = np.array([at], dtype=np.int32)
    if any(number not in schema.graph.present(node, inverse=way) for way in (False, True)):
        return False
    relations = [one for one in linked.of(Kind.PREDICATE) if one.target == predicate]
    things = [one for one in linked.of(Kind.ENTITY) if one.target == thing]
    if not relations or not things:
        return False
    acts = thing_acts(relations[0], things[0], linked, schema.texts(number))
    return acts is not None and acts != is_subject


def thing_acts(relation: Link, thing: Link, linked: Linked, names: tuple[str, ...]) -> bool | None:
    """Whether grammar makes a thing the relation's subject; None if it does not say.

    A relation called "taught by" is the other way round, and so is one called "teacher of".
    """
    if relation.quality < _OWN_WORDS:
        return None
    reading, by = linked.reading, shared_words().agents
    last = [name.split()[-1] for name in names if name]
    of = {phrase[0] for phrase in reading.words.following["of"]}
    backwards = any(word in by or word in shared_words().names["subject"] for word in last)
    start, end = relation.positions[0], relation.positions[-1]
    between = [reading.tokens[at].folded for at in range(end + 1, thing.positions[0])]
    if thing.positions[-1] < start:  # "X's teacher", "whom did X teach"
        return not backwards
    apart = range(end + 1, thing.positions[0])
    if len(between) > _ARTICLES or not all(map(reading.is_stop, apart)):
        return None
    own = {reading.tokens[at].folded for at in relation.positions}
    if by & (own | set(between)):  # "taught by X"
        return not backwards
    if of & (own | set(between)):  # "the teacher of X"
        return not backwards
    articles = {phrase[0] for name in ("the", "one") for phrase in reading.words.times[name]}
    if not articles.issuperset(between) or shared_words().names["subject"] & set(last):
        return None  # "which moons has X"
    return backwards  # "who taught X"
