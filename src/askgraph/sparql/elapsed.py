"""Write the time between two dates as portable SPARQL, and recognize it again.

SPARQL 1.1 has no difference of dates: engines differ in whether they have one, and in its type. So
only YEAR, MONTH, DAY and whole numbers are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyoxigraph import Literal

from askgraph.sparql import Call, Expression
from askgraph.sparql.serializer import format_expression

_UNITS = ("years", "months", "days", "seconds", "calendar years")
_SECONDS_OF_PARTS = {"HOURS": 3_600, "MINUTES": 60, "SECONDS": 1}


def build_elapsed_time(unit: str, start: Expression, end: Expression) -> Call:
    """Return the expression that computes the elapsed time, a whole number.

    It is unbound unless both dates are bound. Units are whole `years`, `months` or `days` from
    start to end, `seconds`, or `calendar years`, which only compare the years.
    """
    years = _build_call("-", _build_call("YEAR", end), _build_call("YEAR", start))
    months, days = ((_build_call(name, end), _build_call(name, start)) for name in ("MONTH", "DAY"))
    match unit:
        case "years":
            is_same_month = _build_call("&&", _build_call("=", *months), _build_call("<", *days))
            is_early = _build_call("||", _build_call("<", *months), is_same_month)
            return _build_call("-", years, _build_call("IF", is_early, Literal(1), Literal(0)))
        case "months":
            month_count = _build_call("+", _build_call("*", Literal(12), years), months[0])
            is_early = _build_call("IF", _build_call("<", *days), Literal(1), Literal(0))
            return _build_call("-", _build_call("-", month_count, months[1]), is_early)
        case "days":
            return _build_call("-", _build_day_number(end), _build_day_number(start))
        case "seconds":
            day_count = _build_call("-", _build_day_number(end), _build_day_number(start))
            seconds = _build_call("*", day_count, Literal(86_400))
            for name, factor in _SECONDS_OF_PARTS.items():
                part = _build_call("-", _build_call(name, end), _build_call(name, start))
                seconds = _build_call("+", seconds, _build_call("*", part, Literal(factor)))
            return seconds
        case _:
            return years


def format_elapsed_time(unit: str, start: Expression, end: Expression) -> str:
    """Return the expression as query text.

    >>> from pyoxigraph import Variable
    >>> format_elapsed_time("calendar years", Variable("start"), Variable("end"))
    'YEAR(?end) - YEAR(?start)'
    """
    return format_expression(build_elapsed_time(unit, start, end))


def _build_day_number(date: Expression) -> Call:
    """Return the number of a day in the Gregorian calendar, by whole numbers alone.

    After Fliegel and Van Flandern, Communications of the ACM 11 (1968), p. 657, with years that
    start in March.
    """
    year, month = _build_call("YEAR", date), _build_call("MONTH", date)
    march_offset = _build_quotient(_build_call("+", month, Literal(9)), 12)
    next_march = Call("+", (year, march_offset), bracketed=True)
    century = _build_quotient(_build_call("-", next_march, Literal(1)), 100)
    centuries = _build_quotient(
        _build_call("*", Literal(3), _build_call("+", century, Literal(1))), 4
    )
    leaps = _build_quotient(_build_call("*", Literal(7), next_march), 4)
    day_number = _build_call(
        "-", _build_call("-", _build_call("*", Literal(367), year), leaps), centuries
    )
    day_number = _build_call(
        "+", day_number, _build_quotient(_build_call("*", Literal(275), month), 9)
    )
    return _build_call("+", day_number, _build_call("DAY", date))


def _build_quotient(value: Expression, divisor: int) -> Call:
    return _build_call("FLOOR", _build_call("/", value, Literal(divisor)))


def _build_call(name: str, *arguments: Expression) -> Call:
    return Call(name, arguments)


@dataclass(frozen=True)
class ElapsedTime:
    """An elapsed time: its unit, as in `build_elapsed_time`, and its two dates."""

    unit: str
    start: Expression
    end: Expression


def parse_elapsed_time(expression: Expression) -> ElapsedTime | None:
    """Return the elapsed time that an expression computes; None for any other expression."""
    if not isinstance(expression, Call) or expression.name not in ("-", "+"):
        return None
    dates = list(dict.fromkeys(_find_dates(expression)))
    if len(dates) != 2:
        return None
    for unit in _UNITS:
        for start, end in (dates[::-1], dates):
            if build_elapsed_time(unit, start, end) == expression:
                return ElapsedTime(unit, start, end)
    return None


def _find_dates(expression: Expression) -> Iterator[Expression]:
    if isinstance(expression, Call):
        if expression.name == "YEAR":
            yield expression.arguments[0]
        for argument in expression.arguments:
            yield from _find_dates(argument)
