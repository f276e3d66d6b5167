"""Operators of time: in a year, during an event, now, formerly; and spans with start and end."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Variable

from askgraph.index.names import Kind
from askgraph.search.linking.link import Link
from askgraph.search.linking.operators import Operator
from askgraph.search.linking.quantities import Quantity
from askgraph.search.operators.attachment import DATED, Places, unnamed_spot
from askgraph.search.operators.draft import Place, day_term
from askgraph.search.operators.query_builder import QueryBuilder, Slot
from askgraph.search.query import condition, denied, pattern
from askgraph.sparql.tree import Term
from askgraph.traversal.arrays import Ids
from askgraph.traversal.literals import Sort

_NOTED = frozenset(("at", "now", "past", "during", "between"))


def at(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "In 1995": what had started and not ended then, if no word asks for the start itself."""
    quantity = next(q for q in places.reading.quantities if q.first == operator.first)
    one = asked_span(places, work)
    if one is None and "age_then" in work.notes:
        return True
    if one is None or quantity.days is None or is_point(places, work, one, quantity):
        return False
    return overlapping(places, work, one, *quantity.days)


def now(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "Currently", "still": what has not ended; else the latest of dated statements."""
    one = asked_span(places, work, named=True, operator=operator)
    if one is not None and unfinished(places, work, one):
        if one.life:
            places.take_tokens(work, alive_words(places))
        return True
    return _latest(places, work)


def past(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "Former": what has ended."""
    one = asked_span(places, work, named=True, operator=operator)
    return one is not None and over(places, work, one)


def ongoing(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "Active", "in office": said of a time that other words give, else of today."""
    if _NOTED & set(work.notes):
        return True
    if places.frame.of(*_NOTED, "before", "after"):
        return False
    return now(places, work, operator)


def lasted(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "Last": the verb of "how long did it last"."""
    return "elapsed" in work.notes


def during(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "During X": at the time between the start and the end of a thing that X names."""
    for link in places.linked.of(Kind.ENTITY, Kind.VALUE):
        near = 0 < link.positions[0] - operator.last <= 3
        if near and places.grower.gain(link, work.used) and _during(places, work, link):
            work.take(link.mask, places.grower.gain(link, work.used))
            return True
    return False


def _latest(places: Places, work: QueryBuilder) -> bool:
    """The statement without a name that no other of the same thing is later than."""
    for place in work.draft.places:
        if not isinstance(place.end, Variable) or not places.schema.is_nameless(place.node.ids):
            continue
        dates = [
            number
            for iri in places.schema.times.dates
            if (number := places.schema.number(iri)) is not None
            and places.applies(place.node.ids, number, False)
        ]
        if not dates:
            continue
        leading = next((p for p in work.draft.patterns if p.object == place.end), None)
        if leading is None:
            continue
        date = places.hang(work, unnamed_spot(place, dates[0]))
        other = work.draft.variable("other " + work.draft.hints[place.end])
        later = work.draft.variable("later " + work.draft.hints[date])
        iri = places.graph.iri_of(dates[0])
        patterns = (replace(leading, object=other), pattern(other, iri, later))
        work.draft.denied.append(denied(*patterns, condition(later, ">", date)))
        return True
    return False


def _during(places: Places, work: QueryBuilder, link: Link) -> bool:
    """Put what the pattern is about into the time of a thing: its span, or its one date."""
    event = places.thing_of(link)
    if event is None:
        return False
    node = np.array([event], dtype=np.int32)
    dates = _event_dates(places, node)
    if dates is None:
        return False
    first, last = dates
    subject, draft = places.graph.terms.term(event), work.draft
    if _point_during(places, work, subject, first, last):
        return True
    one = spanned(places, work, named=True)
    if one is None or places.schema.datatype(one.start) != places.schema.datatype(first):
        return False
    low = float(days_of(places, node, first, np.nan)[0])
    high = float(days_of(places, node, last, low)[0])
    ids = places.ids_at(work, one.place)
    starts = days_of(places, ids, one.start, np.inf)
    ends = days_of(places, ids, one.end, np.inf)
    kept = ids[(starts <= high) & (ends >= low)]
    if not len(kept):
        return False
    opens, closes = _bounds(work, places, subject, first, last)
    start = places.hang(work, unnamed_spot(one.place, one.start))
    draft.filters.append(condition(start, "<=", closes))
    iri = places.graph.iri_of(one.end)
    end = draft.variable(draft.hint_of(iri))
    earlier = condition(end, "<", opens)
    draft.denied.append(denied(pattern(one.place.end, iri, end), earlier))
    places.keep(work, one.place, kept)
    return True


def _point_during(places: Places, work: QueryBuilder, subject: Term, first: int, last: int) -> bool:
    """ "Launched during X": the date that words name lies in the time of X."""
    datatype = places.schema.datatype(first)
    for slot in work.slots:
        spot = places.spot(work, slot, sorts=DATED) if work.is_left(slot) else None
        if spot is None or places.schema.datatype(spot.predicate) != datatype:
            continue
        opens, closes = _bounds(work, places, subject, first, last)
        date = places.hang(work, spot)
        places.use(work, slot, spot.link)
        work.draft.filters += [condition(date, ">=", opens), condition(date, "<=", closes)]
        return True
    return False


def _bounds(
    work: QueryBuilder, places: Places, subject: Term, first: int, last: int
) -> tuple[Variable, Variable]:
    """The variables of an event's start and end; the same one if it has a single date."""
    found = []
    for number in dict.fromkeys((first, last)):
        iri = places.graph.iri_of(number)
        variable = work.draft.variable(work.draft.hint_of(iri))
        work.draft.patterns.append(pattern(subject, iri, variable))
        found.append(variable)
    return found[0], found[-1]


def _event_dates(places: Places, node: Ids) -> tuple[int, int] | None:
    """The predicates of an event's start and end: a span that it has whole, or its one date."""
    for start, end, _ in places.schema.spans:
        if all(len(places.graph.step(node, number)) for number in (start, end)):
            return start, end
    present = places.graph.predicates_of(node)[0].tolist()
    dated = [n for n in present if places.sort(n) in (Sort.DATE, Sort.YEAR)]
    return (dated[0], dated[0]) if len(dated) == 1 else None


_FAR = float("inf")
_NAMED, _NAMED_NEAR, _APART = 0.6, 0.4, 0.1
_NEAR = 2


@dataclass(frozen=True, eq=False)
class Spanned:
    """A place whose nodes start and end by two predicates (their numbers)."""

    place: Place
    start: int
    end: int
    life: bool = False


def spanned(
    places: Places, work: QueryBuilder, *, named: bool, life: bool = False, constant: bool = False
) -> Spanned | None:
    """Return where in the pattern something starts and ends; relations without a name go first.

    Things with a name only count if `named`, and their lives if `life`; a thing that the question
    names itself if `constant`.
    """
    found: list[tuple[int, int, int, Spanned]] = []
    for number, (start, end, is_life) in enumerate(places.schema.spans):
        for place in work.draft.places:
            if (is_life and not life) or not (constant or isinstance(place.end, Variable)):
                continue
            ids = place.node.ids
            if not places.is_resource(ids) or not places.applies(ids, start, False):
                continue
            nameless = places.schema.is_nameless(ids)
            if nameless or named:
                one = Spanned(place, start, end, is_life)
                found.append((not nameless, place.below, number, one))
    return min(found, key=lambda one: one[:3])[3] if found else None


def asked_span(
    places: Places, work: QueryBuilder, *, named: bool = False, operator: Operator | None = None
) -> Spanned | None:
    """Return the span that words of time are about.

    Things with a name count if other words say that they go on ("active", "alive").
    """
    said = places.frame.of("ongoing", *(("now", "past") if named else ()))
    operators = (*said, operator) if operator is not None else said
    at = {at for one in operators for at in one.positions}
    alive = set(alive_words(places))
    apart = operator is not None and operator.name == "now"  # "leben noch", "lebt sie noch"
    life = bool(alive if apart else alive & at)
    return spanned(places, work, named=named or bool(said), life=life)


def alive_words(places: Places) -> list[int]:
    """The tokens that speak of a life: "alive", "leben"."""
    words = {phrase[0] for phrase in places.reading.words.times["alive"]}
    return [at for at, token in enumerate(places.reading.tokens) if token.folded in words]


def is_point(places: Places, work: QueryBuilder, one: Spanned, quantity: Quantity) -> bool:
    """Return whether words name the start or the end, not both: "started in 1995".

    Words that stand right before the time may name those of something else in the pattern.
    """
    near = [slot for slot in work.slots if 0 < quantity.first - slot.last <= _NEAR]
    return _names_one(places, work.slots, (one.start, one.end), _NAMED) or any(
        _names_one(places, near, span[:2], _NAMED_NEAR) for span in places.schema.spans
    )


def _names_one(
    places: Places, slots: Sequence[Slot], span: tuple[int, int], at_least: float
) -> bool:
    start, end = (places.graph.iri_of(number) for number in span)
    for slot in slots:
        first, last = _fit(slot, start), _fit(slot, end)
        if max(first, last) >= at_least and abs(first - last) > _APART:
            return True
    return False


def _take_names(places: Places, work: QueryBuilder, one: Spanned) -> None:
    """Words that name the start and the end alike name the time between: "in service"."""
    start, end = (places.graph.iri_of(number) for number in (one.start, one.end))
    for slot in work.slots:
        if work.is_left(slot) and _fit(slot, start) and _fit(slot, end):
            places.use(work, slot, slot.links[0])


def _fit(slot: Slot, iri: str) -> float:
    """How well words name a predicate."""
    fits = (one.score * one.quality for one in slot.links if one.target == iri)
    return max(fits, default=0.0)


def days_of(places: Places, nodes: Ids, predicate: int, missing: float) -> NDArray[np.float64]:
    """The day that a predicate gives each node, the first one of several; else `missing`."""
    found = np.full(len(nodes), missing)
    bearers, objects = places.graph.pairs(nodes, predicate)
    literal = objects < places.graph.terms.first_iri
    at = np.searchsorted(nodes, bearers[literal][::-1])
    found[at] = places.graph.values[objects[literal][::-1]]
    return found


def overlapping(places: Places, work: QueryBuilder, one: Spanned, low: float, high: float) -> bool:
    """Require that something had started by the last of some days and not ended before the first.

    What has no end goes on. Nothing is required, and False returned, if nothing fits.
    """
    ids = places.ids_at(work, one.place)
    starts = days_of(places, ids, one.start, _FAR)
    ends = days_of(places, ids, one.end, _FAR)
    kept = ids[(starts < high + 1) & (ends >= low)]
    if not len(kept):
        return False
    start = places.hang(work, unnamed_spot(one.place, one.start))
    closes = _literal(places, one.start, high, end=True)
    work.draft.filters.append(condition(start, "<=", closes))
    _not_ended(places, work, one, _literal(places, one.end, low), always=bool((ends < _FAR).all()))
    _take_names(places, work, one)
    places.keep(work, one.place, kept)
    return True


def unfinished(places: Places, work: QueryBuilder, one: Spanned) -> bool:
    """Require that something has no end, or none up to today; False if nothing fits."""
    ids, today = places.ids_at(work, one.place), places.frame.today
    starts = days_of(places, ids, one.start, -_FAR)
    ends = days_of(places, ids, one.end, _FAR)
    kept = ids[(starts < today + 1) & (ends >= today)]
    if not len(kept):
        return False
    if bool((starts >= today + 1).any()):
        start = places.hang(work, unnamed_spot(one.place, one.start))
        bound = _literal(places, one.start, today, end=True)
        work.draft.filters.append(condition(start, "<=", bound))
    future = bool((ends[ends < _FAR] >= today).any())
    ended = _literal(places, one.end, today) if future else None
    _not_ended(places, work, one, ended, always=False)
    _take_names(places, work, one)
    places.keep(work, one.place, kept)
    return True


def over(places: Places, work: QueryBuilder, one: Spanned) -> bool:
    """Require that something has ended by today; False if nothing has."""
    ids, today = places.ids_at(work, one.place), places.frame.today
    ends = days_of(places, ids, one.end, _FAR)
    kept = ids[ends < today]
    if not len(kept):
        return False
    end = places.hang(work, unnamed_spot(one.place, one.end))
    if bool((ends[ends < _FAR] >= today).any()):
        work.draft.filters.append(condition(end, "<", _literal(places, one.end, today)))
    places.keep(work, one.place, kept)
    return True


def _not_ended(
    places: Places, work: QueryBuilder, one: Spanned, bound: Term | None, *, always: bool
) -> None:
    """No end before a bound, or none at all; if all have ends, an end from the bound on."""
    draft, iri = work.draft, places.graph.iri_of(one.end)
    if always and bound is not None:
        end = places.hang(work, unnamed_spot(one.place, one.end))
        draft.filters.append(condition(end, ">=", bound))
        return
    end = draft.variable(draft.hint_of(iri))
    filters = [] if bound is None else [condition(end, "<", bound)]
    draft.denied.append(denied(pattern(one.place.end, iri, end), *filters))


def _literal(places: Places, predicate: int, day: float, *, end: bool = False) -> Term:
    return day_term(day, places.schema.datatype(predicate), end=end)
