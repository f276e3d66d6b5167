"""Misread steps: relations that go the other way than grammar says, and steps too many."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from pyoxigraph import NamedNode, Variable

from askgraph.index.names import Kind
from askgraph.search.expand import SURE
from askgraph.search.expand.schema import Schema, is_mirrored
from askgraph.search.link import Link, LinkedQuestion
from askgraph.search.operators.query_builder import Candidate
from askgraph.search.query_pieces import patterns_in, predicate_of, variable_of
from askgraph.search.tokenize.word_lists import shared_words
from askgraph.sparql import Pattern, Query, walk
from askgraph.sparql.vocabulary import RDF_TYPE

_OWN_WORDS = 0.95  # words of such quality are a relation's own, but for an ending
_ARTICLES = 2  # function words between a verb and what it is about


@dataclass(frozen=True)
class EdgeDirections:
    """Tells how the grammar of one question has relations read."""

    linked: LinkedQuestion
    schema: Schema

    def turned(self, candidate: Candidate) -> float:
        """Return how many relations are read against it, of those that a thing has both ways.

        "Who taught X" seeks the teacher, "whom did X teach" the one who was taught.
        """
        count = 0.0
        for one in patterns_in(candidate.tree.where) if self._relations and self._things else ():
            relation = self._relations.get(predicate_of(one))
            for end in (one.subject, one.object) if relation is not None else ():
                thing = self._things.get(end.value) if isinstance(end, NamedNode) else None
                if relation is not None and thing is not None and relation.target != RDF_TYPE:
                    count += self._is_turned(relation, thing, end is one.subject)
        return count

    @cached_property
    def _relations(self) -> Mapping[str, Link]:
        """The best link to each predicate."""
        return {one.target: one for one in reversed(self.linked.of(Kind.PREDICATE))}

    @cached_property
    def _things(self) -> Mapping[str, Link]:
        """The best link to each thing."""
        return {one.target: one for one in reversed(self.linked.of(Kind.ENTITY))}

    def _is_turned(self, relation: Link, thing: Link, is_subject: bool) -> bool:
        schema = self.schema
        number, at = schema.number(relation.target), schema.node(thing.target)
        if number is None or at is None or is_mirrored(schema, number):
            return False
        node = np.array([at], dtype=np.int32)
        if any(number not in schema.graph.present(node, inverse=way) for way in (False, True)):
            return False
        acts = thing_acts(relation, thing, self.linked, schema.texts(number))
        return acts is not None and acts != is_subject


def thing_acts(
    relation: Link, thing: Link, linked: LinkedQuestion, names: tuple[str, ...]
) -> bool | None:
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


def needless(
    candidate: Candidate, used: Iterable[Link], linked: LinkedQuestion, schema: Schema
) -> float:
    """Return how many steps lead to something that nothing else is about and no word asks for.

    They only keep what has such a step at all. A noun that is the class of what the step starts
    from, or ends in, does not ask for the other end: `used` are the readings of words. So it is if
    what goes on between two things is not what words name, which hangs beside them.
    """
    if candidate.asks:
        return 0.0
    patterns = patterns_in(candidate.tree.where)
    ends = Counter(
        end for one in patterns for end in (one.subject, one.object) if isinstance(end, Variable)
    )
    shown = set(map(variable_of, candidate.shown))
    if not any(count < 3 and end not in shown for end, count in ends.items()):
        return 0.0
    elsewhere = set(_beside_patterns(candidate.tree))
    steps = [
        one
        for one in patterns
        if isinstance(one.subject, Variable) and isinstance(one.object, Variable)
    ]
    loose = [
        (one, end is one.subject)
        for one in steps
        for end in (one.subject, one.object)
        if isinstance(end, Variable) and ends[end] == 1 and end not in elsewhere
    ]
    typed = [one for one in patterns if predicate_of(one) == RDF_TYPE]
    aside = [  # its class is said, and one step
        one
        for one in typed
        if isinstance(one.subject, Variable)
        and ends[one.subject] == 2
        and one.subject not in elsewhere
    ]
    if not loose and not aside:
        return 0.0
    classes = {one.positions for one in linked.of(Kind.CLASS) if one.similarity > SURE}
    names = {(one.target, one.positions in classes) for one in used}
    idle = sum(not _is_asked(one, at_start, names, schema) for one, at_start in loose)
    return float(idle + (bool(aside) and _bypassed(aside, typed, steps, names, schema)))


def _beside_patterns(query: Query) -> Iterator[Variable]:
    """The variables of all parts of a query but the patterns that have to hold."""
    parts = tuple(one for one in query.where.elements if not isinstance(one, Pattern))
    for one in walk((parts, query.columns, query.order, query.having, query.group_by)):
        if isinstance(one, Variable):
            yield one


def _is_asked(one: Pattern, at_start: bool, names: set[tuple[str, bool]], schema: Schema) -> bool:
    """Whether words name a step, and more than the class of the end that it was taken from."""
    iri = predicate_of(one)
    number = schema.number(iri)
    says_end = number is not None and schema.names_subject(number) == at_start
    return (iri, False) in names or ((iri, True) in names and says_end)


def _bypassed(
    aside: Sequence[Pattern],
    typed: Sequence[Pattern],
    steps: Sequence[Pattern],
    names: set[tuple[str, bool]],
    schema: Schema,
) -> bool:
    """Whether a thing hangs beside one that leads on through something that no word names."""
    said = {one.subject for one in typed}
    beside = {one.subject for one in aside}
    ends = [(one, one.subject, one.object) for one in steps]
    ends += [(one, one.object, one.subject) for one in steps]
    hooks = {end for _, start, end in ends if start in beside}
    through = {end for _, start, end in ends if start in hooks and end not in said}
    return any(
        sum(start == node for _, start, _ in ends) > 1
        and not any(
            _is_asked(one, one.subject == node, names, schema)
            for one, start, _ in ends
            if start == node
        )
        for node in through
    )
