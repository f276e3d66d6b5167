"""Operators on times and units: at, during, now, past, ongoing, lasting, lasted, ages, durations.

A constant is converted into the unit of the data, not the data; only if one predicate's numbers
have several units are they converted, each by its unit's size.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Variable

from askgraph.graph.arrays import Ids
from askgraph.graph.literals import Sort
from askgraph.graph.measures import Unit, unit_at
from askgraph.index.names import Kind
from askgraph.search.expand import BESIDE, Node, Worth
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
from askgraph.sparql.vocabulary import XSD_DATE

_NEAR = 5  # a step named so few words before a number is what the number is of
_OLDEST = 200  # no age that is compared is so great: it is a year, or of what has no age
_DAY, _YEAR = 86_400.0, 31_557_600.0  # the seconds of units that a duration is asked for in


@dataclass(frozen=True, eq=False)
class Spanned:
    """A place whose nodes start and end by two predicates (their numbers)."""

    place: Place
    start: int
    end: int
    life: bool = False


def number_of(query: QueryBuilder, predicate: int, quantity: Quantity) -> float:
    """The number of a quantity in the unit of a predicate; as it is if either says none."""
    own, value = query.schema.unit(predicate), quantity.value or 0.0
    if quantity.unit is None or own is None or own.dimension != quantity.unit.dimension:
        return value
    query.take_tokens(quantity.measured)
    return quantity.unit.converted(value, own)


def by_dimension(query: QueryBuilder, quantity: Quantity) -> Spot | None:
    """The only predicate in the pattern whose numbers are of the dimension of a quantity.

    None if the words just before name something else in the pattern.
    """
    lasts = [
        edge.link.positions[-1]
        for node in query.state.node.walk()
        for edge, _ in node.edges
        if edge.link is not None
    ]
    unit = None if any(0 < quantity.first - last <= _NEAR for last in lasts) else quantity.unit
    for place in query.draft.places if unit is not None else ():
        present = query.predicates_at(place) if query.lookups.is_resource(place.node.ids) else []
        units = {n: query.schema.unit(n) for n in present if query.schema.sort(n) in NUMERIC}
        fits = [n for n, own in units.items() if own and unit and own.dimension == unit.dimension]
        if len(fits) == 1:
            return unnamed_spot(place, fits[0])
    return None


def compared_nodes(query: QueryBuilder, slots: list[Slot], quantity: Quantity, sign: str) -> bool:
    """Compare a number that stands with its unit at a node of its own; False if none does."""
    unit = quantity.unit
    for slot in slots if unit is not None and quantity.value is not None else ():
        spot = query.spot(slot)
        if spot is None or spot.inverse:
            continue
        nodes = query.graph.step(query.ids_at(spot.place), spot.predicate)
        for value, said, units in query.schema.quantities:
            if not query.lookups.is_resource(nodes):
                known: dict[int, Unit] = {}
            else:
                found = query.graph.step(nodes, said).tolist()
                known = {at: units[at] for at in found} if all(at in units for at in found) else {}
            if unit is None or not known or not query.lookups.applies(nodes, value, False):
                continue
            if {one.dimension for one in known.values()} != {unit.dimension}:
                continue
            node = Place(query.hang(spot), Node(nodes), 1)
            number = query.draft.attach(node, value)
            _bounded(query, (node, number, said), known, quantity, sign)
            query.use_spot(spot)
            return True
    return False


def _bounded(
    query: QueryBuilder,
    at: tuple[Place, Variable, int],
    known: dict[int, Unit],
    quantity: Quantity,
    sign: str,
) -> None:
    """Bound a number: in its one unit, else times the size of its unit in that of the quantity."""
    place, number, said = at
    unit, value = quantity.unit, quantity.value
    assert unit is not None and value is not None
    query.take_tokens(quantity.measured)
    if len(known) == 1:
        bound = number_term(unit.converted(value, next(iter(known.values()))))
        query.draft.filters.append(condition(number, sign, bound))
        return
    named = query.draft.attach(place, said)
    factor = query.draft.variable("factor")
    rows = tuple(
        (query.graph.terms.term(term), number_term(one.converted(1.0, unit)))
        for term, one in sorted(known.items())
    )
    query.draft.given.append(Values((named, factor), rows))
    scaled = query.draft.compute(f"in {unit.name}", Call("*", (number, factor)))
    query.draft.filters.append(condition(scaled, sign, number_term(value)))


def converted(query: QueryBuilder) -> None:
    """ "In miles": numbers that are shown, of that dimension, are shown in this unit."""
    for operator in query.frame.of("in_unit"):
        unit, draft = query.frame.unit_of(operator), query.draft
        shown = [(token, _in(query, variable, unit)) for token, variable in query.projected]
        columns = [  # the highest, mean … in another unit; counts have none
            column
            if isinstance(column, Variable) or function_of(column) == "COUNT"
            else aggregate(function_of(column), _in(query, variable_of(column), unit))
            for column in draft.columns
        ]
        if unit is None or (shown, columns) == (query.projected, draft.columns):
            continue
        query.projected, draft.columns = shown, columns
        query.take_tokens(operator.positions)
        query.gain += Worth.OPERATOR
        query.notes.append("in_unit")


def _in(query: QueryBuilder, variable: Variable, unit: Unit | None) -> Variable:
    """A shown number in another unit; itself if that is not known to be possible."""
    for (_, predicate, inverse), shown in query.draft.attached.items():
        if shown != variable or inverse:
            continue
        own = query.schema.unit(predicate)
        if unit is None or own is None or own.dimension != unit.dimension or own == unit:
            continue
        factor = float(f"{own.factor / unit.factor:.12g}")
        offset = float(f"{(own.offset - unit.offset) / unit.factor:.12g}")
        scaled = Call("*", (variable, number_term(factor)))
        hint = f"{query.draft.hints[variable]} in {unit.name}"
        moved = Call("+", (scaled, number_term(offset))) if offset else scaled
        return query.draft.compute(hint, moved)
    return variable


def age(query: QueryBuilder, operator: Operator) -> Variable | None:
    """The variable of the whole years from the birth or start of something to another date.

    That is the date that words after "when" name, or the last day of the time that the question
    says ("in 2000"), else its death or end, else today.
    """
    measure = operator.measure
    dates = measure.dates if measure is not None else ()
    start = query.by_words(dates, (Sort.DATE, Sort.YEAR), named=True)
    if start is None:
        return None
    born = query.hang(start)
    until, number = (
        _then(query, operator) or _at_time(query, operator, start) or _ended(query, start)
    )
    sorts = [query.schema.sort(one) for one in (start.predicate, number) if one is not None]
    unit = "calendar years" if Sort.YEAR in sorts else "years"  # if either is a mere year
    return query.draft.compute("age", elapsed(unit, born, until))


def lasting(query: QueryBuilder, operator: Operator) -> bool:
    """ "How many days did X last": the time from its start to its end; else it is a count."""
    word = query.reading.tokens[operator.last].folded
    unit = unit_at((word,), 0)
    size = unit[0].factor if unit is not None else None
    name = {_DAY: "days", _YEAR: "years", None: "months"}.get(size, "days")
    return duration(query, operator, name) or count(query, operator)


def duration(query: QueryBuilder, operator: Operator, unit: str = "days") -> bool:
    """Show the time from the start to the end of what the pattern is about, or to today.

    If some of it has ended, only that counts.
    """
    one = spanned(query, named=True, constant=True)
    if one is None:
        return False
    query.projected.append((operator.first, passed(query, one, unit)))
    return True


def passed(query: QueryBuilder, one: Spanned, unit: str = "days") -> Variable:
    """Return the variable of the time from the start to the end of something, or to today."""
    start = query.hang(unnamed_spot(one.place, one.start))
    end: Term = day_term(query.frame.today, XSD_DATE)
    if query.lookups.applies(query.ids_at(one.place), one.end, False):
        end = query.hang(unnamed_spot(one.place, one.end))
    sorts = {query.schema.sort(one.start), query.schema.sort(one.end)}
    unit = "calendar years" if Sort.YEAR in sorts else unit
    query.notes.append("elapsed")
    return query.draft.compute(f"{unit.split()[-1]} passed", elapsed(unit, start, end))


def _ended(query: QueryBuilder, start: Spot) -> tuple[Term, int | None]:
    """The end of what started, today if it has none; its variable and predicate."""
    ids = query.ids_at(start.place)
    today = day_term(query.frame.today, XSD_DATE)
    for first, end, _ in query.schema.spans:
        if first != start.predicate:
            continue
        bearers = query.graph.bearers(ids, end)
        if len(bearers) == len(ids):
            return query.hang(unnamed_spot(start.place, end)), end
        if len(bearers):
            ended = query.draft.beside(start.place.end, end)
            query.draft.optional.append(Group((ended,)))
            return query.draft.compute("until", Call("COALESCE", (ended.object, today))), end
    return today, None


def _then(query: QueryBuilder, operator: Operator) -> tuple[Term, int | None] | None:
    """The date that the words after "when" name, at the pattern or at another thing."""
    opened = _after_when(query, operator)
    if opened is None:
        return None
    later = [slot for slot in query.slots if slot.first >= opened and query.is_left(slot)]
    return _of_thing(query, opened, later) or _of_pattern(query, later)


def _at_time(
    query: QueryBuilder, operator: Operator, start: Spot
) -> tuple[Term, int | None] | None:
    """The last day of the time said, of those that had not ended before it."""
    said = {operator.first for operator in query.frame.of("at")}
    quantity = next((one for one in query.reading.quantities if one.first in said), None)
    if quantity is None or quantity.days is None:
        return None
    for first, end, life in query.schema.spans:
        if first == start.predicate:
            one = Spanned(start.place, first, end, life)
            if not overlapping(query, one, *quantity.days):
                return None
    if quantity.first < operator.first:
        query.take_quantity(quantity)
    query.notes.append("age_then")
    datatype = query.schema.datatype(start.predicate)
    return day_term(quantity.days[1], datatype), start.predicate


def _after_when(query: QueryBuilder, operator: Operator) -> int | None:
    """Where the part after "when" starts."""
    words = [token.folded for token in query.reading.tokens]
    for at in range(operator.last + 1, len(words)):
        for phrase in query.reading.words.times["when"]:
            if tuple(words[at : at + len(phrase)]) == phrase:
                return at + len(phrase)
    return None


def _of_pattern(query: QueryBuilder, slots: list[Slot]) -> tuple[Term, int | None] | None:
    for slot in slots:
        spot = query.spot(slot, sorts=DATED)
        if spot is not None:
            query.use_spot(spot)
            return query.hang(spot), spot.predicate
    return None


def _of_thing(
    query: QueryBuilder, opened: int, slots: list[Slot]
) -> tuple[Term, int | None] | None:
    """The date of a thing named after "when": that which words name, else its start or only one."""
    for link in query.linked.of(Kind.ENTITY, Kind.VALUE):
        if link.positions[0] < opened or not query.search.gain(link, query.used):
            continue
        event = query.lookups.thing_of(link)
        present = _dates_at(query, event) if event is not None else []
        named = [
            (slot, one, number)
            for slot in slots
            for one in slot.links
            if (number := query.schema.number(one.target)) in present
        ]
        starts = [start for start, _, _ in query.schema.spans if start in present]
        if event is None or not present:
            continue
        chosen = named[0][2] if named else (*starts, *present)[0]
        if named:
            query.use(named[0][0], named[0][1])
        dated = query.draft.beside(query.graph.terms.term(event), chosen)
        query.draft.patterns.append(dated)
        query.take_link(link)
        return dated.object, chosen
    return None


def _dates_at(query: QueryBuilder, node: int) -> list[int]:
    present = query.graph.predicates_of(np.array([node], dtype=np.int32))[0].tolist()
    return [number for number in present if query.schema.sort(number) in (Sort.DATE, Sort.YEAR)]


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


def compared_age(query: QueryBuilder, operator: Operator, years: float, sign: str) -> bool:
    """ "Younger than 30": a condition on the age."""
    variable = age(query, operator) if years < _OLDEST else None
    if variable is None:
        return False
    query.draft.filters.append(condition(variable, sign, number_term(years)))
    return True


_NOTED = frozenset(("at", "now", "past", "during", "between"))


def at(query: QueryBuilder, operator: Operator) -> bool:
    """ "In 1995": what had started and not ended then, if no word asks for the start itself."""
    quantity = next(q for q in query.reading.quantities if q.first == operator.first)
    one = asked_span(query)
    if one is None and "age_then" in query.notes:
        return True
    if one is None or quantity.days is None or is_point(query, one, quantity):
        return False
    return overlapping(query, one, *quantity.days)


def now(query: QueryBuilder, operator: Operator) -> bool:
    """ "Currently", "still": what has not ended; else the latest of dated statements."""
    one = asked_span(query, named=True, operator=operator)
    if one is not None and unfinished(query, one):
        if one.life:
            query.take_tokens(alive_words(query))
        return True
    # The statement without a name that no other of the same thing is later than.
    for place in query.draft.places:
        if not isinstance(place.end, Variable) or not query.schema.is_nameless(place.node.ids):
            continue
        dates = [
            number
            for iri in query.schema.times.dates
            if (number := query.schema.number(iri)) is not None
            and query.lookups.applies(place.node.ids, number, False)
        ]
        if not dates:
            continue
        leading = next((p for p in query.draft.patterns if p.object == place.end), None)
        if leading is None:
            continue
        date = query.hang(unnamed_spot(place, dates[0]))
        other = query.draft.variable("other " + query.draft.hints[place.end])
        later = query.draft.variable("later " + query.draft.hints[date])
        iri = query.graph.iri_of(dates[0])
        patterns = (replace(leading, object=other), pattern(other, iri, later))
        query.draft.denied.append(denied(*patterns, condition(later, ">", date)))
        return True
    return False


def past(query: QueryBuilder, operator: Operator) -> bool:
    """ "Former": what has ended."""
    one = asked_span(query, named=True, operator=operator)
    return one is not None and over(query, one)


def ongoing(query: QueryBuilder, operator: Operator) -> bool:
    """ "Active", "in office": said of a time that other words give, else of today."""
    if _NOTED & set(query.notes):
        return True
    if query.frame.of(*_NOTED, "before", "after"):
        return False
    return now(query, operator)


def lasted(query: QueryBuilder, operator: Operator) -> bool:
    """ "Last": the verb of "how long did it last"."""
    return "elapsed" in query.notes


def during(query: QueryBuilder, operator: Operator) -> bool:
    """ "During X": at the time between the start and the end of a thing that X names."""
    for link in query.linked.of(Kind.ENTITY, Kind.VALUE):
        near = 0 < link.positions[0] - operator.last <= BESIDE
        if near and query.search.gain(link, query.used) and _during(query, link):
            query.take_link(link)
            return True
    return False


def _during(query: QueryBuilder, link: Link) -> bool:
    """Put what the pattern is about into the time of a thing: its span, or its one date."""
    event = query.lookups.thing_of(link)
    if event is None:
        return False
    node = np.array([event], dtype=np.int32)
    dates = _event_dates(query, node)
    if dates is None:
        return False
    first, last = dates
    subject, draft = query.graph.terms.term(event), query.draft
    if _point_during(query, subject, first, last):
        return True
    one = spanned(query, named=True)
    if one is None or query.schema.datatype(one.start) != query.schema.datatype(first):
        return False
    low = float(days_of(query, node, first, np.nan)[0])
    high = float(days_of(query, node, last, low)[0])
    ids = query.ids_at(one.place)
    starts = days_of(query, ids, one.start, np.inf)
    ends = days_of(query, ids, one.end, np.inf)
    kept = ids[(starts <= high) & (ends >= low)]
    if not len(kept):
        return False
    opens, closes = _bounds(query, subject, first, last)
    start = query.hang(unnamed_spot(one.place, one.start))
    draft.filters.append(condition(start, "<=", closes))
    ended = draft.beside(one.place.end, one.end)
    draft.denied.append(denied(ended, condition(variable_of(ended.object), "<", opens)))
    query.keep(one.place, kept)
    return True


def _point_during(query: QueryBuilder, subject: Term, first: int, last: int) -> bool:
    """ "Launched during X": the date that words name lies in the time of X."""
    datatype = query.schema.datatype(first)
    for slot in query.slots:
        spot = query.spot(slot, sorts=DATED) if query.is_left(slot) else None
        if spot is None or query.schema.datatype(spot.predicate) != datatype:
            continue
        opens, closes = _bounds(query, subject, first, last)
        date = query.take_spot(spot)
        query.draft.filters += [condition(date, ">=", opens), condition(date, "<=", closes)]
        return True
    return False


def _bounds(query: QueryBuilder, subject: Term, first: int, last: int) -> tuple[Variable, Variable]:
    """The variables of an event's start and end; the same one if it has a single date."""
    found = []
    for number in dict.fromkeys((first, last)):
        query.draft.patterns.append(query.draft.beside(subject, number))
        found.append(variable_of(query.draft.patterns[-1].object))
    return found[0], found[-1]


