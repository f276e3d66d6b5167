"""Which rows one result has and another has not, under the mapping of columns that fits best."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from askgraph.sparql.cells import Cell, cell_of_term, same_numbers
from askgraph.sparql.results import Row, SelectResult

__all__ = ["Differing", "differing"]

_WAYS = 120  # mappings of columns that are tried

_Cells = tuple[Cell | None, ...]


@dataclass(frozen=True)
class Differing:
    """Rows that only one of two results has, as they came, each once; `common` counts the others.

    The rows are whole, also where they were compared by some of their columns: `mapped` says for
    each column of the narrower result which one of the other it is compared with.
    """

    only_first: tuple[Row, ...]
    only_second: tuple[Row, ...]
    common: int
    mapped: tuple[int, ...]


def differing(first: SelectResult, second: SelectResult) -> Differing:
    """Compare two results as sets of rows of comparable values (`askgraph.sparql.cells`).

    Each column of the one with fewer columns is compared with one of the other, so that most rows
    agree. Linear in the rows; of more than 120 mappings those 120 that keep the order longest are
    tried.
    """
    if len(first.variables) > len(second.variables):
        turned = differing(second, first)
        return Differing(turned.only_second, turned.only_first, turned.common, turned.mapped)
    narrow, wide = _cells(first), _cells(second)
    same = same_numbers(_numbers(narrow) | _numbers(wide))
    narrow, wide = ([_renamed(cells, same) for cells in rows] for rows in (narrow, wide))
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


def _cells(result: SelectResult) -> list[_Cells]:
    return [tuple(map(cell_of_term, row)) for row in result.rows]


def _numbers(rows: Sequence[_Cells]) -> set[int | float]:
    found = (cell[1] for row in rows for cell in row if cell is not None)
    return {value for value in found if not isinstance(value, str)}


def _renamed(cells: _Cells, same: dict[int | float, int | float]) -> _Cells:
    return tuple(
        cell if cell is None or isinstance(cell[1], str) else (cell[0], same[cell[1]])
        for cell in cells
    )


def _best_mapping(
    narrow: Sequence[_Cells], wide: Sequence[_Cells], width: int, wider: int
) -> tuple[int, ...]:
    ways = [way for _, way in zip(range(_WAYS), permutations(range(wider), width), strict=False)]
    if len(ways) == 1:
        return ways[0]
    mine = set(narrow)
    return max(ways, key=lambda way: len({tuple(row[at] for at in way) for row in wide} & mine))
