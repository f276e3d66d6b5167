"""Which results give the same: by their sets of rows, whatever columns are called and come in."""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import groupby, permutations, product

from askgraph.sparql.cells import Cell, cell_of_term, same_numbers
from askgraph.sparql.results import SelectResult

__all__ = ["alike", "is_blank", "of_columns"]

_MAPPINGS = 120  # ways to order columns that nothing tells apart
_ROUNDS = 3
_NOTHING: Cell = ("", "")  # unbound

_Row = tuple[Cell, ...]


def alike(results: Sequence[SelectResult | bool]) -> list[int]:
    """Number results from 0 as they come; two have one number exactly where they give the same.

    They are compared as sets of rows of values (`askgraph.sparql.cells`), under any order of
    columns; order and repetition of rows, names of columns and datatypes do not count. All results
    without a value are one. A yes or no is the same as a single boolean. Blank nodes are equal by
    name, which is sound only for results of one endpoint that keeps names. Of a truncated result
    the rows that are there are compared. Linear in the rows; where more than five columns cannot
    be told apart by their values, only the values of each row count, whichever column they are in.
    """
    tables = [_rows(result) for result in results]
    found = {cell[1] for rows in tables for row in rows for cell in row}
    same = same_numbers({value for value in found if not isinstance(value, str)})
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(_canonical(_renamed(rows, same)), len(numbers)) for rows in tables]


def is_blank(result: SelectResult | bool) -> bool:
    """Return whether a result holds no value at all."""
    if isinstance(result, bool):
        return False
    return all(term is None for row in result.rows for term in row)


def of_columns(result: SelectResult, columns: Sequence[str]) -> SelectResult:
    """Return a result with these of its columns only; with all where it has none of them."""
    at = [result.variables.index(name) for name in columns if name in result.variables]
    if not at:
        return result
    rows = tuple(tuple(row[n] for n in at) for row in result.rows)
    names = tuple(result.variables[n] for n in at)
    return SelectResult(names, rows, result.truncated, result.seconds)


def _rows(result: SelectResult | bool) -> set[_Row]:
    if isinstance(result, bool):
        return {(("boolean", str(result).lower()),)}
    if is_blank(result):
        return set()
    return {tuple(cell_of_term(term) or _NOTHING for term in row) for row in result.rows}


def _renamed(rows: set[_Row], same: dict[int | float, int | float]) -> set[_Row]:
    return {
        tuple(cell if isinstance(cell[1], str) else (cell[0], same[cell[1]]) for cell in row)
        for row in rows
    }


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
