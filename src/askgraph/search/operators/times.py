"""Operators of time: in a year, during an event, now, formerly; and spans with start and end."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Variable

from askgraph.graph.arrays import Ids
from askgraph.graph.literals import Sort
from askgraph.index.names import Kind
from askgraph.search import condition, denied, pattern, variable_of
from askgraph.search.grow import BESIDE
from askgraph.search.linking.link import Link
from askgraph.search.linking.operators import Operator
from askgraph.search.linking.quantities import Quantity
from askgraph.search.operators import DATED, Slot
from askgraph.search.operators.draft import Place, day_term
from askgraph.search.operators.query_builder import Handlers, QueryBuilder, unnamed_spot
from askgraph.sparql import Term

_NOTED = frozenset(("at", "now", "past", "during", "between"))


def at(work: QueryBuilder, operator: Operator) -> bool:
    """ "In 1995": what had started and not ended then, if no word asks for the start itself."""
    quantity = next(q for q in work.reading.quantities if q.first == operator.first)
    one = asked_span(work)
    if one is None and "age_then" in work.notes:
        return True
    if one is None or quantity.days is None or is_point(work, one, quantity):
        return False
    return overlapping(work, one, *quantity.days)


def now(work: QueryBuilder, operator: Operator) -> bool:
    """ "Currently", "still": what has not ended; else the latest of dated statements."""
    one = asked_span(work, named=True, operator=operator)
    if one is not None and unfinished(work, one):
        if one.life:
            work.take_tokens(alive_words(work))
        return True
    return _latest(work)


def past(work: QueryBuilder, operator: Operator) -> bool:
    """ "Former": what has ended."""
    one = asked_span(work, named=True, operator=operator)
    return one is not None and over(work, one)


def ongoing(work: QueryBuilder, operator: Operator) -> bool:
    """ "Active", "in office": said of a time that other words give, else of today."""
    if _NOTED & set(work.notes):
        return True
    if work.frame.of(*_NOTED, "before", "after"):
        return False
    return now(work, operator)


def lasted(work: QueryBuilder, operator: Operator) -> bool:
    """ "Last": the verb of "how long did it last"."""
    return "elapsed" in work.notes


def during(work: QueryBuilder, operator: Operator) -> bool:
    """ "During X": at the time between the start and the end of a thing that X names."""
    for link in work.linked.of(Kind.ENTITY, Kind.VALUE):
        near = 0 < link.positions[0] - operator.last <= BESIDE
        if near and work.grower.gain(link, work.used) and _during(work, link):
            work.take_link(link)
            return True
    return False


def _latest(work: QueryBuilder) -> bool:
    """The statement without a name that no other of the same thing is later than."""
    for place in work.draft.places:
        if not isinstance(place.end, Variable) or not work.schema.is_nameless(place.node.ids):
            continue
        dates = [
            number
            for iri in work.schema.times.dates
            if (number := work.schema.number(iri)) is not None
            and work.lookups.applies(place.node.ids, number, False)
        ]
        if not dates:
            continue
        leading = next((p for p in work.draft.patterns if p.object == place.end), None)
        if leading is None:
            continue
        date = work.hang(unnamed_spot(place, dates[0]))
        other = work.draft.variable("other " + work.draft.hints[place.end])
        later = work.draft.variable("later " + work.draft.hints[date])
        iri = work.graph.iri_of(dates[0])
        patterns = (replace(leading, object=other), pattern(other, iri, later))
        work.draft.denied.append(denied(*patterns, condition(later, ">", date)))
        return True
    return False


def _during(work: QueryBuilder, link: Link) -> bool:
    """Put what the pattern is about into the time of a thing: its span, or its one date."""
    event = work.lookups.thing_of(link)
    if event is None:
        return False
    node = np.array([event], dtype=np.int32)
    dates = _event_dates(work, node)
    if dates is None:
        return False
    first, last = dates
    subject, draft = work.graph.terms.term(event), work.draft
    if _point_during(work, subject, first, last):
        return True
    one = spanned(work, named=True)
    if one is None or work.schema.datatype(one.start) != work.schema.datatype(first):
        return False
    low = float(days_of(work, node, first, np.nan)[0])
    high = float(days_of(work, node, last, low)[0])
    ids = work.ids_at(one.place)
    starts = days_of(work, ids, one.start, np.inf)
    ends = days_of(work, ids, one.end, np.inf)
    kept = ids[(starts <= high) & (ends >= low)]
    if not len(kept):
        return False
    opens, closes = _bounds(work, subject, first, last)
    start = work.hang(unnamed_spot(one.place, one.start))
    draft.filters.append(condition(start, "<=", closes))
    ended = draft.beside(one.place.end, one.end)
    draft.denied.append(denied(ended, condition(variable_of(ended.object), "<", opens)))
    work.keep(one.place, kept)
    return True


def _point_during(work: QueryBuilder, subject: Term, first: int, last: int) -> bool:
    """ "Launched during X": the date that words name lies in the time of X."""
    datatype = work.schema.datatype(first)
    for slot in work.slots:
        spot = work.spot(slot, sorts=DATED) if work.is_left(slot) else None
        if spot is None or work.schema.datatype(spot.predicate) != datatype:
            continue
        opens, closes = _bounds(work, subject, first, last)
        date = work.take_spot(spot)
        work.draft.filters += [condition(date, ">=", opens), condition(date, "<=", closes)]
        return True
    return False


def _bounds(work: QueryBuilder, subject: Term, first: int, last: int) -> tuple[Variable, Variable]:
    """The variables of an event's start and end; the same one if it has a single date."""
    found = []
    for number in dict.fromkeys((first, last)):
        work.draft.patterns.append(work.draft.beside(subject, number))
        found.append(variable_of(work.draft.patterns[-1].object))
    return found[0], found[-1]


