"""Counts, averages, sums, and a row for each: how many, on average, in total, per."""

from pyoxigraph import Variable

from askgraph.search.linking.operators import Operator
from askgraph.search.operators.attachment import NUMERIC, Places
from askgraph.search.operators.query_builder import QueryBuilder
from askgraph.search.query import aggregate, function_of, variable_of
from askgraph.sparql.tree import Call
from askgraph.traversal.literals import Sort

_MEASURABLE = (*NUMERIC, Sort.DATE, Sort.YEAR)


def each(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "For each X": one row for each thing, or for each value, that X names."""
    slot = places.next_slot(work, operator.last)
    place = places.next_place(work, operator.last)
    if place is not None and (slot is None or min(place.words) <= slot.first):
        places.group_by(work, place)
        return True
    if slot is None:
        return False
    spot = places.spot(work, slot)
    if spot is None:
        return False
    variable = places.hang(work, spot)
    places.use(work, slot, spot.link)
    work.draft.group.append(places.shown(work, variable, spot))
    work.grouped = True
    work.projected.append((slot.first, places.shown(work, variable, spot)))
    return True


def count(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "How many X": count things; if X is a number in the graph, leave it to be shown."""
    slot = places.next_slot(work, operator.last)
    place = places.next_place(work, operator.last)
    if slot is not None and (place is None or slot.first <= min(place.words)):
        spot = places.spot(work, slot)
        if spot is None:
            return False
        number = places.sort(spot.predicate) is Sort.NUMBER
        several = number and not spot.inverse and not places.schema.is_functional(spot.predicate)
        distinct = not number or _counts_values(places, operator)
        if not distinct and not several:
            return False
        variable = places.hang(work, spot)
        places.use(work, slot, spot.link)
        work.draft.columns.append(aggregate("COUNT", variable, distinct=distinct))
        return True
    before = places.last_slot(work, operator.first, 1)
    if place is None and before is not None:
        spot = places.spot(work, before, sorts=NUMERIC)
        if spot is not None:
            return True  # "employee count": the slot itself is shown
    place = place or work.root
    if not isinstance(place.end, Variable):
        return False
    work.draft.columns.append(aggregate("COUNT", place.end, distinct=True))
    return True


def _counts_values(places: Places, operator: Operator) -> bool:
    words = [places.reading.tokens[at].folded for at in operator.positions]
    distinct = {p[0] for p in places.reading.words.operators["distinct"]}
    return any(word in distinct for word in words)


def average(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "The average X"."""
    return aggregated(places, work, operator, "AVG")


def total(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "The total X"."""
    return aggregated(places, work, operator, "SUM")


def alone(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """Whether nothing else is asked for before the operator: "what is the maximum …"."""
    asked = [s for s in work.slots if s.first < operator.first and work.is_left(s)]
    named = [p for p in work.draft.places for at in p.words if at < operator.first]
    return not asked and not named and places.zones.is_head(operator.first)


def aggregated(places: Places, work: QueryBuilder, operator: Operator, function: str) -> bool:
    """Show an aggregate of the number that the words after an operator name."""
    variable = _aggregand(places, work, operator)
    if variable is None:
        return False
    work.draft.columns.append(aggregate(function, variable))
    return True


def _aggregand(places: Places, work: QueryBuilder, operator: Operator) -> Variable | None:
    """The number that an aggregate is over; several aggregates may share one."""
    slot = places.next_slot(work, operator.last, 8)
    if slot is not None:
        spot = places.spot(work, slot, sorts=_MEASURABLE)
        if spot is not None:
            shared = [
                op
                for op in places.frame.of("average", "sum", "minimum", "maximum")
                if op is not operator and 0 < op.first - operator.last <= 3 and op.last < slot.first
            ]
            variable = places.hang(work, spot)
            if not shared:
                places.use(work, slot, spot.link)
            return variable
    for column in work.draft.columns:
        if isinstance(column, Call) and function_of(column) != "COUNT":
            return variable_of(column)
    return None
