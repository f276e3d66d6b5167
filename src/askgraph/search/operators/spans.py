"""Things with a start and an end in a pattern, and what holds of them at some time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askgraph.search.form import Filter, Pattern
from askgraph.search.linking.operators import Operator
from askgraph.search.linking.quantities import Quantity
from askgraph.search.operators.attachment import Places, unnamed_spot
from askgraph.search.operators.days import day_literal
from askgraph.search.operators.draft import Place
from askgraph.search.operators.query_builder import Slot, Work
from askgraph.traversal.arrays import Ids

__all__ = [
    "Spanned",
    "alive_words",
    "asked_span",
    "days_of",
    "is_point",
    "over",
    "overlapping",
    "spanned",
    "unfinished",
]

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
    places: Places, work: Work, *, named: bool, life: bool = False, constant: bool = False
) -> Spanned | None:
    """Return where in the pattern something starts and ends; relations without a name go first.

    Things with a name only count if `named`, and their lives if `life`; a thing that the question
    names itself if `constant`.
    """
    found: list[tuple[int, int, int, Spanned]] = []
    for number, (start, end, is_life) in enumerate(places.schema.spans):
        for place in work.draft.places:
            if (is_life and not life) or not (constant or isinstance(place.variable, int)):
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
    places: Places, work: Work, *, named: bool = False, operator: Operator | None = None
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


def is_point(places: Places, work: Work, one: Spanned, quantity: Quantity) -> bool:
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


def _take_names(places: Places, work: Work, one: Spanned) -> None:
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


def overlapping(places: Places, work: Work, one: Spanned, low: float, high: float) -> bool:
    """Require that something had started by the last of some days and not ended before the first.

    What has no end goes on. Nothing is required, and False returned, where nothing fits.
    """
    ids = places.ids_at(work, one.place)
    starts = days_of(places, ids, one.start, _FAR)
    ends = days_of(places, ids, one.end, _FAR)
    kept = ids[(starts < high + 1) & (ends >= low)]
    if not len(kept):
        return False
    start = places.hang(work, unnamed_spot(one.place, one.start))
    work.draft.filters.append(Filter(start, "<=", (_literal(places, one.start, high, end=True),)))
    _not_ended(places, work, one, _literal(places, one.end, low), always=bool((ends < _FAR).all()))
    _take_names(places, work, one)
    places.keep(work, one.place, kept)
    return True


def unfinished(places: Places, work: Work, one: Spanned) -> bool:
    """Require that something has no end, or none up to today; False where nothing fits."""
    ids, today = places.ids_at(work, one.place), places.frame.today
    starts = days_of(places, ids, one.start, -_FAR)
    ends = days_of(places, ids, one.end, _FAR)
    kept = ids[(starts < today + 1) & (ends >= today)]
    if not len(kept):
        return False
    if bool((starts >= today + 1).any()):
        start = places.hang(work, unnamed_spot(one.place, one.start))
        bound = _literal(places, one.start, today, end=True)
        work.draft.filters.append(Filter(start, "<=", (bound,)))
    future = bool((ends[ends < _FAR] >= today).any())
    ended = _literal(places, one.end, today) if future else None
    _not_ended(places, work, one, ended, always=False)
    _take_names(places, work, one)
    places.keep(work, one.place, kept)
    return True


def over(places: Places, work: Work, one: Spanned) -> bool:
    """Require that something has ended by today; False where nothing has."""
    ids, today = places.ids_at(work, one.place), places.frame.today
    ends = days_of(places, ids, one.end, _FAR)
    kept = ids[ends < today]
    if not len(kept):
        return False
    end = places.hang(work, unnamed_spot(one.place, one.end))
    if bool((ends[ends < _FAR] >= today).any()):
        work.draft.filters.append(Filter(end, "<", (_literal(places, one.end, today),)))
    places.keep(work, one.place, kept)
    return True


def _not_ended(
    places: Places, work: Work, one: Spanned, bound: str | None, *, always: bool
) -> None:
    """No end before a bound, or none at all; where all have ends, an end from the bound on."""
    draft, iri = work.draft, places.graph.iri_of(one.end)
    if always and bound is not None:
        end = places.hang(work, unnamed_spot(one.place, one.end))
        draft.filters.append(Filter(end, ">=", (bound,)))
        return
    end = draft.variable(draft.hint_of(iri))
    filters = () if bound is None else (Filter(end, "<", (bound,)),)
    draft.without.append(((Pattern(one.place.variable, iri, end),), filters))


def _literal(places: Places, predicate: int, day: float, *, end: bool = False) -> str:
    return day_literal(day, places.schema.datatype(predicate), end=end)
