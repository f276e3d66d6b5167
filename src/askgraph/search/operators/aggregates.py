"""Counts, averages, sums, and a row for each: how many, on average, in total, per."""

from functools import partial

from pyoxigraph import Variable

from askgraph.search.grow.weights import ACROSS, BESIDE
from askgraph.search.linking.operators import Operator
from askgraph.search.operators.lookups import DATED, NUMERIC
from askgraph.search.operators.query_builder import Handlers, QueryBuilder, Spot, unnamed_spot
from askgraph.search.query import aggregate, function_of, variable_of
from askgraph.sparql.tree import Call
from askgraph.traversal.literals import Sort

_MEASURABLE = (*NUMERIC, Sort.DATE, Sort.YEAR)


def each(work: QueryBuilder, operator: Operator) -> bool:
    """ "For each X": one row for each thing, or for each value, that X names."""
    slot, place = work.next_slot(operator.last), work.next_place(operator.last)
    if work.reading.folded[operator.last] in work.reading.words.clauses["rate"]:
        work.notes.append("rate")
    if place is not None and (slot is None or min(place.words) <= slot.first):
        work.group_by(place)
        return True
    spot = work.spot(slot)
    if slot is None or spot is None:
        return False
    work.group_by_value(work.shown(work.take_spot(spot), spot), slot.first)
    return True


_NAMED = 0.6
"""The word "year" is so much of a date's name that this very date is meant."""
_AGGREGATING = (
    *("count", "average", "sum", "minimum", "maximum"),
    *("most", "fewest", "superlative", "lasting", "measure"),
)


def yearly(work: QueryBuilder, operator: Operator) -> bool:
    """ "Per year": a row for each year of a date; how many things it is if nothing else is said."""
    spot = _dated(work, operator)
    if spot is None:
        return False
    date = work.take_spot(spot)
    if work.schema.sort(spot.predicate) in (Sort.DATE, Sort.TEXT_DATE):
        date = work.draft.compute("year", Call("YEAR", (date,)))
    work.group_by_value(date, operator.first)
    if not work.frame.of(*_AGGREGATING):
        work.notes.append("rate")
    return True


def _dated(work: QueryBuilder, operator: Operator) -> Spot | None:
    """The date whose years are meant: one that words name, else the start of a span, else any."""
    named = [slot for slot in work.slots if work.is_left(slot)]
    for slot in sorted(named, key=lambda one: not one.mask & operator.mask):
        spot = work.spot(slot, sorts=DATED)
        if spot is not None and not spot.path and _is_meant(spot, operator):
            return spot
    present = work.predicates_at(work.root)
    starts = (start for start, end, _ in work.schema.spans if {start, end} & {*present})
    start = next((one for one in starts if one in present), None)
    return work.only(DATED) if start is None else unnamed_spot(work.root, start)


def _is_meant(spot: Spot, operator: Operator) -> bool:
    """Whether words that name a date are more than the "year" of "per year"."""
    others = [at for at in spot.link.positions if at not in operator.positions]
    return bool(others) or spot.link.score * spot.link.quality >= _NAMED


def counted_rate(work: QueryBuilder) -> None:
    """ "Launches per country": without another measure, it is how many there are."""
    draft, counted = work.draft, work.root.end
    bare = len(work.projected) == len(draft.group) and not (draft.columns or draft.order)
    free = isinstance(counted, Variable) and counted not in draft.group
    if "rate" in work.notes and bare and free:
        draft.columns.append(aggregate("COUNT", variable_of(counted), distinct=True))


def count(work: QueryBuilder, operator: Operator) -> bool:
    """ "How many X": count things; if X is a number in the graph, leave it to be shown."""
    slot, place = work.next_slot(operator.last), work.next_place(operator.last)
    if slot is not None and (place is None or slot.first <= min(place.words)):
        spot = work.spot(slot)
        if spot is None:
            return False
        number = work.schema.sort(spot.predicate) is Sort.NUMBER
        several = number and not spot.inverse and not work.schema.is_functional(spot.predicate)
        distinct = not number or _counts_values(work, operator)
        if not distinct and not several:
            return False
        counted = work.take_spot(spot)
        work.draft.columns.append(aggregate("COUNT", counted, distinct=distinct))
        return True
    if place is None and work.spot(work.last_slot(operator.first, 1), sorts=NUMERIC) is not None:
        return True  # "employee count": the slot itself is shown
    place = place or work.root
    if not isinstance(place.end, Variable):
        return False
    work.draft.columns.append(aggregate("COUNT", place.end, distinct=True))
    return True


def _counts_values(work: QueryBuilder, operator: Operator) -> bool:
    """Whether words say that equal numbers count once: "how many different"."""
    distinct = {phrase[0] for phrase in work.reading.words.operators["distinct"]}
    return any(work.reading.tokens[at].folded in distinct for at in operator.positions)


def alone(work: QueryBuilder, operator: Operator) -> bool:
    """Whether nothing else is asked for before the operator: "what is the maximum …"."""
    asked = [s for s in work.slots if s.first < operator.first and work.is_left(s)]
    named = [p for p in work.draft.places for at in p.words if at < operator.first]
    return not asked and not named and work.zones.is_head(operator.first)


def aggregated(work: QueryBuilder, operator: Operator, function: str) -> bool:
    """ "The average X": show an aggregate of the number that the words after an operator name."""
    variable = _aggregand(work, operator)
    if variable is None:
        return False
    work.draft.columns.append(aggregate(function, variable))
    return True


def _aggregand(work: QueryBuilder, operator: Operator) -> Variable | None:
    """The number that an aggregate is over; several aggregates may share one."""
    slot = work.next_slot(operator.last, ACROSS)
    spot = work.spot(slot, sorts=_MEASURABLE)
    if slot is not None and spot is not None:
        others = work.frame.of("average", "sum", "minimum", "maximum")
        shared = any(
            0 < one.first - operator.last <= BESIDE and one.last < slot.first for one in others
        )
        return work.hang(spot) if shared else work.take_spot(spot)
    for column in work.draft.columns:
        if isinstance(column, Call) and function_of(column) != "COUNT":
            return variable_of(column)
    return None


HANDLERS: Handlers = {
    "each": each,
    "yearly": yearly,
    "count": count,
    "average": partial(aggregated, function="AVG"),
    "sum": partial(aggregated, function="SUM"),
}
