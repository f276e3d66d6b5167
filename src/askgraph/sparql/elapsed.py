"""The time between two dates as SPARQL that every engine computes alike, and reading it back.

SPARQL 1.1 has no difference of dates: engines differ in whether they have one, and in its type. So
only YEAR, MONTH, DAY and whole numbers are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from askgraph.sparql.read import read
from askgraph.sparql.tree import Bind, Call, Expression
from askgraph.sparql.write import text_of

__all__ = ["Between", "Elapsed", "elapsed_in", "elapsed_text"]

_UNITS = ("years", "months", "days", "calendar years")


@dataclass(frozen=True)
class Elapsed:
    """Whole `years`, `months` or `days` from a start to an end; `calendar years` of dates alone.

    The two are SPARQL: variables, or dates as literals.
    """

    unit: str
    start: str
    end: str


def elapsed_text(elapsed: Elapsed) -> str:
    """Return the SPARQL expression that computes it, a whole number; unbound without both dates.

    >>> elapsed_text(Elapsed("calendar years", "?start", "?end"))
    'YEAR(?end) - YEAR(?start)'
    """
    start, end = elapsed.start, elapsed.end
    match elapsed.unit:
        case "years":
            early = f"MONTH({end}) < MONTH({start})"
            same = f"MONTH({end}) = MONTH({start}) && DAY({end}) < DAY({start})"
            return f"YEAR({end}) - YEAR({start}) - IF({early} || ({same}), 1, 0)"
        case "months":
            months = f"12 * (YEAR({end}) - YEAR({start})) + MONTH({end}) - MONTH({start})"
            return f"{months} - IF(DAY({end}) < DAY({start}), 1, 0)"
        case "days":
            return f"{_day(end)} - ({_day(start)})"
        case _:
            return f"YEAR({end}) - YEAR({start})"


def _day(date: str) -> str:
    """The number of a day in the Gregorian calendar, by whole numbers alone.

    After Fliegel and Van Flandern, Communications of the ACM 11 (1968), p. 657, with years that
    start in March.
    """
    year, month = f"YEAR({date})", f"MONTH({date})"
    next_march = f"({year} + FLOOR(({month} + 9) / 12))"
    centuries = f"FLOOR(3 * (FLOOR(({next_march} - 1) / 100) + 1) / 4)"
    leaps = f"FLOOR(7 * {next_march} / 4)"
    return f"367 * {year} - {leaps} - {centuries} + FLOOR(275 * {month} / 9) + DAY({date})"


@dataclass(frozen=True)
class Between:
    """What an expression computes: the `unit` of `Elapsed`, and its two dates."""

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
            if _tree(elapsed_text(Elapsed(unit, text_of(start), text_of(end)))) == expression:
                return Between(unit, start, end)
    return None


def _dated(expression: Expression) -> Iterator[Expression]:
    if isinstance(expression, Call):
        if expression.name == "YEAR":
            yield expression.arguments[0]
        for argument in expression.arguments:
            yield from _dated(argument)


@lru_cache(maxsize=256)
def _tree(text: str) -> Expression | None:
    element = read(f"SELECT * {{ BIND({text} AS ?elapsed) }}").where.elements[0]
    return element.value if isinstance(element, Bind) else None