def _event_dates(query: QueryBuilder, node: Ids) -> tuple[int, int] | None:
    """The predicates of an event's start and end: a span that it has whole, or its one date."""
    for start, end, _ in query.schema.spans:
        if all(len(query.graph.step(node, number)) for number in (start, end)):
            return start, end
    present = query.graph.predicates_of(node)[0].tolist()
    dated = [n for n in present if query.schema.sort(n) in (Sort.DATE, Sort.YEAR)]
    return (dated[0], dated[0]) if len(dated) == 1 else None


_FAR = float("inf")
_NAMED, _NAMED_NEAR = 0.6, 0.4
"""Words that fit a start or an end so well name it; right before the time, so well."""
_APART = 0.1  # words that fit a start and an end as nearly as this name neither of the two
_BESIDE_TIME = 2  # words so near before a time are about it


def spanned(
    query: QueryBuilder, *, named: bool, life: bool = False, constant: bool = False
) -> Spanned | None:
    """Return where in the pattern something starts and ends; relations without a name go first.

    Things with a name only count if `named`, and their lives if `life`; a thing that the question
    names itself if `constant`.
    """
    found: list[tuple[int, int, int, Spanned]] = []
    for number, (start, end, is_life) in enumerate(query.schema.spans):
        for place in query.draft.places:
            if (is_life and not life) or not (constant or isinstance(place.end, Variable)):
                continue
            ids = place.node.ids
            if not query.lookups.is_resource(ids) or not query.lookups.applies(ids, start, False):
                continue
            nameless = query.schema.is_nameless(ids)
            if nameless or named:
                one = Spanned(place, start, end, is_life)
                found.append((not nameless, place.below, number, one))
    return min(found, key=lambda one: one[:3])[3] if found else None


