"""Descriptions: all that a graph says of the one thing that a question names, and asks no more of.

"Tell me about Apollo 11", "who is Neil Armstrong?", or the name alone.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from pyoxigraph import NamedNode

from askgraph.index.names import Kind
from askgraph.rdf.vocabulary import DESCRIPTION_PREDICATES
from askgraph.search.grow import WORTH_KNOWN, WORTH_OPERATOR, Node, PartialMatch
from askgraph.search.grow.steps import Grower
from askgraph.search.linking import bits
from askgraph.search.linking.link import Link, Linked
from askgraph.search.linking.operators import Frame, Operator
from askgraph.search.operators import Lookups
from askgraph.search.operators.draft import Draft
from askgraph.search.operators.query_builder import Candidate
from askgraph.sparql import Pattern, Values

_NAMED, _NAMED_ALONE = 0.45, 0.8
"""How well words have to name a thing that is asked about, and one whose name is all there is."""
_THINGS = 3
"""So many things of one name are described, each for itself."""
_VALUES = 12
"""A predicate with more values than this of a thing lists its links rather than describe it."""


@dataclass(frozen=True)
class Wanted:
    """A description that a question asks for: of what, and how many words say so before it."""

    links: tuple[Link, ...]
    lead: int


def description_wanted(linked: Linked) -> Wanted | None:
    """Return what a question wants described; None if it asks for anything else."""
    reading = linked.reading
    words, size = reading.words.describing, len(reading.tokens)
    lead = next((len(phrase) for phrase in words["lead"] if reading.says(phrase, 0)), 0)
    first, last = lead, size - 1
    if size > lead and (reading.folded[lead],) in reading.words.times["one"]:
        return None  # "what is a moon?" asks for a kind of thing
    around = {phrase[0] for phrase in words["around"]}
    while first <= last and reading.folded[first] in around:
        first += 1
    while last >= first and reading.folded[last] in around:
        last -= 1
    content = {at for at in range(first, last + 1) if not reading.is_stop(at)}
    if not content:
        return None
    links = list(_naming(linked, content, range(first, last + 1), asked=lead > 0))
    return Wanted(tuple(links[:_THINGS]), lead) if links else None


def _naming(linked: Linked, content: set[int], rest: range, *, asked: bool) -> Iterator[Link]:
    """The things that the rest of a question names, and nothing but these.

    A name alone is rather that of a class or a predicate of the same name.
    """
    least = _NAMED if asked else _NAMED_ALONE
    if not asked:
        nouns = (
            one for one in linked.of(Kind.CLASS, Kind.PREDICATE) if content <= {*one.positions}
        )
        least = max([least, *(one.score for one in nouns)])
    for one in linked.of(Kind.ENTITY, Kind.VALUE):
        whole = content <= {*one.positions} and {rest[0], rest[-1]} <= {*one.positions}
        if whole and one.score >= least:
            yield one


def with_description(frame: Frame, wanted: Wanted | None) -> Frame:
    """Return a frame that knows that a description is asked for, if words say so."""
    if wanted is None or not wanted.lead:
        return frame
    others = tuple(one for one in frame.operators if one.first >= wanted.lead)
    asking = Operator("describe", 0, wanted.lead - 1)
    return replace(frame, operators=(asking, *others), asks=None)


def described(grower: Grower, frame: Frame, wanted: Wanted) -> Iterator[Candidate]:
    """Build the descriptions of the things wanted: a row for each property and value."""
    lookups = Lookups(grower, frame)
    for link in wanted.links:
        thing = lookups.thing_of(link)
        predicates = _telling(grower, thing) if thing is not None else []
        if thing is not None and predicates:
            yield _description(grower, link, thing, predicates, wanted.lead)


def _telling(grower: Grower, thing: int) -> list[int]:
    """The predicates that describe a thing, without names and without long lists of links."""
    schema = grower.schema
    numbers, counts = grower.graph.predicates_of(np.array([thing], dtype=np.int32))
    found = [
        number
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True)
        if count <= _VALUES and (number in schema.open or _tells(grower, number, count))
    ]
    return found if any(number != schema.kind for number in found) else []


def _tells(grower: Grower, number: int, count: int) -> bool:
    """Whether a predicate says in one sentence, or by a class, what a thing is."""
    if number == grower.schema.kind:
        return True
    return count == 1 and grower.graph.iri_of(number) in DESCRIPTION_PREDICATES


def _description(
    grower: Grower, link: Link, thing: int, predicates: list[int], lead: int
) -> Candidate:
    ids = np.array([thing], dtype=np.int32)
    node = Node(ids, terms=(thing,), link=link)
    asking = bits(range(lead))
    known = 1 + WORTH_KNOWN * math.log10(1 + grower.graph.degree(thing))
    gain = grower.gain(link, 0) * known + grower.weight_of(asking)
    gain += WORTH_OPERATOR if lead else 0.0
    state = PartialMatch(node, link.mask | asking, gain, anchored=True)
    draft = Draft(grower.schema)
    end = draft.grow(node).end
    name, value = draft.variable("property"), draft.variable("value")
    rows = tuple((NamedNode(grower.graph.iri_of(number)),) for number in predicates)
    draft.given.append(Values((name,), rows))
    draft.patterns.append(Pattern(end, name, value))
    draft.columns = [name, value]
    return Candidate(
        draft.query(),
        (name, value),
        draft.hints,
        state,
        end,
        ids,
        state.used,
        gain,
        0.0,
        1,
        ("describe",),
        link.mask,
    )
