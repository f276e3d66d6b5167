"""Comparable values of RDF terms: what counts as the same value, whatever its datatype.

1 = 1.0 = "1" = "1"^^xsd:byte          numbers by value
0.333333333 = 0.333333334              within a millionth, unless both are whole numbers
"true" = "1"^^xsd:boolean              booleans
"Mond"@de = "Mond"                     language tags are dropped
2020-01-01 = 2020-01-01T00:00:00Z      dates by time point; without a zone they are UTC
"007" ≠ 7                              text with a leading zero is a code, not a number
<http://example.org/%C3%A9> ≠ <http://example.org/é>    IRIs as they are written
"P1D" ≠ "PT24H"                        durations and times of day as they are written
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from itertools import groupby, permutations, product

from pyoxigraph import Literal

from askgraph.sparql import vocabulary as voc
from askgraph.sparql.results import Row, SelectResult, Term, value_of

TOLERANCE = 1e-6  # relative; the averages of two engines differ in the last digits

Cell = tuple[str, str | int | float]  # what the value is (text, number, boolean, time); its key

NUMBER = re.compile(r"[+-]?(?:[0-9]{1,60}(?:\.[0-9]{0,60})?|\.[0-9]{1,60})(?:[eE][+-]?[0-9]{1,3})?")
CODE = re.compile(r"[+-]?0[0-9].*")
TIME = re.compile(
    r"(-?[0-9]{4,9})(-[0-9]{2}-[0-9]{2})(T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?)?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})?"
)
CYCLE = 400  # years after which the calendar repeats itself


def cell_of_term(term: Term | None) -> Cell | None:
    """Return the comparable form of an RDF term; an IRI equals the text that spells it."""
    text = value_of(term)
    if text is None:
        return None
    if not isinstance(term, Literal):
        return _text(text)
    datatype = term.datatype.value
    if datatype == voc.XSD_BOOLEAN and text.strip() in ("0", "1"):
        return ("boolean", "true" if text.strip() == "1" else "false")
    return _cell_of_text(text, numeric=datatype in voc.NUMERIC_DATATYPES)


def cell_of_json(value: object) -> Cell | None:
    """Return the comparable form of a plain JSON value, whose datatype is not known."""
    if value is None:
        return None
    if isinstance(value, bool):
        return ("boolean", str(value).lower())
    return _cell_of_text(str(value), numeric=isinstance(value, int | float))


def same_numbers(numbers: Set[int | float]) -> dict[int | float, int | float]:
    """Map each number to the first, in order, of those that count as the same."""
    representative: dict[int | float, int | float] = {}
    head: int | float | None = None
    whole: int | None = None
    for number in sorted(numbers):
        another_whole = isinstance(number, int) and whole not in (None, number)
        if head is None or another_whole or abs(number - head) > TOLERANCE * abs(number):
            head, whole = number, None
        if isinstance(number, int):
            whole = number
        representative[number] = head
    return representative


def _cell_of_text(text: str, *, numeric: bool) -> Cell:
    bare = text.strip()
    if bare.lower() in ("true", "false"):
        return ("boolean", bare.lower())
    if NUMBER.fullmatch(bare) and (numeric or not CODE.fullmatch(bare)):
        number = _number(bare)
        return ("number", number) if math.isfinite(number) else _text(f"{number}".upper())
    if match := TIME.fullmatch(bare):
        moment = _moment(*match.groups())
        if moment is not None:
            return ("time", moment)
    return _text(text)


def _text(text: str) -> Cell:
    return ("text", unicodedata.normalize("NFC", text))


def _number(text: str) -> int | float:
    number = Decimal(text)
    if number.adjusted() < 60 and number == number.to_integral_value():
        return int(number)
    return float(number)


def _moment(year: str, day: str, clock: str | None, zone: str | None) -> str | None:
    """Return a moment in UTC, also of years that `datetime` does not have, by one like it."""
    cycles, within = divmod(int(year), CYCLE)
    like = f"{within + CYCLE:04}{day}{clock or 'T00:00:00'}{zone or '+00:00'}"
    try:
        moment = datetime.fromisoformat(like).astimezone(UTC)
    except ValueError:
        return None
    true = moment.year + (cycles - 1) * CYCLE
    return f"{'-' * (true < 0)}{abs(true):04}{moment.isoformat()[4:]}"


_MAPPINGS = 120  # ways to order columns that nothing tells apart
_ROUNDS = 3
_NOTHING: Cell = ("", "")  # unbound
_Row = tuple[Cell, ...]


def alike(results: Sequence[SelectResult | bool]) -> list[int]:
    """Number results from 0 as they come; two have one number if and only if they give the same.

    They are compared as sets of rows of values (`askgraph.sparql.comparison`), under any order of
    columns; order and repetition of rows, names of columns and datatypes do not count. All results
    without a value are one. A yes or no is the same as a single boolean. Blank nodes are equal by
    name, which is sound only for results of one endpoint that keeps names. Of a truncated result
    the rows that are there are compared. Linear in the rows; if more than five columns cannot
    be told apart by their values, only the values of each row count, whichever column they are in.
    """
    tables = _with_same_numbers(*map(_rows, results))
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(_canonical(set(rows)), len(numbers)) for rows in tables]


def is_blank(result: SelectResult | bool) -> bool:
    """Return whether a result holds no value at all."""
    if isinstance(result, bool):
        return False
    return all(term is None for row in result.rows for term in row)


def of_columns(result: SelectResult, columns: Sequence[str]) -> SelectResult:
    """Return a result with these of its columns only; with all if it has none of them."""
    at = [result.variables.index(name) for name in columns if name in result.variables]
    if not at:
        return result
    rows = tuple(tuple(row[n] for n in at) for row in result.rows)
    names = tuple(result.variables[n] for n in at)
    return SelectResult(names, rows, result.truncated, result.seconds)


def _rows(result: SelectResult | bool) -> list[_Row]:
    if isinstance(result, bool):
        return [(("boolean", str(result).lower()),)]
    return [] if is_blank(result) else _cells(result)


def _cells(result: SelectResult) -> list[_Row]:
    return [tuple(cell_of_term(term) or _NOTHING for term in row) for row in result.rows]


def _with_same_numbers(*tables: Sequence[_Row]) -> list[list[_Row]]:
    """Tables in which numbers that count as the same are."""
    found = {cell[1] for rows in tables for row in rows for cell in row}
    same = same_numbers({value for value in found if not isinstance(value, str)})
    return [
        [
            tuple(cell if isinstance(cell[1], str) else (cell[0], same[cell[1]]) for cell in row)
            for row in rows
        ]
        for rows in tables
    ]


def _canonical(rows: set[_Row]) -> Hashable:
    """What equal tables, and no others, have in common."""
    width = len(next(iter(rows), ()))
    if width < 2:
        return width, frozenset(rows)
    signs = _signs(list(rows), width)
    order = sorted(range(width), key=lambda at: signs[at])
    tied = [tuple(group) for _, group in groupby(order, key=lambda at: signs[at])]
    number = math.prod(math.factorial(len(group)) for group in tied)
    if number > _MAPPINGS:
        return width, frozenset(tuple(sorted(row)) for row in rows)
    if number == 1:
        return width, frozenset(tuple(row[at] for at in order) for row in rows)
    ways = product(*map(permutations, tied))
    orders = [[at for group in way for at in group] for way in ways]
    return width, min(tuple(sorted(tuple(row[at] for at in way) for row in rows)) for way in orders)


def _signs(rows: Sequence[_Row], width: int) -> list[int]:
    """Tell columns apart, by their values and, in more rounds, by what stands beside these."""
    signs = [0] * width
    for _ in range(_ROUNDS):
        beside = [hash(tuple(sorted(map(hash, zip(row, signs, strict=True))))) for row in rows]
        counted = [
            Counter(zip((row[at] for row in rows), beside, strict=True)) for at in range(width)
        ]
        signs = [hash((sign, frozenset(c.items()))) for sign, c in zip(signs, counted, strict=True)]
        if len(set(signs)) == width:
            break
    return signs


_WAYS = 120  # mappings of columns that are tried


@dataclass(frozen=True)
class Differing:
    """Rows that only one of two results has, as they came, each once; `common` counts the others.

    The rows are whole, even if they were compared by some of their columns: `mapped` says for
    each column of the narrower result which one of the other it is compared with.
    """

    only_first: tuple[Row, ...]
    only_second: tuple[Row, ...]
    common: int
    mapped: tuple[int, ...]


def differing(first: SelectResult, second: SelectResult) -> Differing:
    """Compare two results as sets of rows of comparable values (`askgraph.sparql.comparison`).

    Each column of the one with fewer columns is compared with one of the other, so that most rows
    agree. Linear in the rows; of more than 120 mappings those 120 that keep the order longest are
    tried.
    """
    if len(first.variables) > len(second.variables):
        turned = differing(second, first)
        return Differing(turned.only_second, turned.only_first, turned.common, turned.mapped)
    narrow, wide = _with_same_numbers(_cells(first), _cells(second))
    mapped = _best_mapping(narrow, wide, len(first.variables), len(second.variables))
    mine = dict(zip(reversed(narrow), reversed(first.rows), strict=True))
    shown = [tuple(cells[at] for at in mapped) for cells in wide]
    theirs = dict(zip(reversed(shown), reversed(second.rows), strict=True))
    return Differing(
        tuple(row for cells, row in reversed(mine.items()) if cells not in theirs),
        tuple(row for cells, row in reversed(theirs.items()) if cells not in mine),
        len(mine.keys() & theirs.keys()),
        mapped,
    )


def _best_mapping(
    narrow: Sequence[_Row], wide: Sequence[_Row], width: int, wider: int
) -> tuple[int, ...]:
    ways = [way for _, way in zip(range(_WAYS), permutations(range(wider), width), strict=False)]
    if len(ways) == 1:
        return ways[0]
    mine = set(narrow)
    return max(ways, key=lambda way: len({tuple(row[at] for at in way) for row in wide} & mine))
