"""Ages and durations: the time between two dates, computed."""

import numpy as np
from pyoxigraph import Variable

from askgraph.index.names import Kind
from askgraph.metadata.units import unit_at
from askgraph.rdf.vocabulary import XSD_DATE
from askgraph.search.linking.operators import Operator
from askgraph.search.linking.word_lists import Measure
from askgraph.search.operators import aggregates
from askgraph.search.operators.attachment import DATED, Places, unnamed_spot
from askgraph.search.operators.draft import day_term
from askgraph.search.operators.measures import number_term
from askgraph.search.operators.query_builder import QueryBuilder, Slot, Spot
from askgraph.search.operators.times import Spanned, overlapping, spanned
from askgraph.search.query import condition, pattern
from askgraph.sparql.elapsed import elapsed
from askgraph.sparql.tree import Call, Term
from askgraph.traversal.literals import Sort

_OLDEST = 200
_DAY, _YEAR = 86_400.0, 31_557_600.0


def is_age(measure: Measure | None) -> bool:
    """Whether an adjective measures an age that dates give: "old"."""
    return measure is not None and "age" in measure.measures and bool(measure.dates)


def is_duration(measure: Measure | None) -> bool:
    """Whether an adjective may measure how long something lasts: "long"."""
    return measure is not None and "duration" in measure.measures


def age(places: Places, work: QueryBuilder, operator: Operator) -> Variable | None:
    """The variable of the whole years from the birth or start of something to another date.

    That is the date that words after "when" name, or the last day of the time that the question
    says ("in 2000"), else its death or end, else today.
    """
    measure = operator.measure
    dates = measure.dates if measure is not None else ()
    start = places.by_words(work, dates, (Sort.DATE, Sort.YEAR), named=True)
    if start is None:
        return None
    born = places.hang(work, start)
    until = (
        _then(places, work, operator)
        or _at_time(places, work, operator, start)
        or _ended(places, work, start)
    )
    return _years(places, work, (born, start.predicate), until, "age")