def asked_span(
    query: QueryBuilder, *, named: bool = False, operator: Operator | None = None
) -> Spanned | None:
    """Return the span that words of time are about.

    Things with a name count if other words say that they go on ("active", "alive").
    """
    said = query.frame.of("ongoing", *(("now", "past") if named else ()))
    operators = (*said, operator) if operator is not None else said
    at = {at for one in operators for at in one.positions}
    alive = set(alive_words(query))
    apart = operator is not None and operator.name == "now"  # "leben noch", "lebt sie noch"
    life = bool(alive if apart else alive & at)
    return spanned(query, named=named or bool(said), life=life)


def alive_words(query: QueryBuilder) -> list[int]:
    """The tokens that speak of a life: "alive", "leben"."""
    words = {phrase[0] for phrase in query.reading.words.times["alive"]}
    return [at for at, token in enumerate(query.reading.tokens) if token.folded in words]


def is_point(query: QueryBuilder, one: Spanned, quantity: Quantity) -> bool:
    """Return whether words name the start or the end, not both: "started in 1995".

    Words that stand right before the time may name those of something else in the pattern.
    """
    near = [slot for slot in query.slots if 0 < quantity.first - slot.last <= _BESIDE_TIME]
    return _names_one(query, query.slots, (one.start, one.end), _NAMED) or any(
        _names_one(query, near, span[:2], _NAMED_NEAR) for span in query.schema.spans
    )


