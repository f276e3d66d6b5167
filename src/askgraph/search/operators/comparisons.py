"""Comparisons with a number, a date, a count, the average, or another thing's value."""

from dataclasses import replace

import numpy as np
from pyoxigraph import Variable

from askgraph.index.names import Kind
from askgraph.search.linking.link import Link
from askgraph.search.linking.operators import COMPARING, Operator
from askgraph.search.linking.quantities import Quantity
from askgraph.search.operators.ages import compared_age, is_age
from askgraph.search.operators.attachment import DATED, NUMERIC, Places, unnamed_spot
from askgraph.search.operators.draft import FIRST_DAY, day_term, year_of
from askgraph.search.operators.measures import (
    by_dimension,
    compared_nodes,
    fits_unit,
    number_of,
    number_term,
)
from askgraph.search.operators.query_builder import QueryBuilder, Spot
from askgraph.search.operators.times import asked_span, is_point, overlapping, spanned
from askgraph.search.query import (
    DECIMAL,
    INTEGER,
    aggregate,
    alias_of,
    average_of,
    condition,
    pattern,
    term_of,
)
from askgraph.sparql.tree import Call, Pattern, Term
from askgraph.traversal.arrays import in_both
from askgraph.traversal.literals import Sort, day_number

_MEASURED = (*NUMERIC, Sort.DATE, Sort.YEAR)


