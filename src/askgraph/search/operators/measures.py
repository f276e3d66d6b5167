"""Measured numbers: with a unit, and the time between two dates, which is an age or a duration.

A constant is converted into the unit of the data, not the data; only if one predicate's numbers
have several units are they converted, each by its unit's size.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from pyoxigraph import Variable

from askgraph.graph.arrays import Ids
from askgraph.graph.literals import Sort
from askgraph.graph.measures import Unit, unit_at
from askgraph.index.names import Kind
from askgraph.search import Value, aggregate, condition, function_of, number_term, variable_of
from askgraph.search.grow import WORTH_OPERATOR, Node
from askgraph.search.grow.schema import Schema
from askgraph.search.linking.operators import Operator
from askgraph.search.linking.quantities import Quantity
from askgraph.search.linking.word_lists import Measure
from askgraph.search.operators import DATED, NUMERIC, Slot
from askgraph.search.operators.aggregates import count
from askgraph.search.operators.draft import Place, day_term
from askgraph.search.operators.query_builder import Handlers, QueryBuilder, Spot, unnamed_spot
from askgraph.search.operators.times import Spanned, overlapping, spanned
from askgraph.sparql import Call, Group, Term, Values
from askgraph.sparql.elapsed import elapsed
from askgraph.sparql.vocabulary import XSD_DATE

_NEAR = 5
"""A step named so few words before a number is what the number is of."""
_OLDEST = 200
"""No age that is compared is so great: it is a year, or of what has no age."""
_DAY, _YEAR = 86_400.0, 31_557_600.0
"""The seconds of units that a duration is asked for in."""


def number_of(work: QueryBuilder, predicate: int, quantity: Quantity) -> float:
    """The number of a quantity in the unit of a predicate; as it is if either says none."""
    own, value = work.schema.unit(predicate), quantity.value or 0.0
    if quantity.unit is None or own is None or own.dimension != quantity.unit.dimension:
        return value
    work.take_tokens(quantity.measured)
    return quantity.unit.converted(value, own)


def by_dimension(work: QueryBuilder, quantity: Quantity) -> Spot | None:
    """The only predicate in the pattern whose numbers are of the dimension of a quantity.

    None if the words just before name something else in the pattern.
    """
    unit = None if _is_named(work, quantity) else quantity.unit
    for place in work.draft.places if unit is not None else ():
        present = work.predicates_at(place) if work.lookups.is_resource(place.node.ids) else []
        units = {n: work.schema.unit(n) for n in present if work.schema.sort(n) in NUMERIC}
        fits = [n for n, own in units.items() if own and unit and own.dimension == unit.dimension]
        if len(fits) == 1:
            return unnamed_spot(place, fits[0])
    return None


def _is_named(work: QueryBuilder, quantity: Quantity) -> bool:
    """Whether a step of the pattern is named by words shortly before a quantity."""
    lasts = [
        edge.link.positions[-1]
        for node in work.state.node.walk()
        for edge, _ in node.edges
        if edge.link is not None
    ]
    return any(0 < quantity.first - last <= _NEAR for last in lasts)


def compared_nodes(work: QueryBuilder, slots: list[Slot], quantity: Quantity, sign: str) -> bool:
    """Compare a number that stands with its unit at a node of its own; False if none does."""
    unit = quantity.unit
    for slot in slots if unit is not None and quantity.value is not None else ():
        spot = work.spot(slot)
        if spot is None or spot.inverse:
            continue
        nodes = work.graph.step(work.ids_at(spot.place), spot.predicate)
        for value, said, units in work.schema.quantities:
            known = _units_at(work, nodes, said, units)
            if unit is None or not known or not work.lookups.applies(nodes, value, False):
                continue
            if {one.dimension for one in known.values()} != {unit.dimension}:
                continue
            node = Place(work.hang(spot), Node(nodes), 1)
            number = work.draft.attach(node, value)
            _bounded(work, (node, number, said), known, quantity, sign)
            work.use_spot(spot)
            return True
    return False


def _units_at(work: QueryBuilder, nodes: Ids, said: int, units: dict[int, Unit]) -> dict[int, Unit]:
    """The units of some nodes; none if they are not resources or a unit is not known."""
    if not work.lookups.is_resource(nodes):
        return {}
    found = work.graph.step(nodes, said).tolist()
    return {at: units[at] for at in found} if all(at in units for at in found) else {}


def _bounded(
    work: QueryBuilder,
    at: tuple[Place, Variable, int],
    known: dict[int, Unit],
    quantity: Quantity,
    sign: str,
) -> None:
    """Bound a number: in its one unit, else times the size of its unit in that of the quantity."""
    place, number, said = at
    unit, value = quantity.unit, quantity.value
    assert unit is not None and value is not None
    work.take_tokens(quantity.measured)
    if len(known) == 1:
        bound = number_term(unit.converted(value, next(iter(known.values()))))
        work.draft.filters.append(condition(number, sign, bound))
        return
    named = work.draft.attach(place, said)
    factor = work.draft.variable("factor")
    rows = tuple(
        (work.graph.terms.term(term), number_term(one.converted(1.0, unit)))
        for term, one in sorted(known.items())
    )
    work.draft.given.append(Values((named, factor), rows))
    scaled = work.draft.compute(f"in {unit.name}", Call("*", (number, factor)))
    work.draft.filters.append(condition(scaled, sign, number_term(value)))


def converted(work: QueryBuilder) -> None:
    """ "In miles": numbers that are shown, of that dimension, are shown in this unit."""
    for operator in work.frame.of("in_unit"):
        unit, draft = work.frame.unit_of(operator), work.draft
        shown = [(token, _in(work, variable, unit)) for token, variable in work.projected]
        columns = [_column_in(work, column, unit) for column in draft.columns]
        if unit is None or (shown, columns) == (work.projected, draft.columns):
            continue
        work.projected, draft.columns = shown, columns
        work.take_tokens(operator.positions)
        work.gain += WORTH_OPERATOR
        work.notes.append("in_unit")


def _column_in(work: QueryBuilder, column: Value, unit: Unit | None) -> Value:
    """The highest, mean … number of a column in another unit; counts have none."""
    if isinstance(column, Variable) or function_of(column) == "COUNT":
        return column
    return aggregate(function_of(column), _in(work, variable_of(column), unit))


def _in(work: QueryBuilder, variable: Variable, unit: Unit | None) -> Variable:
    """A shown number in another unit; itself if that is not known to be possible."""
    for predicate in _shown_by(work, variable):
        own = work.schema.unit(predicate)
        if unit is None or own is None or own.dimension != unit.dimension or own == unit:
            continue
        factor = float(f"{own.factor / unit.factor:.12g}")
        offset = float(f"{(own.offset - unit.offset) / unit.factor:.12g}")
        scaled = Call("*", (variable, number_term(factor)))
        hint = f"{work.draft.hints[variable]} in {unit.name}"
        moved = Call("+", (scaled, number_term(offset))) if offset else scaled
        return work.draft.compute(hint, moved)
    return variable


def _shown_by(work: QueryBuilder, variable: Variable) -> Iterator[int]:
    for (_, predicate, inverse), shown in work.draft.attached.items():
        if shown == variable and not inverse:
            yield predicate


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
    work.projected.append((operator.first, passed(work, one, unit)))
    return True


def passed(work: QueryBuilder, one: Spanned, unit: str = "days") -> Variable:
    """Return the variable of the time from the start to the end of something, or to today."""
    start = work.hang(unnamed_spot(one.place, one.start))
    end: Term = day_term(work.frame.today, XSD_DATE)
    if work.lookups.applies(work.ids_at(one.place), one.end, False):
        end = work.hang(unnamed_spot(one.place, one.end))
    sorts = {work.schema.sort(one.start), work.schema.sort(one.end)}
    unit = "calendar years" if Sort.YEAR in sorts else unit
    work.notes.append("elapsed")
    return work.draft.compute(f"{unit.split()[-1]} passed", elapsed(unit, start, end))


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
            work.draft.optional.append(Group((ended,)))
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


def says(schema: Schema, predicate: int, words: Sequence[str]) -> bool:
    """Whether a predicate's name holds one of some words."""
    own = schema.words(predicate)
    return any(word in own for word in words)


def is_dated(schema: Schema, predicate: int, measure: Measure | None) -> bool:
    """Whether a value tells a time, by its sort or by its name: the later, the younger.

    A year may be a mere number; of a number that is called an age the name decides.
    """
    if schema.sort(predicate) in DATED:
        return True
    named = measure is not None and says(schema, predicate, measure.dates)
    return named and measure is not None and not says(schema, predicate, measure.measures)


def compared_age(work: QueryBuilder, operator: Operator, years: float, sign: str) -> bool:
    """ "Younger than 30": a condition on the age."""
    variable = age(work, operator) if years < _OLDEST else None
    if variable is None:
        return False
    work.draft.filters.append(condition(variable, sign, number_term(years)))
    return True


HANDLERS: Handlers = {"lasting": lasting}
