"""Comparable values of RDF terms: decide which terms have the same value, whatever their datatype.

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
from askgraph.sparql.results import Row, SelectResult, Term, to_plain_value

RELATIVE_TOLERANCE = 1e-6  # relative; the averages of two engines differ in the last digits

Cell = tuple[str, str | int | float]  # kind (text, number, boolean, time) and key

NUMBER_PATTERN = re.compile(
    r"[+-]?(?:[0-9]{1,60}(?:\.[0-9]{0,60})?|\.[0-9]{1,60})(?:[eE][+-]?[0-9]{1,3})?"
)
CODE_PATTERN = re.compile(r"[+-]?0[0-9].*")
TIME_PATTERN = re.compile(
    r"(-?[0-9]{4,9})(-[0-9]{2}-[0-9]{2})(T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?)?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})?"
)
CALENDAR_CYCLE_YEARS = 400  # years after which the calendar repeats


def to_comparable_value(term: Term | None) -> Cell | None:
    """Return the comparable form of an RDF term; an IRI equals the same string as text."""
    text = to_plain_value(term)
    if text is None:
        return None
    if not isinstance(term, Literal):
        return _build_text_cell(text)
    datatype = term.datatype.value
    if datatype == voc.XSD_BOOLEAN and text.strip() in ("0", "1"):
        return ("boolean", "true" if text.strip() == "1" else "false")
    return _parse_cell(text, numeric=datatype in voc.NUMERIC_DATATYPES)


def parse_json_value(value: object) -> Cell | None:
    """Return the comparable form of a plain JSON value, whose datatype is unknown."""
    if value is None:
        return None
    if isinstance(value, bool):
        return ("boolean", str(value).lower())
    return _parse_cell(str(value), numeric=isinstance(value, int | float))


def map_equal_numbers(numbers: Set[int | float]) -> dict[int | float, int | float]:
    """Map each number to the smallest of the numbers that count as equal to it."""
    representative: dict[int | float, int | float] = {}
    group_head: int | float | None = None
    integer: int | None = None
    for number in sorted(numbers):
        if (
            group_head is None
            or (isinstance(number, int) and integer not in (None, number))
            or abs(number - group_head) > RELATIVE_TOLERANCE * abs(number)
        ):
            group_head, integer = number, None
        if isinstance(number, int):
            integer = number
        representative[number] = group_head
    return representative


def _parse_cell(text: str, *, numeric: bool) -> Cell:
    stripped = text.strip()
    if stripped.lower() in ("true", "false"):
        return ("boolean", stripped.lower())
    if NUMBER_PATTERN.fullmatch(stripped) and (numeric or not CODE_PATTERN.fullmatch(stripped)):
        number = _parse_number(stripped)
        return (
            ("number", number) if math.isfinite(number) else _build_text_cell(f"{number}".upper())
        )
    if match := TIME_PATTERN.fullmatch(stripped):
        moment = _normalize_time(*match.groups())
        if moment is not None:
            return ("time", moment)
    return _build_text_cell(text)


def _build_text_cell(text: str) -> Cell:
    return ("text", unicodedata.normalize("NFC", text))


def _parse_number(text: str) -> int | float:
    number = Decimal(text)
    if number.adjusted() < 60 and number == number.to_integral_value():
        return int(number)
    return float(number)


def _normalize_time(year: str, day: str, clock: str | None, zone: str | None) -> str | None:
    """Return a time in UTC, also for years outside the range of `datetime`."""
    cycles, year_in_cycle = divmod(int(year), CALENDAR_CYCLE_YEARS)
    shifted_text = (
        f"{year_in_cycle + CALENDAR_CYCLE_YEARS:04}{day}{clock or 'T00:00:00'}{zone or '+00:00'}"
    )
    try:
        moment = datetime.fromisoformat(shifted_text).astimezone(UTC)
    except ValueError:
        return None
    real_year = moment.year + (cycles - 1) * CALENDAR_CYCLE_YEARS
    return f"{'-' * (real_year < 0)}{abs(real_year):04}{moment.isoformat()[4:]}"


_MAX_COLUMN_ORDERS = 120  # orders to try for indistinguishable columns
_MAX_REFINEMENT_ROUNDS = 3
_UNBOUND_CELL: Cell = ("", "")  # unbound
_CellRow = tuple[Cell, ...]


def group_equal_results(results: Sequence[SelectResult | bool]) -> list[int]:
    """Number results from 0 in order; equal results, and no others, get the same number.

    They are compared as sets of rows of values (`askgraph.sparql.comparison`), under any order
    of columns. Order and repetition of rows, column names and datatypes do not count. All
    results without a value are equal. A boolean result equals a single boolean value. Blank
    nodes are equal by label, which is sound only for results of one endpoint that keeps labels.
    Of a truncated result the available rows are compared. Time is linear in the rows; if more
    than five columns have indistinguishable values, only the values of each row count, in any
    column.
    """
    tables = _unify_numbers(*map(_get_result_rows, results))
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(_canonicalize_rows(set(rows)), len(numbers)) for rows in tables]


def has_no_value(result: SelectResult | bool) -> bool:
    """Return whether a result contains no value at all."""
    if isinstance(result, bool):
        return False
    return all(term is None for row in result.rows for term in row)


def select_columns(result: SelectResult, columns: Sequence[str]) -> SelectResult:
    """Return a result with some of its columns only; with all if it has none of them."""
    indices = [result.variables.index(name) for name in columns if name in result.variables]
    if not indices:
        return result
    rows = tuple(tuple(row[index] for index in indices) for row in result.rows)
    names = tuple(result.variables[index] for index in indices)
    return SelectResult(names, rows, result.truncated, result.seconds)


def _get_result_rows(result: SelectResult | bool) -> list[_CellRow]:
    if isinstance(result, bool):
        return [(("boolean", str(result).lower()),)]
    return [] if has_no_value(result) else _get_cells(result)


def _get_cells(result: SelectResult) -> list[_CellRow]:
    return [
        tuple(to_comparable_value(term) or _UNBOUND_CELL for term in row) for row in result.rows
    ]


def _unify_numbers(*tables: Sequence[_CellRow]) -> list[list[_CellRow]]:
    """Return the tables with numbers that count as equal replaced by one number."""
    values = {cell[1] for rows in tables for row in rows for cell in row}
    number_map = map_equal_numbers({value for value in values if not isinstance(value, str)})
    return [
        [
            tuple(
                cell if isinstance(cell[1], str) else (cell[0], number_map[cell[1]]) for cell in row
            )
            for row in rows
        ]
        for rows in tables
    ]


def _canonicalize_rows(rows: set[_CellRow]) -> Hashable:
    """Return a hashable form that is the same for equal tables only."""
    column_count = len(next(iter(rows), ()))
    if column_count < 2:
        return column_count, frozenset(rows)
    signatures = _compute_column_signatures(list(rows), column_count)
    order = sorted(range(column_count), key=lambda column: signatures[column])
    tied_groups = [
        tuple(group) for _, group in groupby(order, key=lambda column: signatures[column])
    ]
    order_count = math.prod(math.factorial(len(group)) for group in tied_groups)
    if order_count > _MAX_COLUMN_ORDERS:
        return column_count, frozenset(tuple(sorted(row)) for row in rows)
    if order_count == 1:
        return column_count, frozenset(tuple(row[column] for column in order) for row in rows)
    orders = [
        [column for group in column_order for column in group]
        for column_order in product(*map(permutations, tied_groups))
    ]
    return column_count, min(
        tuple(sorted(tuple(row[column] for column in column_order) for row in rows))
        for column_order in orders
    )


def _compute_column_signatures(rows: Sequence[_CellRow], width: int) -> list[int]:
    """Return a hash per column: of its values and, after more rounds, of their rows."""
    signatures = [0] * width
    for _ in range(_MAX_REFINEMENT_ROUNDS):
        row_hashes = [
            hash(tuple(sorted(map(hash, zip(row, signatures, strict=True))))) for row in rows
        ]
        counters = [
            Counter(zip((row[column] for row in rows), row_hashes, strict=True))
            for column in range(width)
        ]
        signatures = [
            hash((signature, frozenset(counter.items())))
            for signature, counter in zip(signatures, counters, strict=True)
        ]
        if len(set(signatures)) == width:
            break
    return signatures


_MAX_COLUMN_MAPPINGS = 120  # mappings of columns that are tried


@dataclass(frozen=True)
class ResultDifference:
    """Rows that only one of two results has, as received, each once; `common` counts the others.

    Rows have all their columns, even if only some were compared: `mapped` gives for each column of
    the narrower result the index of the column of the other one that it was compared with.
    """

    only_first: tuple[Row, ...]
    only_second: tuple[Row, ...]
    common: int
    mapped: tuple[int, ...]


def compare_results(first: SelectResult, second: SelectResult) -> ResultDifference:
    """Compare two results as sets of rows of comparable values (`askgraph.sparql.comparison`).

    Each column of the narrower result is compared with one of the other, so that most rows agree.
    Time is linear in the rows; of more than 120 mappings, the 120 that keep the order longest are
    tried.
    """
    if len(first.variables) > len(second.variables):
        reversed_difference = compare_results(second, first)
        return ResultDifference(
            reversed_difference.only_second,
            reversed_difference.only_first,
            reversed_difference.common,
            reversed_difference.mapped,
        )
    narrow, wide = _unify_numbers(_get_cells(first), _get_cells(second))
    mapping = _choose_mapping(narrow, wide, len(first.variables), len(second.variables))
    first_rows = dict(zip(reversed(narrow), reversed(first.rows), strict=True))
    mapped_rows = [tuple(cells[column] for column in mapping) for cells in wide]
    second_rows = dict(zip(reversed(mapped_rows), reversed(second.rows), strict=True))
    return ResultDifference(
        tuple(row for cells, row in reversed(first_rows.items()) if cells not in second_rows),
        tuple(row for cells, row in reversed(second_rows.items()) if cells not in first_rows),
        len(first_rows.keys() & second_rows.keys()),
        mapping,
    )


def _choose_mapping(
    narrow: Sequence[_CellRow], wide: Sequence[_CellRow], narrow_width: int, wide_width: int
) -> tuple[int, ...]:
    mappings = [
        mapping
        for _, mapping in zip(
            range(_MAX_COLUMN_MAPPINGS), permutations(range(wide_width), narrow_width), strict=False
        )
    ]
    if len(mappings) == 1:
        return mappings[0]
    narrow_rows = set(narrow)
    return max(
        mappings,
        key=lambda mapping: len(
            {tuple(row[column] for column in mapping) for row in wide} & narrow_rows
        ),
    )