def _event_dates(work: QueryBuilder, node: Ids) -> tuple[int, int] | None:
    """The predicates of an event's start and end: a span that it has whole, or its one date."""
    for start, end, _ in work.schema.spans:
        if all(len(work.graph.step(node, number)) for number in (start, end)):
            return start, end
    present = work.graph.predicates_of(node)[0].tolist()
    dated = [n for n in present if work.schema.sort(n) in (Sort.DATE, Sort.YEAR)]
    return (dated[0], dated[0]) if len(dated) == 1 else None


_FAR = float("inf")
_NAMED, _NAMED_NEAR = 0.6, 0.4
"""Words that fit a start or an end so well name it; right before the time, so well."""
_APART = 0.1
"""Words that fit a start and an end as nearly as this name neither of the two."""
_NEAR = 2
"""Words so near before a time are about it."""


@dataclass(frozen=True, eq=False)
class Spanned:
    """A place whose nodes start and end by two predicates (their numbers)."""

    place: Place
    start: int
    end: int
    life: bool = False


def spanned(
    work: QueryBuilder, *, named: bool, life: bool = False, constant: bool = False
) -> Spanned | None:
    """Return where in the pattern something starts and ends; relations without a name go first.

    Things with a name only count if `named`, and their lives if `life`; a thing that the question
    names itself if `constant`.
    """
    found: list[tuple[int, int, int, Spanned]] = []
    for number, (start, end, is_life) in enumerate(work.schema.spans):
        for place in work.draft.places:
            if (is_life and not life) or not (constant or isinstance(place.end, Variable)):
                continue
            ids = place.node.ids
            if not work.lookups.is_resource(ids) or not work.lookups.applies(ids, start, False):
                continue
            nameless = work.schema.is_nameless(ids)
            if nameless or named:
                one = Spanned(place, start, end, is_life)
                found.append((not nameless, place.below, number, one))
    return min(found, key=lambda one: one[:3])[3] if found else None


def asked_span(
    work: QueryBuilder, *, named: bool = False, operator: Operator | None = None
) -> Spanned | None:
    """Return the span that words of time are about.

    Things with a name count if other words say that they go on ("active", "alive").
    """
    said = work.frame.of("ongoing", *(("now", "past") if named else ()))
    operators = (*said, operator) if operator is not None else said
    at = {at for one in operators for at in one.positions}
    alive = set(alive_words(work))
    apart = operator is not None and operator.name == "now"  # "leben noch", "lebt sie noch"
    life = bool(alive if apart else alive & at)
    return spanned(work, named=named or bool(said), life=life)


def alive_words(work: QueryBuilder) -> list[int]:
    """The tokens that speak of a life: "alive", "leben"."""
    words = {phrase[0] for phrase in work.reading.words.times["alive"]}
    return [at for at, token in enumerate(work.reading.tokens) if token.folded in words]


def is_point(work: QueryBuilder, one: Spanned, quantity: Quantity) -> bool:
    """Return whether words name the start or the end, not both: "started in 1995".

    Words that stand right before the time may name those of something else in the pattern.
    """
    near = [slot for slot in work.slots if 0 < quantity.first - slot.last <= _NEAR]
    return _names_one(work, work.slots, (one.start, one.end), _NAMED) or any(
        _names_one(work, near, span[:2], _NAMED_NEAR) for span in work.schema.spans
    )