def lasting(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "How many days did X last": the time from its start to its end; else it is a count."""
    word = places.reading.tokens[operator.last].folded
    unit = unit_at((word,), 0)
    size = unit[0].factor if unit is not None else None
    name = {_DAY: "days", _YEAR: "years", None: "months"}.get(size, "days")
    if not duration(places, work, operator, name):
        return aggregates.count(places, work, operator)
    return True


def duration(places: Places, work: QueryBuilder, operator: Operator, unit: str = "days") -> bool:
    """Show the time from the start to the end of what the pattern is about, or to today.

    If some of it has ended, only that counts.
    """
    one = spanned(places, work, named=True, constant=True)
    if one is None:
        return False
    opened = unnamed_spot(one.place, one.start)
    start = places.hang(work, opened)
    ids = places.ids_at(work, one.place)
    ends = places.applies(ids, one.end, False)
    closed = places.hang(work, unnamed_spot(one.place, one.end)) if ends else None
    end = day_term(places.frame.today, XSD_DATE) if closed is None else closed
    sorts = {places.sort(one.start), places.sort(one.end)}
    unit = "calendar years" if Sort.YEAR in sorts else unit
    shown = work.draft.compute(f"{unit.split()[-1]} passed", elapsed(unit, start, end))
    work.projected.append((operator.first, shown))
    work.notes.append("elapsed")
    return True


def _years(
    places: Places,
    work: QueryBuilder,
    start: tuple[Variable, int],
    until: tuple[Term, int | None],
    hint: str,
) -> Variable:
    """Whole years; calendar years if either date is a mere year."""
    numbers = [number for number in (start[1], until[1]) if number is not None]
    plain = any(places.sort(number) is Sort.YEAR for number in numbers)
    unit = "calendar years" if plain else "years"
    return work.draft.compute(hint, elapsed(unit, start[0], until[0]))


def _ended(places: Places, work: QueryBuilder, start: Spot) -> tuple[Term, int | None]:
    """The end of what started, today if it has none; its variable and predicate."""
    ids = places.ids_at(work, start.place)
    today = day_term(places.frame.today, XSD_DATE)
    for first, end, _ in places.schema.spans:
        if first != start.predicate:
            continue
        bearers = places.graph.bearers(ids, end)
        if len(bearers) == len(ids):
            return places.hang(work, unnamed_spot(start.place, end)), end
        if len(bearers):
            iri = places.graph.iri_of(end)
            variable = work.draft.variable(work.draft.hint_of(iri))
            work.draft.optional.append(pattern(start.place.end, iri, variable))
            return work.draft.compute("until", Call("COALESCE", (variable, today))), end
    return today, None


def _then(places: Places, work: QueryBuilder, operator: Operator) -> tuple[Term, int | None] | None:
    """The date that the words after "when" name, at the pattern or at another thing."""
    opened = _after_when(places, operator)
    if opened is None:
        return None
    later = [slot for slot in work.slots if slot.first >= opened and work.is_left(slot)]
    return _of_thing(places, work, opened, later) or _of_pattern(places, work, later)


def _at_time(
    places: Places, work: QueryBuilder, operator: Operator, start: Spot
) -> tuple[Term, int | None] | None:
    """The last day of the time said, of those that had not ended before it."""
    said = {operator.first for operator in places.frame.of("at")}
    quantity = next((one for one in places.reading.quantities if one.first in said), None)
    if quantity is None or quantity.days is None:
        return None
    for first, end, life in places.schema.spans:
        if first == start.predicate:
            one = Spanned(start.place, first, end, life)
            if not overlapping(places, work, one, *quantity.days):
                return None
    if quantity.first < operator.first:
        places.take_quantity(work, quantity)
    work.notes.append("age_then")
    datatype = places.schema.datatype(start.predicate)
    return day_term(quantity.days[1], datatype), start.predicate


def _after_when(places: Places, operator: Operator) -> int | None:
    """Where the part after "when" starts."""
    words = [token.folded for token in places.reading.tokens]
    for at in range(operator.last + 1, len(words)):
        for phrase in places.reading.words.times["when"]:
            if tuple(words[at : at + len(phrase)]) == phrase:
                return at + len(phrase)
    return None


def _of_pattern(
    places: Places, work: QueryBuilder, slots: list[Slot]
) -> tuple[Term, int | None] | None:
    for slot in slots:
        spot = places.spot(work, slot, sorts=DATED)
        if spot is not None:
            places.use(work, slot, spot.link)
            return places.hang(work, spot), spot.predicate
    return None


def _of_thing(
    places: Places, work: QueryBuilder, opened: int, slots: list[Slot]
) -> tuple[Term, int | None] | None:
    """The date of a thing named after "when": that which words name, else its start or only one."""
    for link in places.linked.of(Kind.ENTITY, Kind.VALUE):
        if link.positions[0] < opened or not places.grower.gain(link, work.used):
            continue
        event = places.thing_of(link)
        present = _dates_at(places, event) if event is not None else []
        named = [
            (slot, one, number)
            for slot in slots
            for one in slot.links
            if (number := places.schema.number(one.target)) in present
        ]
        starts = [start for start, _, _ in places.schema.spans if start in present]
        if event is None or not present:
            continue
        chosen = named[0][2] if named else (*starts, *present)[0]
        if named:
            places.use(work, named[0][0], named[0][1])
        iri = places.graph.iri_of(chosen)
        date = work.draft.variable(work.draft.hint_of(iri))
        work.draft.patterns.append(pattern(places.graph.terms.term(event), iri, date))
        work.take(link.mask, places.grower.gain(link, work.used))
        return date, chosen
    return None


def _dates_at(places: Places, node: int) -> list[int]:
    present = places.graph.predicates_of(np.array([node], dtype=np.int32))[0].tolist()
    return [number for number in present if places.sort(number) in (Sort.DATE, Sort.YEAR)]


def compared_age(
    places: Places, work: QueryBuilder, operator: Operator, years: float, sign: str
) -> bool:
    """ "Younger than 30": a condition on the age."""
    variable = age(places, work, operator) if years < _OLDEST else None
    if variable is None:
        return False
    work.draft.filters.append(condition(variable, sign, number_term(years)))
    return True
