"""Two things that a question names, compared or reckoned with: which is larger, and by how much.

"Which is larger, X or Y", "how much larger is X than Y", "the ratio of the mass of X to that of Y".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from askgraph.graph.arrays import in_both
from askgraph.graph.literals import Sort
from askgraph.index.names import Kind
from askgraph.search.expand import Doubt, Node, PartialMatch, Worth
from askgraph.search.expand.beam_search import BeamSearch
from askgraph.search.link import Link
from askgraph.search.operators.query_builder import (
    DATED,
    NUMERIC,
    PAIRED,
    Candidate,
    Draft,
    Lookups,
)
from askgraph.search.operators.times import is_dated
from askgraph.search.tokenize import bits
from askgraph.search.tokenize.question_operators import Operator, QuestionOperators
from askgraph.search.tokenize.word_lists import Measure
from askgraph.sparql import Call, Expression, Term, Values
from askgraph.sparql.elapsed import elapsed

_NAMED = 0.45  # words name a thing so well, or a class
_GAP = 9  # so many words may stand between the two
_EACH = 2  # so many readings of a name are tried, and so many properties

How = Literal["which", "-", "/", "+"]


@dataclass(frozen=True)
class _Asked:
    """What is asked of two things, by which operators; `up` if the larger one is meant."""

    how: How
    operators: tuple[Operator, ...]
    measure: Measure | None = None
    up: bool = True


@dataclass(frozen=True)
class _Property:
    """A property that both have, with one value each; `links` are the words that name it."""

    number: int
    values: tuple[float, float]
    links: tuple[Link, ...] = ()
    doubt: float = 0.0


def compare_pairs(search: BeamSearch, frame: QuestionOperators) -> Iterator[Candidate]:
    """Build what compares two things or reckons with them, if words ask for it."""
    asked = _asked(frame)
    if asked is None:
        return
    lookups = Lookups(search, frame)
    for first, second in _pairs(search, frame, asked):
        between = range(first.positions[-1] + 1, second.positions[0])
        joins = [one for one in frame.of("or", "and") if one.first in between]
        asked = replace(asked, operators=(*asked.operators, *joins[:1]))
        things = lookups.thing_of(first), lookups.thing_of(second)
        if things[0] is None or things[1] is None or things[0] == things[1]:
            continue
        both = things[0], things[1]
        for one in _properties(lookups, asked, both, first.mask | second.mask):
            yield _built(search, asked, (first, second), both, one)


def _asked(frame: QuestionOperators) -> _Asked | None:
    """What the words ask of two things; None for nothing of the kind."""
    compares = _comparing(frame)
    for name, how in _RECKONED.items():
        for one in frame.of(name):
            others = () if compares is None or name == "sum" else compares.operators
            return _Asked(how, (one, *others))
    if compares is None:
        return None
    adjective = compares.operators[0]
    if adjective.name != "superlative" or adjective.last > adjective.first:
        how_much = frame.reading.words.clauses["by_how_much"]
        before = [one for one in frame.of("count") if one.last < adjective.first]
        how_often = before and before[-1].last + 1 == adjective.first
        if how_often and compares.measure is not None:
            return replace(compares, how="/", operators=(before[-1], adjective))
        if how_often or not how_much.isdisjoint(frame.reading.folded[: adjective.first]):
            return replace(compares, how="-", operators=(*before[-1:], adjective))
    return compares if frame.of("or") else None


def _comparing(frame: QuestionOperators) -> _Asked | None:
    """The adjective that compares, or the word for more or fewer of what is named."""
    adjectives = frame.of("comparative", "superlative")
    if len(adjectives) == 1 and adjectives[0].measure is not None:
        return _Asked("which", adjectives, adjectives[0].measure, adjectives[0].measure.up)
    reading, bounds = frame.reading, frame.of("more_than", "less_than")
    taken = frame.mask & ~sum(one.mask for one in bounds if frame.quantity_after(one) is None)
    for at, word in enumerate(reading.folded if not adjectives else ()):
        for name, up in (("more", True), ("fewer", False)):
            if word in reading.words.clauses[name] and not taken >> at & 1:
                return _Asked("which", (Operator(name, at, at),), None, up)
    return None


_RECKONED: dict[str, How] = {"ratio": "/", "difference": "-", "sum": "+"}


def _pairs(
    search: BeamSearch, frame: QuestionOperators, asked: _Asked
) -> Iterator[tuple[Link, Link]]:
    """The two things that are named, in the order of the question, in some readings."""
    taken = sum(one.mask for one in asked.operators)
    found: dict[tuple[int, ...], list[Link]] = {}
    for one in search.linked.of(Kind.ENTITY, Kind.VALUE):
        if one.score >= _NAMED and not one.mask & taken:
            found.setdefault(one.positions, []).append(one)
    worth = {at: max(search.gain(one, 0) for one in links) for at, links in found.items()}
    spans = sorted(found, key=lambda at: -worth[at])
    if not spans:
        return
    apart = next((at for at in spans if not {*at} & {*spans[0]}), None)
    if apart is None:
        return
    first, second = sorted((spans[0], apart))
    joined = frame.of("or") if asked.how == "which" else ()
    between = range(first[-1] + 1, second[0])
    if len(between) > _GAP or (joined and not any(one.first in between for one in joined)):
        return
    for mine in found[first][:_EACH]:
        for other in found[second][:_EACH]:
            yield mine, other


def _properties(
    lookups: Lookups, asked: _Asked, things: tuple[int, int], named: int
) -> Iterator[_Property]:
    """The properties that words name, else those that the adjective measures."""
    schema = lookups.schema
    known = dict(_known(lookups, things, NUMERIC if asked.how in ("+", "/") else NUMERIC + DATED))
    said: dict[int, list[Link]] = {}
    for link in lookups.linked.of(Kind.PREDICATE):
        number = schema.number(link.target)
        if number in known and not link.mask & named:
            said.setdefault(number, []).append(link)
    gain = lookups.search.gain
    best = sorted(said, key=lambda at: -max(gain(link, 0) for link in said[at]))
    for number in best[:_EACH]:
        yield _Property(number, known[number], tuple(said[number]))
    if not said:
        yield from _measured(lookups, asked, known)


def _known(
    lookups: Lookups, things: tuple[int, int], sorts: Sequence[Sort]
) -> Iterator[tuple[int, tuple[float, float]]]:
    """What two things have one value of some sorts each of, with the values."""
    graph = lookups.graph
    ids = [np.array([one], dtype=np.int32) for one in things]
    for number in in_both(*(graph.predicates_of(one)[0] for one in ids)).tolist():
        if lookups.schema.sort(number) in sorts:
            values = [graph.values[graph.step(one, number)].tolist() for one in ids]
            if all(len(listed) == 1 for listed in values):
                yield number, (values[0][0], values[1][0])


def _measured(
    lookups: Lookups, asked: _Asked, known: Mapping[int, tuple[float, float]]
) -> Iterator[_Property]:
    """The property that an adjective measures."""
    measure = asked.measure
    if measure is None:
        return
    for words, sorts in ((measure.measures, NUMERIC), (measure.dates, DATED + NUMERIC)):
        fits = [number for number in known if lookups.schema.sort(number) in sorts]
        for word in words:
            held = [number for number in fits if word in lookups.schema.words(number)]
            for number in sorted(held, key=lambda one: len(lookups.schema.words(one)))[:1]:
                yield _Property(number, known[number], (), Doubt.OTHER_FITS)
                return


def _built(
    search: BeamSearch,
    asked: _Asked,
    named: tuple[Link, Link],
    things: tuple[int, int],
    one: _Property,
) -> Candidate:
    """The query over two things and a property of theirs."""
    dated = is_dated(search.schema, one.number, asked.measure)
    used, gain = 0, Worth.OPERATOR * len(asked.operators)
    for link in (*named, *one.links):
        gain += search.gain(link, used)
        used |= link.mask
    spoken = bits({at for item in asked.operators for at in item.positions})
    gain += search.weight_of(spoken & ~used)
    draft = Draft(search.schema)
    if asked.how == "which":
        node = _which(search, draft, asked, things, one, dated=dated)
        extra = node.cls_link
        if extra is not None:
            gain += search.gain(extra, used | spoken)
            used |= extra.mask
    else:
        node = Node(_ids(things[:1]), terms=things[:1], link=named[0])
        _reckoned(search, draft, node, asked, things, one)
    used |= spoken
    return Candidate(
        draft.query(),
        tuple(draft.columns),
        draft.hints,
        PartialMatch(node, used, gain, anchored=True),
        draft.places[0].end,
        node.ids,
        used,
        gain,
        one.doubt,
        len(draft.patterns),
        (PAIRED,),
        bits(at for link in one.links[:1] for at in link.positions),
        tuple(link for link in (*named, *one.links) if link != node.link),
    )


def _ids(things: tuple[int, ...]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(sorted(things), dtype=np.int32)


def _which(
    search: BeamSearch,
    draft: Draft,
    asked: _Asked,
    things: tuple[int, int],
    one: _Property,
    *,
    dated: bool,
) -> Node:
    """The one of two things that has more of a property, both if they have the same."""
    ids = _ids(things)
    cls = _class_of_both(search, things, sum(item.mask for item in asked.operators))
    node = Node(ids, cls=cls.target if cls is not None else None, cls_link=cls)
    place = draft.grow(node)
    rows = tuple((search.graph.terms.term(at),) for at in things)
    draft.given.append(Values((place.end,), rows))  # type: ignore[arg-type]
    value = draft.attach(place, one.number)
    name = search.schema.name_predicate(ids)
    shown = place.end if name is None else draft.attach(place, name)
    draft.columns = [shown]  # type: ignore[list-item]
    if one.values[0] != one.values[1]:
        turned = dated and asked.measure is not None  # the older one was born earlier
        draft.order, draft.limit = [(value, asked.up is not turned)], 1
    return node


def _class_of_both(search: BeamSearch, things: tuple[int, int], taken: int) -> Link | None:
    """The class that words say both are of."""
    for link in search.linked.of(Kind.CLASS):
        members = search.schema.instances(link.target)
        both = len(in_both(members, _ids(things))) == len(things)
        if both and link.score >= _NAMED and not link.mask & taken:
            return link
    return None


def _reckoned(
    search: BeamSearch,
    draft: Draft,
    node: Node,
    asked: _Asked,
    things: tuple[int, int],
    one: _Property,
) -> None:
    """The difference, the ratio or the sum of what two things have."""
    sort = search.schema.sort(one.number)
    places = [draft.grow(node), draft.grow(Node(_ids(things[1:]), terms=things[1:]))]
    mine, theirs = (draft.attach(place, one.number) for place in places)
    turned, hint = not asked.up, _HINTS[asked.how]
    if asked.how == "-" and (asked.operators[0].name == "difference" or sort in DATED):
        turned = one.values[0] < one.values[1]
    ends: tuple[Term, Term] = (theirs, mine) if turned else (mine, theirs)
    value: Expression = Call(asked.how, ends)
    if sort in DATED:
        unit = "calendar years" if sort is Sort.YEAR else "years"
        value = elapsed(unit, ends[1], ends[0])
    draft.columns = [draft.compute(f"{hint} {draft.hints[mine]}", value)]


_HINTS = {"-": "difference in", "/": "ratio of", "+": "total"}