def _names_one(
    query: QueryBuilder, slots: Sequence[Slot], span: tuple[int, int], at_least: float
) -> bool:
    start, end = (query.graph.iri_of(number) for number in span)
    for slot in slots:
        first, last = _fit(slot, start), _fit(slot, end)
        if max(first, last) >= at_least and abs(first - last) > _APART:
            return True
    return False


def _take_names(query: QueryBuilder, one: Spanned) -> None:
    """Words that name the start and the end alike name the time between: "in service"."""
    start, end = (query.graph.iri_of(number) for number in (one.start, one.end))
    for slot in query.slots:
        if query.is_left(slot) and _fit(slot, start) and _fit(slot, end):
            query.use(slot, slot.links[0])


def _fit(slot: Slot, iri: str) -> float:
    """How well words name a predicate."""
    fits = (one.score * one.quality for one in slot.links if one.target == iri)
    return max(fits, default=0.0)


def days_of(query: QueryBuilder, nodes: Ids, predicate: int, missing: float) -> NDArray[np.float64]:
    """The day that a predicate gives each node, the first one of several; else `missing`."""
    found = np.full(len(nodes), missing)
    bearers, objects = query.graph.pairs(nodes, predicate)
    literal = objects < query.graph.terms.first_iri
    at = np.searchsorted(nodes, bearers[literal][::-1])
    found[at] = query.graph.values[objects[literal][::-1]]
    return found


