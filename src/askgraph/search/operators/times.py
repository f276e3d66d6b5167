"""Operators on times and units: at, during, now, past, ongoing, lasting, lasted, ages, durations.

A constant is converted into the unit of the data, not the data; only if one predicate's numbers
have several units are they converted, each by its unit's size.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Variable

from askgraph.index.names import Kind
from askgraph.metadata.measures import Unit, unit_at
from askgraph.rdf.vocabulary import XSD_DATE
from askgraph.search.expand import BESIDE, WORTH_OPERATOR, Node
from askgraph.search.expand.schema import Schema
from askgraph.search.link import Link
from askgraph.search.operators.aggregates import count
from askgraph.search.operators.query_builder import (
    DATED,
    NUMERIC,
    Place,
    QueryBuilder,
    Slot,
    Spot,
    day_term,
    unnamed_spot,
)
from askgraph.search.query_pieces import (
    Value,
    aggregate,
    condition,
    denied,
    function_of,
    number_term,
    pattern,
    variable_of,
)
from askgraph.search.tokenize import Quantity
from askgraph.search.tokenize.question_operators import Operator
from askgraph.search.tokenize.word_lists import Measure
from askgraph.sparql import Call, Group, Term, Values
from askgraph.sparql.elapsed import elapsed
from askgraph.traversal import Ids
from askgraph.traversal.literals import Sort

_NEAR = 5
"""A step named so few words before a number is what the number is of."""
_OLDEST = 200
"""No age that is compared is so great: it is a year, or of what has no age."""
_DAY, _YEAR = 86_400.0, 31_557_600.0
"""The seconds of units that a duration is asked for in."""


@dataclass(frozen=True, eq=False)
class Spanned:
    """A place whose nodes start and end by two predicates (their numbers)."""

    place: Place
    start: int
    end: int
    life: bool = False


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
    lasts = [
        edge.link.positions[-1]
        for node in work.state.node.walk()
        for edge, _ in node.edges
        if edge.link is not None
    ]
    unit = None if any(0 < quantity.first - last <= _NEAR for last in lasts) else quantity.unit
    for place in work.draft.places if unit is not None else ():
        present = work.predicates_at(place) if work.lookups.is_resource(place.node.ids) else []
        units = {n: work.schema.unit(n) for n in present if work.schema.sort(n) in NUMERIC}
        fits = [n for n, own in units.items() if own and unit and own.dimension == unit.dimension]
        if len(fits) == 1:
            return unnamed_spot(place, fits[0])
    return None


def compared_nodes(work: QueryBuilder, slots: list[Slot], quantity: Quantity, sign: str) -> bool:
    """Compare a number that stands with its unit at a node of its own; False if none does."""
    unit = quantity.unit
    for slot in slots if unit is not None and quantity.value is not None else ():
        spot = work.spot(slot)
        if spot is None or spot.inverse:
            continue
        nodes = work.graph.step(work.ids_at(spot.place), spot.predicate)
        for value, said, units in work.schema.quantities:
            if not work.lookups.is_resource(nodes):
                known: dict[int, Unit] = {}
            else:
                found = work.graph.step(nodes, said).tolist()
                known = {at: units[at] for at in found} if all(at in units for at in found) else {}
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
    # The statement without a name that no other of the same thing is later than.
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
_BESIDE_TIME = 2
"""Words so near before a time are about it."""


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
    near = [slot for slot in work.slots if 0 < quantity.first - slot.last <= _BESIDE_TIME]
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