def _names_one(
    work: QueryBuilder, slots: Sequence[Slot], span: tuple[int, int], at_least: float
) -> bool:
    start, end = (work.graph.iri_of(number) for number in span)
    for slot in slots:
        first, last = _fit(slot, start), _fit(slot, end)
        if max(first, last) >= at_least and abs(first - last) > _APART:
            return True
    return False


def _take_names(work: QueryBuilder, one: Spanned) -> None:
    """Words that name the start and the end alike name the time between: "in service"."""
    start, end = (work.graph.iri_of(number) for number in (one.start, one.end))
    for slot in work.slots:
        if work.is_left(slot) and _fit(slot, start) and _fit(slot, end):
            work.use(slot, slot.links[0])


def _fit(slot: Slot, iri: str) -> float:
    """How well words name a predicate."""
    fits = (one.score * one.quality for one in slot.links if one.target == iri)
    return max(fits, default=0.0)


def days_of(work: QueryBuilder, nodes: Ids, predicate: int, missing: float) -> NDArray[np.float64]:
    """The day that a predicate gives each node, the first one of several; else `missing`."""
    found = np.full(len(nodes), missing)
    bearers, objects = work.graph.pairs(nodes, predicate)
    literal = objects < work.graph.terms.first_iri
    at = np.searchsorted(nodes, bearers[literal][::-1])
    found[at] = work.graph.values[objects[literal][::-1]]
    return found


def overlapping(work: QueryBuilder, one: Spanned, low: float, high: float) -> bool:
    """Require that something had started by the last of some days and not ended before the first.

    What has no end goes on. Nothing is required, and False returned, if nothing fits.
    """
    ids = work.ids_at(one.place)
    starts = days_of(work, ids, one.start, _FAR)
    ends = days_of(work, ids, one.end, _FAR)
    kept = ids[(starts < high + 1) & (ends >= low)]
    if not len(kept):
        return False
    start = work.hang(unnamed_spot(one.place, one.start))
    closes = _literal(work, one.start, high, end=True)
    work.draft.filters.append(condition(start, "<=", closes))
    _not_ended(work, one, _literal(work, one.end, low), always=bool((ends < _FAR).all()))
    _take_names(work, one)
    work.keep(one.place, kept)
    return True


def unfinished(work: QueryBuilder, one: Spanned) -> bool:
    """Require that something has no end, or none up to today; False if nothing fits."""
    ids, today = work.ids_at(one.place), work.frame.today
    starts = days_of(work, ids, one.start, -_FAR)
    ends = days_of(work, ids, one.end, _FAR)
    kept = ids[(starts < today + 1) & (ends >= today)]
    if not len(kept):
        return False
    if bool((starts >= today + 1).any()):
        start = work.hang(unnamed_spot(one.place, one.start))
        bound = _literal(work, one.start, today, end=True)
        work.draft.filters.append(condition(start, "<=", bound))
    future = bool((ends[ends < _FAR] >= today).any())
    ended = _literal(work, one.end, today) if future else None
    _not_ended(work, one, ended, always=False)
    _take_names(work, one)
    work.keep(one.place, kept)
    return True


def over(work: QueryBuilder, one: Spanned) -> bool:
    """Require that something has ended by today; False if nothing has."""
    ids, today = work.ids_at(one.place), work.frame.today
    ends = days_of(work, ids, one.end, _FAR)
    kept = ids[ends < today]
    if not len(kept):
        return False
    end = work.hang(unnamed_spot(one.place, one.end))
    if bool((ends[ends < _FAR] >= today).any()):
        work.draft.filters.append(condition(end, "<", _literal(work, one.end, today)))
    work.keep(one.place, kept)
    return True


def _not_ended(work: QueryBuilder, one: Spanned, bound: Term | None, *, always: bool) -> None:
    """No end before a bound, or none at all; if all have ends, an end from the bound on."""
    draft = work.draft
    if always and bound is not None:
        end = work.hang(unnamed_spot(one.place, one.end))
        draft.filters.append(condition(end, ">=", bound))
        return
    ended = draft.beside(one.place.end, one.end)
    filters = [] if bound is None else [condition(variable_of(ended.object), "<", bound)]
    draft.denied.append(denied(ended, *filters))


def _literal(work: QueryBuilder, predicate: int, day: float, *, end: bool = False) -> Term:
    return day_term(day, work.schema.datatype(predicate), end=end)


HANDLERS: Handlers = {
    "at": at,
    "during": during,
    "now": now,
    "past": past,
    "ongoing": ongoing,
    "lasted": lasted,
}