def comparison(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "More than 5 X", "before 1990": a condition on a value, or on how many there are."""
    after, before = places.frame.quantity_after(operator), places.frame.quantity_before(operator)
    quantity = before if operator.name in ("at_least", "at_most") and before else after
    sign = _turned(places, operator, COMPARING.get(operator.name))
    if quantity is not None and any(work.used >> at & 1 for at in quantity.positions):
        return False
    if quantity is None or sign is None:
        return _against(places, work, operator, sign)
    taken = operator.mask | sum(1 << at for at in quantity.positions)
    temporal = operator.name in ("before", "after")
    unit = places.next_place(work, quantity.last, 2)
    if unit is not None and not temporal:
        return _counted_against(places, work, operator, quantity, sign)
    if not temporal and _of_unit(places, work, operator, quantity, sign):
        return True
    spot = _compared(places, work, operator, quantity, temporal)
    if spot is None:
        return not temporal and _counted_against(places, work, operator, quantity, sign)
    if not (temporal and ended_in(places, work, operator, spot, quantity)):
        bound(places, work, spot, quantity, sign, since=is_since(places, operator))
    work.take(taken, sum(places.weights[at] for at in quantity.positions))
    return True


def _of_unit(
    places: Places, work: QueryBuilder, operator: Operator, quantity: Quantity, sign: str
) -> bool:
    """ "More than 30 years old", or a number with its unit at a node that words near by name."""
    following = quantity.measured.stop
    if quantity.unit is not None and following < len(places.reading.tokens):
        word = places.reading.tokens[following].folded
        for measure in places.reading.words.adjectives.get(word, ()):
            if measure.degree == "plain" and is_age(measure) and quantity.value is not None:
                old = replace(operator, measure=measure)
                if compared_age(places, work, old, quantity.value, sign):
                    places.take_tokens(work, range(quantity.first, following + 1))
                    return True
    near = (places.last_slot(work, operator.first, 5), places.next_slot(work, quantity.last, 3))
    return compared_nodes(places, work, [s for s in near if s is not None], quantity, sign)


def _compared(
    places: Places, work: QueryBuilder, operator: Operator, quantity: Quantity, temporal: bool
) -> Spot | None:
    """The predicate whose value is compared: named before, named after, or by its measure."""
    sorts: tuple[Sort, ...] = NUMERIC + DATED if quantity.days is not None else NUMERIC
    if temporal:
        sorts = DATED
    near = [
        places.last_slot(work, operator.first, 5),
        places.next_slot(work, quantity.last, 3),
        places.next_slot(work, operator.last, 2),
    ]
    for slot in near:
        spot = places.spot(work, slot, sorts=sorts) if slot is not None else None
        if slot is not None and spot is not None and fits(places, spot.predicate, quantity):
            places.use(work, slot, spot.link)
            return spot
    if operator.measure is not None:
        words = (*operator.measure.measures, *operator.measure.dates)
        spot = places.by_words(work, words, sorts)
        if spot is not None and fits(places, spot.predicate, quantity):
            return spot
        return by_dimension(places, work, quantity)
    if temporal:
        spot = span_spot(places, work, operator)
        if spot is not None:
            return spot
        return places.only(work, DATED) or places.by_words(work, ("year", "date"), NUMERIC + DATED)
    reused = [
        Spot(place, predicate, inverse, Link(Kind.PREDICATE, "", "", 1.0, (), ()))
        for (end, predicate, inverse) in work.draft.attached
        for place in work.draft.places
        if place.end == end and places.sort(predicate) in sorts
    ]
    return reused[0] if reused else by_dimension(places, work, quantity)


def _counted_against(
    places: Places, work: QueryBuilder, operator: Operator, quantity: Quantity, sign: str
) -> bool:
    """ "More than two X": a condition on how many things X names."""
    if quantity.value is None:
        return False
    place = places.next_place(work, quantity.last, 3)
    counted: Variable | None = None
    if place is work.root and isinstance(place.end, Variable):
        if not _grouped_before(places, work, operator):
            return False
        counted = place.end
    elif place is not None and isinstance(place.end, Variable):
        counted = place.end
    else:
        slot = places.next_slot(work, quantity.last, 3)
        spot = places.spot(work, slot) if slot is not None else None
        if slot is not None and spot is not None:
            counted = places.hang(work, spot)
            places.use(work, slot, spot.link)
    if counted is None:
        return False
    count = aggregate("COUNT", counted, distinct=True)
    work.draft.having.append(Call(sign, (count, number_term(quantity.value))))
    if not work.draft.group:
        places.group_by(work, work.root)
    work.grouped = True
    places.take_quantity(work, quantity)
    return True


def _grouped_before(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "Grades that have at least 4 students": one row for each value named before."""
    slot = places.last_slot(work, operator.first, 5)
    spot = places.spot(work, slot) if slot is not None else None
    if slot is None or spot is None:
        return False
    variable = places.hang(work, spot)
    places.use(work, slot, spot.link)
    shown = places.shown(work, variable, spot)
    work.draft.group.append(shown)
    work.projected.append((slot.first, shown))
    return True


def comparative(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "Taller than 90", "larger than Mars": a condition on what the adjective measures."""
    measure = operator.measure
    if measure is None:
        return False
    up = measure.up
    denied = _turned(places, operator, ">") != ">"
    quantity = places.frame.quantity_after(operator)
    if quantity is not None:
        spot = _compared(places, work, operator, quantity, False)
        if spot is None:
            sign = ">" if up else "<"
            sign = _DENIED[sign] if denied else sign
            if not is_age(measure) or quantity.value is None:
                return False
            if not compared_age(places, work, operator, quantity.value, sign):
                return False
            places.take_quantity(work, quantity)
            return True
        dated = places.sort(spot.predicate) in (Sort.DATE, Sort.YEAR)
        sign = "<" if up == dated else ">"
        sign = _DENIED[sign] if denied else sign
        bound(places, work, spot, quantity, sign)
        places.take_quantity(work, quantity)
        return True
    return _against(places, work, operator, ">" if up else "<")


_DENIED = {">": "<=", "<": ">=", ">=": "<", "<=": ">"}


def _turned(places: Places, operator: Operator, sign: str | None) -> str | None:
    """The opposite sign if a "not" stands right before: "not higher than"."""
    denied = any(op.last + 1 == operator.first for op in places.frame.of("not"))
    return _DENIED[sign] if denied and sign is not None else sign


def _against(places: Places, work: QueryBuilder, operator: Operator, sign: str | None) -> bool:
    """Compared with the average, or with the value of another thing."""
    if sign is None:
        return False
    mean = [op for op in places.frame.of("average") if 0 < op.first - operator.last <= 2]
    if mean:
        return _against_average(places, work, operator, mean[0], sign)
    return any(
        _against_thing(places, work, operator, link, sign)
        for link in places.linked.of(Kind.ENTITY, Kind.VALUE)
        if 0 < link.positions[0] - operator.last <= 3 and places.grower.gain(link, work.used)
    )


def _against_average(
    places: Places, work: QueryBuilder, operator: Operator, mean: Operator, sign: str
) -> bool:
    spot: Spot | None = None
    for slot in (
        places.next_slot(work, mean.last, 3),
        places.last_slot(work, operator.first, 5),
    ):
        spot = places.spot(work, slot, sorts=NUMERIC) if slot is not None else None
        if slot is not None and spot is not None:
            places.use(work, slot, spot.link)
            break
    if spot is None and operator.measure is not None:
        spot = places.by_words(work, operator.measure.measures, NUMERIC)
    if spot is None:
        return False
    variable = places.hang(work, spot)
    other = work.draft.variable(work.draft.hints[variable])
    member = work.draft.variable("other")
    iri = places.graph.iri_of(spot.predicate)
    members: tuple[Pattern, ...] = (pattern(member, iri, other),)
    cls = spot.place.node.cls
    if cls is not None:
        members = (work.draft.typed(member, cls), *members)
    average = average_of(other, members)
    work.draft.averages.append(average)
    work.draft.filters.append(condition(variable, sign, alias_of(average)))
    work.take(mean.mask, places.weight_of(mean.mask))
    return True


def _against_thing(
    places: Places, work: QueryBuilder, operator: Operator, link: Link, sign: str
) -> bool:
    thing = places.graph.terms.find(f"<{link.target}>" if link.kind is Kind.ENTITY else link.target)
    near = (places.next_slot(work, operator.last, 6), places.last_slot(work, operator.first, 4))
    slot = next((one for one in near if one is not None and not one.mask & link.mask), None)
    spot = places.spot(work, slot, sorts=_MEASURED) if slot is not None else None
    if spot is None and operator.measure is not None:
        words = (*operator.measure.measures, *operator.measure.dates)
        spot, slot = places.by_words(work, words, _MEASURED), None
    subject = None if thing is None or spot is None else _bearer(places, work, link, thing, spot)
    if spot is None or subject is None:
        return False
    mine = places.hang(work, spot)
    other = work.draft.variable("their " + work.draft.hints[mine])
    work.draft.patterns.append(pattern(subject, places.graph.iri_of(spot.predicate), other))
    if operator.measure is not None and places.sort(spot.predicate) in (Sort.DATE, Sort.YEAR):
        sign = "<" if sign == ">" else ">"
    work.draft.filters.append(condition(mine, sign, other))
    if slot is not None:
        places.use(work, slot, spot.link)
    work.take(link.mask, places.grower.gain(link, work.used))
    return True


def _bearer(places: Places, work: QueryBuilder, link: Link, thing: int, spot: Spot) -> Term | None:
    """What carries the value compared with: the thing itself, or what has it for a name."""
    ids, graph = np.array([thing], dtype=np.int32), places.graph
    if link.kind is Kind.ENTITY:
        return graph.terms.term(thing) if places.applies(ids, spot.predicate, False) else None
    bearers = graph.ends(spot.predicate)
    for predicate in graph.predicates_of(ids, inverse=True)[0]:
        carriers = graph.step(ids, int(predicate), inverse=True)
        if len(in_both(carriers, bearers)):
            subject = work.draft.variable(link.name)
            named = pattern(subject, graph.iri_of(int(predicate)), graph.terms.term(thing))
            work.draft.patterns.append(named)
            return subject
    return None


def between(places: Places, work: QueryBuilder, operator: Operator) -> bool:
    """ "Between 1960 and 1970": both bounds included."""
    first = places.frame.quantity_after(operator, 2)
    if first is None:
        return False
    later = [q for q in places.reading.quantities if 0 < q.first - first.last <= 3]
    if not later:
        return False
    if between_days(places, work, first, later[0]):
        return True
    spot = _compared(places, work, operator, first, first.days is not None)
    if spot is None:
        return False
    bound(places, work, spot, first, ">=")
    bound(places, work, spot, later[0], "<=")
    for quantity in (first, later[0]):
        places.take_quantity(work, quantity)
    return True


_DATES = (Sort.DATE, Sort.YEAR)


def is_since(places: Places, operator: Operator) -> bool:
    """Return whether words say "since": the time itself counts too."""
    word = places.reading.tokens[operator.first].folded
    return (word,) in places.reading.words.times["since"]


def span_spot(places: Places, work: QueryBuilder, operator: Operator) -> Spot | None:
    """Return the date that "before", "after", "since" and "until" are about if none is named.

    Of a relation it is the start, with "until" the end; so is the end of a thing with a name.
    """
    until = _is_until(places, operator)
    one = spanned(places, work, named=until)
    if one is None:
        return None
    predicate = one.end if until else one.start
    if not places.applies(places.ids_at(work, one.place), predicate, False):
        return None
    return unnamed_spot(one.place, predicate)


def ended_in(
    places: Places, work: QueryBuilder, operator: Operator, spot: Spot, quantity: Quantity
) -> bool:
    """ "Until 1989": the end lies in that time; False if none of them does."""
    span = days_in(quantity)
    ends = {end for _, end, _ in places.schema.spans}
    if span is None or spot.predicate not in ends or not _is_until(places, operator) or spot.path:
        return False
    _, objects = places.graph.pairs(places.ids_at(work, spot.place), spot.predicate)
    values = places.graph.values[objects[objects < places.graph.terms.first_iri]]
    if not ((values >= span[0]) & (values < span[1] + 1)).any():
        return False
    bound(places, work, spot, quantity, ">=")
    bound(places, work, spot, quantity, "<=")
    return True


def _is_until(places: Places, operator: Operator) -> bool:
    words = {phrase[0] for phrase in places.reading.words.times["until"]}
    return places.reading.tokens[operator.first].folded in words


def fits(places: Places, predicate: int, quantity: Quantity) -> bool:
    """Return whether a predicate's values may be compared with a quantity.

    Not if it has another dimension, and not dates with what is no time.
    """
    if places.sort(predicate) in _DATES and days_in(quantity) is None:
        return False
    return fits_unit(places, predicate, quantity)


def bound(
    places: Places,
    work: QueryBuilder,
    spot: Spot,
    quantity: Quantity,
    sign: str,
    *,
    since: bool = False,
) -> None:
    """Bound a predicate's value; of a span of days the far end counts, or the near one."""
    variable, sort = places.hang(work, spot), places.sort(spot.predicate)
    span = days_in(quantity)
    if sort in _DATES:
        if span is None:
            return
        low, high = span
        day = high if sign in (">", "<=") else low
        if since and sign == ">":
            day, sign = low, ">="
        early = sort is Sort.YEAR and day < FIRST_DAY
        datatype = places.schema.datatype(spot.predicate)
        literal = day_term(day, datatype, end=sign in (">", "<="))
        value = term_of(str(year_of(day))) if early else literal
        cast = INTEGER if early else ""
        work.draft.filters.append(condition(variable, sign, value, cast=cast))
        places.keep_where(work, spot, sign, day)
    elif quantity.value is not None:
        sign = ">=" if since and sign == ">" else sign
        number = number_of(places, work, spot.predicate, quantity)
        cast = DECIMAL if sort is Sort.TEXT_NUMBER else ""
        work.draft.filters.append(condition(variable, sign, number_term(number), cast=cast))
        places.keep_where(work, spot, sign, number)


def between_days(places: Places, work: QueryBuilder, first: Quantity, last: Quantity) -> bool:
    """Of what starts and ends: it had started by the later time and not ended before the earlier.

    Not if words ask for the start or the end itself.
    """
    if first.days is None or last.days is None:
        return False
    one = asked_span(places, work)
    if one is None or is_point(places, work, one, first):
        return False
    if not overlapping(places, work, one, first.days[0], last.days[1]):
        return False
    places.take_quantity(work, first)
    places.take_quantity(work, last)
    return True


def days_in(quantity: Quantity) -> tuple[float, float] | None:
    """The days that a quantity spans: its own, or those of the year that its number may be."""
    if quantity.days is not None or quantity.value is None or quantity.unit is not None:
        return quantity.days
    if not float(quantity.value).is_integer() or abs(quantity.value) > 9999:
        return None
    year = int(quantity.value)
    return day_number(year), day_number(year, 12, 31)