def overlapping(query: QueryBuilder, one: Spanned, low: float, high: float) -> bool:
    """Require that something had started by the last of some days and not ended before the first.

    What has no end goes on. Nothing is required, and False returned, if nothing fits.
    """
    ids = query.ids_at(one.place)
    starts = days_of(query, ids, one.start, _FAR)
    ends = days_of(query, ids, one.end, _FAR)
    kept = ids[(starts < high + 1) & (ends >= low)]
    if not len(kept):
        return False
    start = query.hang(unnamed_spot(one.place, one.start))
    closes = _literal(query, one.start, high, end=True)
    query.draft.filters.append(condition(start, "<=", closes))
    _not_ended(query, one, _literal(query, one.end, low), always=bool((ends < _FAR).all()))
    _take_names(query, one)
    query.keep(one.place, kept)
    return True


def unfinished(query: QueryBuilder, one: Spanned) -> bool:
    """Require that something has no end, or none up to today; False if nothing fits."""
    ids, today = query.ids_at(one.place), query.frame.today
    starts = days_of(query, ids, one.start, -_FAR)
    ends = days_of(query, ids, one.end, _FAR)
    kept = ids[(starts < today + 1) & (ends >= today)]
    if not len(kept):
        return False
    if bool((starts >= today + 1).any()):
        start = query.hang(unnamed_spot(one.place, one.start))
        bound = _literal(query, one.start, today, end=True)
        query.draft.filters.append(condition(start, "<=", bound))
    future = bool((ends[ends < _FAR] >= today).any())
    ended = _literal(query, one.end, today) if future else None
    _not_ended(query, one, ended, always=False)
    _take_names(query, one)
    query.keep(one.place, kept)
    return True


def over(query: QueryBuilder, one: Spanned) -> bool:
    """Require that something has ended by today; False if nothing has."""
    ids, today = query.ids_at(one.place), query.frame.today
    ends = days_of(query, ids, one.end, _FAR)
    kept = ids[ends < today]
    if not len(kept):
        return False
    end = query.hang(unnamed_spot(one.place, one.end))
    if bool((ends[ends < _FAR] >= today).any()):
        query.draft.filters.append(condition(end, "<", _literal(query, one.end, today)))
    query.keep(one.place, kept)
    return True


def _not_ended(query: QueryBuilder, one: Spanned, bound: Term | None, *, always: bool) -> None:
    """No end before a bound, or none at all; if all have ends, an end from the bound on."""
    draft = query.draft
    if always and bound is not None:
        end = query.hang(unnamed_spot(one.place, one.end))
        draft.filters.append(condition(end, ">=", bound))
        return
    ended = draft.beside(one.place.end, one.end)
    filters = [] if bound is None else [condition(variable_of(ended.object), "<", bound)]
    draft.denied.append(denied(ended, *filters))


def _literal(query: QueryBuilder, predicate: int, day: float, *, end: bool = False) -> Term:
    return day_term(day, query.schema.datatype(predicate), end=end)
