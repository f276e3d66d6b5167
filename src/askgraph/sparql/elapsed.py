"""The time between two dates as SPARQL that every engine computes alike, and reading it back.

SPARQL 1.1 has no difference of dates: engines differ in whether they have one, and in its type. So
only YEAR, MONTH, DAY and whole numbers are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyoxigraph import Literal

from askgraph.sparql import Call, Expression
from askgraph.sparql.serializer import expression_text

_UNITS = ("years", "months", "days", "calendar years")


def elapsed(unit: str, start: Expression, end: Expression) -> Call:
    """Return the expression that computes it, a whole number; unbound without both dates.

    Whole `years`, `months` or `days` from a start to an end; `calendar years` of dates alone.
    """
    years = _call("-", _call("YEAR", end), _call("YEAR", start))
    months, days = ((_call(one, end), _call(one, start)) for one in ("MONTH", "DAY"))
    match unit:
        case "years":
            same = _call("&&", _call("=", *months), _call("<", *days))
            early = _call("||", _call("<", *months), same)
            return _call("-", years, _call("IF", early, Literal(1), Literal(0)))
        case "months":
            passed = _call("+", _call("*", Literal(12), years), months[0])
            early = _call("IF", _call("<", *days), Literal(1), Literal(0))
            return _call("-", _call("-", passed, months[1]), early)
        case "days":
            return _call("-", _day(end), _day(start))
        case _:
            return years


def elapsed_text(unit: str, start: Expression, end: Expression) -> str:
    """Return the expression as it stands in a query.

    >>> from pyoxigraph import Variable
    >>> elapsed_text("calendar years", Variable("start"), Variable("end"))
    'YEAR(?end) - YEAR(?start)'
    """
    return expression_text(elapsed(unit, start, end))


def _day(date: Expression) -> Call:
    """The number of a day in the Gregorian calendar, by whole numbers alone.

    After Fliegel and Van Flandern, Communications of the ACM 11 (1968), p. 657, with years that
    start in March.
    """
    year, month = _call("YEAR", date), _call("MONTH", date)
    late = _floor(_call("+", month, Literal(9)), 12)
    next_march = Call("+", (year, late), bracketed=True)
    century = _floor(_call("-", next_march, Literal(1)), 100)
    centuries = _floor(_call("*", Literal(3), _call("+", century, Literal(1))), 4)
    leaps = _floor(_call("*", Literal(7), next_march), 4)
    found = _call("-", _call("-", _call("*", Literal(367), year), leaps), centuries)
    found = _call("+", found, _floor(_call("*", Literal(275), month), 9))
    return _call("+", found, _call("DAY", date))


def _floor(value: Expression, by: int) -> Call:
    """The whole part of a quotient."""
    return _call("FLOOR", _call("/", value, Literal(by)))


def _call(name: str, *arguments: Expression) -> Call:
    return Call(name, arguments)


@dataclass(frozen=True)
class Between:
    """The time that an expression computes: its unit, as in `elapsed`, and its two dates."""

    unit: str
    start: Expression
    end: Expression


def elapsed_in(expression: Expression) -> Between | None:
    """Return what an expression computes, if it is one of these."""
    if not isinstance(expression, Call) or expression.name not in ("-", "+"):
        return None
    dates = list(dict.fromkeys(_dated(expression)))
    if len(dates) != 2:
        return None
    for unit in _UNITS:
        for start, end in (dates[::-1], dates):
            if elapsed(unit, start, end) == expression:
                return Between(unit, start, end)
    return None


def _dated(expression: Expression) -> Iterator[Expression]:
    if isinstance(expression, Call):
        if expression.name == "YEAR":
            yield expression.arguments[0]
        for argument in expression.arguments:
            yield from _dated(argument)
