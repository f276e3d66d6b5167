"""Descriptions: all that a graph says of the one thing that a question names, and asks no more of.

"Tell me about Apollo 11", "who is Neil Armstrong?", or the name alone.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from pyoxigraph import NamedNode

from askgraph.search.grow import WORTH_KNOWN, WORTH_OPERATOR, Node, PartialMatch
from askgraph.search.grow.steps import Grower
from askgraph.search.linking import bits
from askgraph.search.linking.link import Link
from askgraph.search.linking.operators import Frame
from askgraph.search.operators import Lookups
from askgraph.search.operators.draft import Draft
from askgraph.search.operators.query_builder import Candidate
from askgraph.sparql import Pattern, Values
from askgraph.sparql.vocabulary import DESCRIPTION_PREDICATES

_VALUES = 12
"""A predicate with more values than this of a thing lists its links rather than describe it."""


def described(
    grower: Grower, frame: Frame, links: Sequence[Link], lead: int
) -> Iterator[Candidate]:
    """Build the descriptions of the things that links name: a row for each property and value.

    So many words say before their name that a description is asked for.
    """
    lookups = Lookups(grower, frame)
    for link in links:
        thing = lookups.thing_of(link)
        predicates = _telling(grower, thing) if thing is not None else []
        if thing is not None and predicates:
            yield _description(grower, link, thing, predicates, lead)


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
