"""Hubs of two tables: one for each combination of values that rows of both hold.

Two rows agree in some columns; each subset of these columns, with the values there, is a hub that
both belong to, and their similarity is the number of columns of the largest hub they share. The
memberships of rows in hubs thus say what all pairs of rows would say, and grow with the number of
rows and not of pairs.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

PAIRS_PER_MEMBER = 2  # a hub with no more pairs than this for each member becomes its pairs

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Hubs:
    """Memberships: `rows[i]` belongs to `hubs[i]`; `weights` says how many columns a hub is."""

    rows: Numbers
    hubs: Numbers
    weights: Numbers


def hubs(cells: Numbers, predicted: int, *, limit: int) -> Hubs | None:
    """Return the hubs that tell all similarities, or `None` above so many memberships.

    `cells` are numbered values, a line for each row; the first `predicted` lines are the predicted
    rows, the others those of gold. No predicted row equals a gold row in all columns.
    """
    found: list[Hubs] = []
    pairs: list[Numbers] = []
    size = 0
    for hub, small in _subsets(cells, predicted):
        found.append(hub)
        pairs.append(small)
        size += len(hub.rows) + 2 * len(small)
        if size > limit:
            return None
    return _joined([*found, _of_pairs(cells, pairs)])


def hubs_of_sizes(cells: Numbers, predicted: int, *, limit: int) -> Hubs:
    """Return the hubs of some numbers of columns only: one, all but one, all but two, and so on.

    Of the latter, as many as stay below so many memberships. The similarity of two rows that agree
    in another number of columns is rounded down to the next of these.
    """
    width = cells.shape[1]
    sizes, room = [1, width - 1], limit - 2 * cells.size
    for size in range(width - 2, 1, -1):
        room -= comb(width, size) * len(cells)
        if room < 0:
            break
        sizes.append(size)
    found = []
    for size in sorted(set(sizes)):
        for columns in combinations(range(width), size):
            number, has_predicted, has_gold = _counted(codes(cells[:, columns]), predicted)
            found.append(_emitted(number, (has_predicted > 0) & (has_gold > 0), size))
    return _joined(found)


def codes(cells: Numbers) -> Numbers:
    """Return one number for each row, equal if the rows are equal."""
    code = np.zeros(len(cells), np.int64)
    for column in cells.T:
        code = _numbered(_extended(code, column))
    return code


def _subsets(cells: Numbers, predicted: int) -> Iterator[tuple[Hubs, Numbers]]:
    """Yield, for each subset of columns, its hubs, and the pairs that stand for small hubs.

    Larger subsets are looked up only within the hubs that were not broken up into pairs, so columns
    of many values go first, whatever their order in the table.
    """
    cells = cells[:, sorted(range(cells.shape[1]), key=lambda at: _spread(cells[:, at]))]
    width = cells.shape[1]
    everything = np.arange(len(cells))
    stack = [(everything, np.zeros(len(cells), np.int64), 0, 0)]
    while stack:
        members, code, first, size = stack.pop()
        size += 1
        for column in range(first, width):
            wider = _extended(code, cells[members, column])
            border = int(np.searchsorted(members, predicted))
            number, of_predicted, of_gold = _counted(wider, border)
            shared = (of_predicted > 0) & (of_gold > 0)
            few = PAIRS_PER_MEMBER * (of_predicted + of_gold)
            small = shared & (of_predicted * of_gold <= few) & (size < width - 1)
            large = shared & ~small
            hub = _emitted(number, large, size)
            kept = hub.rows
            yield (
                Hubs(members[kept], hub.hubs, hub.weights),
                members[_pairs(number, small, border)],
            )
            if size < width - 1 and len(kept):
                stack.append((members[kept], number[kept], column + 1, size))


def _spread(column: Numbers) -> tuple[int, list[int]]:
    counts = np.sort(np.unique(column, return_counts=True)[1])
    return -len(counts), counts.tolist()


def _extended(code: Numbers, column: Numbers) -> Numbers:
    return code * (int(column.max(initial=0)) + 1) + column


def _numbered(code: Numbers) -> Numbers:
    numbers: Numbers = np.unique(code, return_inverse=True)[1].astype(np.int64)
    return numbers


def _counted(code: Numbers, predicted: int) -> tuple[Numbers, Numbers, Numbers]:
    """Number equal codes, and count those of each number among predicted and among gold rows."""
    number = _numbered(code)
    classes = int(number.max(initial=-1)) + 1
    return (
        number,
        np.bincount(number[:predicted], minlength=classes),
        np.bincount(number[predicted:], minlength=classes),
    )


def _emitted(number: Numbers, wanted: NDArray[np.bool_], size: int) -> Hubs:
    """Return the hubs of the wanted numbers, numbered anew from 0; rows are positions."""
    rows = np.flatnonzero(wanted[number])
    anew = np.cumsum(wanted) - 1
    weights = np.full(int(wanted.sum()), size, np.int64)
    return Hubs(rows, anew[number[rows]], weights)


def _pairs(number: Numbers, wanted: NDArray[np.bool_], predicted: int) -> Numbers:
    """Return, a line each, the positions of all pairs of rows with the same wanted number."""
    one, other = number[:predicted], number[predicted:]
    order = np.argsort(other, kind="stable")
    ordered = other[order]
    left = np.flatnonzero(wanted[one])
    starts = np.searchsorted(ordered, one[left], "left")
    counts = np.searchsorted(ordered, one[left], "right") - starts
    within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    right = predicted + order[np.repeat(starts, counts) + within]
    return np.column_stack((np.repeat(left, counts), right))


def _of_pairs(cells: Numbers, found: list[Numbers]) -> Hubs:
    """Return each pair as a hub of its own, with the number of columns in which it agrees."""
    pairs = np.concatenate([np.empty((0, 2), np.int64), *found])
    code = np.unique(pairs[:, 0] * len(cells) + pairs[:, 1])
    one, other = np.divmod(code, len(cells))
    weights = (cells[one] == cells[other]).sum(axis=1)
    numbers = np.arange(len(code))
    return Hubs(np.concatenate((one, other)), np.concatenate((numbers, numbers)), weights)


def _joined(parts: Iterable[Hubs]) -> Hubs:
    parts = list(parts)
    starts = np.cumsum([0, *(len(part.weights) for part in parts)])[:-1]
    return Hubs(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.hubs + start for part, start in zip(parts, starts, strict=True)]),
        np.concatenate([part.weights for part in parts]),
    )
