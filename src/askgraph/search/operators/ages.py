"""Ages and durations: the time between two dates, computed."""

import numpy as np
from pyoxigraph import Variable

from askgraph.index.names import Kind
from askgraph.metadata.units import unit_at
from askgraph.rdf.vocabulary import XSD_DATE
from askgraph.search.linking.operators import Operator
from askgraph.search.operators.aggregates import count
from askgraph.search.operators.draft import day_term
from askgraph.search.operators.lookups import DATED, Slot
from askgraph.search.operators.query_builder import Handlers, QueryBuilder, Spot, unnamed_spot
from askgraph.search.operators.times import Spanned, overlapping, spanned
from askgraph.search.query import condition, number_term
from askgraph.sparql.elapsed import elapsed
from askgraph.sparql.tree import Call, Term
from askgraph.traversal.literals import Sort

_OLDEST = 200
"""No age that is compared is so great: it is a year, or of what has no age."""
_DAY, _YEAR = 86_400.0, 31_557_600.0
"""The seconds of units that a duration is asked for in."""


def age(work: QueryBuilder, operator: Operator) -> Variable | None:
    """The variable of the whole years from the birth or start of something to another date.

    That is the date that words after "when" name, or the last day of the time that the question
    says ("in 2000"), else its death or end, else today.
    """
    measure = operator.measure
    dates = measure.dates if measure is not None else ()
    start = work.by_words(dates, (Sort.DATE, Sort.YEAR), named=True)
    if start is None:
        return None
    born = work.hang(start)
    until, number = _then(work, operator) or _at_time(work, operator, start) or _ended(work, start)
    sorts = [work.schema.sort(one) for one in (start.predicate, number) if one is not None]
    unit = "calendar years" if Sort.YEAR in sorts else "years"  # if either is a mere year
    return work.draft.compute("age", elapsed(unit, born, until))


def lasting(work: QueryBuilder, operator: Operator) -> bool:
    """ "How many days did X last": the time from its start to its end; else it is a count."""
    word = work.reading.tokens[operator.last].folded
    unit = unit_at((word,), 0)
    size = unit[0].factor if unit is not None else None
    name = {_DAY: "days", _YEAR: "years", None: "months"}.get(size, "days")
    return duration(work, operator, name) or count(work, operator)


def duration(work: QueryBuilder, operator: Operator, unit: str = "days") -> bool:
    """Show the time from the start to the end of what the pattern is about, or to today.

    If some of it has ended, only that counts.
    """
    one = spanned(work, named=True, constant=True)
    if one is None:
        return False
    start = work.hang(unnamed_spot(one.place, one.start))
    end: Term = day_term(work.frame.today, XSD_DATE)
    if work.lookups.applies(work.ids_at(one.place), one.end, False):
        end = work.hang(unnamed_spot(one.place, one.end))
    sorts = {work.schema.sort(one.start), work.schema.sort(one.end)}
    unit = "calendar years" if Sort.YEAR in sorts else unit
    shown = work.draft.compute(f"{unit.split()[-1]} passed", elapsed(unit, start, end))
    work.projected.append((operator.first, shown))
    work.notes.append("elapsed")
    return True


def _ended(work: QueryBuilder, start: Spot) -> tuple[Term, int | None]:
    """The end of what started, today if it has none; its variable and predicate."""
    ids = work.ids_at(start.place)
    today = day_term(work.frame.today, XSD_DATE)
    for first, end, _ in work.schema.spans:
        if first != start.predicate:
            continue
        bearers = work.graph.bearers(ids, end)
        if len(bearers) == len(ids):
            return work.hang(unnamed_spot(start.place, end)), end
        if len(bearers):
            ended = work.draft.beside(start.place.end, end)
            work.draft.optional.append(ended)
            return work.draft.compute("until", Call("COALESCE", (ended.object, today))), end
    return today, None


def _then(work: QueryBuilder, operator: Operator) -> tuple[Term, int | None] | None:
    """The date that the words after "when" name, at the pattern or at another thing."""
    opened = _after_when(work, operator)
    if opened is None:
        return None
    later = [slot for slot in work.slots if slot.first >= opened and work.is_left(slot)]
    return _of_thing(work, opened, later) or _of_pattern(work, later)


def _at_time(work: QueryBuilder, operator: Operator, start: Spot) -> tuple[Term, int | None] | None:
    """The last day of the time said, of those that had not ended before it."""
    said = {operator.first for operator in work.frame.of("at")}
    quantity = next((one for one in work.reading.quantities if one.first in said), None)
    if quantity is None or quantity.days is None:
        return None
    for first, end, life in work.schema.spans:
        if first == start.predicate:
            one = Spanned(start.place, first, end, life)
            if not overlapping(work, one, *quantity.days):
                return None
    if quantity.first < operator.first:
        work.take_quantity(quantity)
    work.notes.append("age_then")
    datatype = work.schema.datatype(start.predicate)
    return day_term(quantity.days[1], datatype), start.predicate


def _after_when(work: QueryBuilder, operator: Operator) -> int | None:
    """Where the part after "when" starts."""
    words = [token.folded for token in work.reading.tokens]
    for at in range(operator.last + 1, len(words)):
        for phrase in work.reading.words.times["when"]:
            if tuple(words[at : at + len(phrase)]) == phrase:
                return at + len(phrase)
    return None


def _of_pattern(work: QueryBuilder, slots: list[Slot]) -> tuple[Term, int | None] | None:
    for slot in slots:
        spot = work.spot(slot, sorts=DATED)
        if spot is not None:
            work.use_spot(spot)
            return work.hang(spot), spot.predicate
    return None


def _of_thing(work: QueryBuilder, opened: int, slots: list[Slot]) -> tuple[Term, int | None] | None:
    """The date of a thing named after "when": that which words name, else its start or only one."""
    for link in work.linked.of(Kind.ENTITY, Kind.VALUE):
        if link.positions[0] < opened or not work.grower.gain(link, work.used):
            continue
        event = work.lookups.thing_of(link)
        present = _dates_at(work, event) if event is not None else []
        named = [
            (slot, one, number)
            for slot in slots
            for one in slot.links
            if (number := work.schema.number(one.target)) in present
        ]
        starts = [start for start, _, _ in work.schema.spans if start in present]
        if event is None or not present:
            continue
        chosen = named[0][2] if named else (*starts, *present)[0]
        if named:
            work.use(named[0][0], named[0][1])
        dated = work.draft.beside(work.graph.terms.term(event), chosen)
        work.draft.patterns.append(dated)
        work.take_link(link)
        return dated.object, chosen
    return None


def _dates_at(work: QueryBuilder, node: int) -> list[int]:
    present = work.graph.predicates_of(np.array([node], dtype=np.int32))[0].tolist()
    return [number for number in present if work.schema.sort(number) in (Sort.DATE, Sort.YEAR)]


def compared_age(work: QueryBuilder, operator: Operator, years: float, sign: str) -> bool:
    """ "Younger than 30": a condition on the age."""
    variable = age(work, operator) if years < _OLDEST else None
    if variable is None:
        return False
    work.draft.filters.append(condition(variable, sign, number_term(years)))
    return True


HANDLERS: Handlers = {
    "lasting": lasting,
}
