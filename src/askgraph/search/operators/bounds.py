"""Bounds of a value: before, since, until, between; which date of a span such words are about."""

from askgraph.search.form import Filter
from askgraph.search.linking.operators import Operator
from askgraph.search.linking.quantities import Quantity
from askgraph.search.operators.attachment import Places, unnamed_spot
from askgraph.search.operators.days import FIRST_DAY, day_literal, year_of
from askgraph.search.operators.measures import fits_unit, number_of, plain
from askgraph.search.operators.query_builder import Spot, Work
from askgraph.search.operators.spans import asked_span, is_point, overlapping, spanned
from askgraph.traversal.literals import Sort, day_number

__all__ = ["between_days", "bound", "ended_in", "fits", "is_since", "span_spot"]

_DATES = (Sort.DATE, Sort.YEAR)
_SINCE = frozenset(["since", "seit", "desde", "depuis"])


def is_since(places: Places, operator: Operator) -> bool:
    """Return whether words say "since": the time itself counts too."""
    return places.reading.tokens[operator.first].folded in _SINCE


def span_spot(places: Places, work: Work, operator: Operator) -> Spot | None:
    """Return the date that "before", "after", "since" and "until" are about where none is named.

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
    places: Places, work: Work, operator: Operator, spot: Spot, quantity: Quantity
) -> bool:
    """ "Until 1989": the end lies in that time; False where none of them does."""
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

    Not where it has another dimension, and not dates with what is no time.
    """
    if places.sort(predicate) in _DATES and days_in(quantity) is None:
        return False
    return fits_unit(places, predicate, quantity)


def bound(
    places: Places, work: Work, spot: Spot, quantity: Quantity, sign: str, *, since: bool = False
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
        literal = day_literal(day, datatype, end=sign in (">", "<="))
        value = str(year_of(day)) if early else literal
        work.draft.filters.append(Filter(variable, sign, (value,), as_integer=early))
        places.keep_where(work, spot, sign, day)
    elif quantity.value is not None:
        sign = ">=" if since and sign == ">" else sign
        number = number_of(places, work, spot.predicate, quantity)
        text = sort is Sort.TEXT_NUMBER
        work.draft.filters.append(Filter(variable, sign, (plain(number),), as_number=text))
        places.keep_where(work, spot, sign, number)


def between_days(places: Places, work: Work, first: Quantity, last: Quantity) -> bool:
    """Of what starts and ends: it had started by the later time and not ended before the earlier.

    Not where words ask for the start or the end itself.
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
