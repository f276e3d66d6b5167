"""In how many cells two tables agree when their rows are matched one to one, at best.

The best matching is found exactly, and without a list of all pairs of rows: equal rows first, which
is safe since the number of differing cells is a metric; then a flow through the values that rows
share (see `_hubs`). This is the Hungarian method with all augmentations of a step at once: prices
of rows fall from the number of columns to 0 in whole steps, since similarities are whole numbers of
cells. A step costs one maximum flow, and there are fewer steps than columns (Kuhn, "The Hungarian
method for the assignment problem", 1955).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

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


PAIRS = 40_000  # of rows; up to here a matrix is faster than hubs, the result is the same
WIDE_PAIRS = 4_000_000  # up to here if there may be more hubs than pairs
MEMBERSHIPS = 10_000_000  # of rows in hubs, about 1 GB; above, similarities are rounded down


def equal_cells(
    predicted: Numbers,
    gold: Numbers,
    *,
    pairs: int = PAIRS,
    wide_pairs: int = WIDE_PAIRS,
    memberships: int = MEMBERSHIPS,
) -> int:
    """Return the largest number of equal cells over all one-to-one matchings of the rows.

    Cells are numbers, equal if the values are; both tables have the same columns in the same
    order, and may hold a row several times. Up to three columns the result is exact. With more, it
    may be too low if few values fill most columns of a large table, so that there are more than
    so many `memberships`: then two rows count as equal in all cells, in one, in all but one, in all
    but two, and so on as far as there is room, whichever is next below the truth.
    """
    width = int(predicted.shape[1])
    equal, rest = _without_equal_rows(predicted, gold)
    if width < 2 or not rest.border or rest.border == len(rest.cells):
        return equal * width
    have, wanted = (int(part.sum()) for part in np.split(rest.copies, [rest.border]))
    if have * wanted <= max(pairs, min(wide_pairs, (have + wanted) << width - 2)):
        return equal * width + _by_matrix(rest)
    found = hubs(rest.cells, rest.border, limit=memberships)
    if found is None:
        found = hubs_of_sizes(rest.cells, rest.border, limit=memberships)
    return equal * width + _by_flow(rest, found)


@dataclass(frozen=True)
class _Rest:
    """Distinct rows with the number of copies of each: the predicted ones up to a border, gold."""

    cells: Numbers
    copies: Numbers
    border: int


def _without_equal_rows(predicted: Numbers, gold: Numbers) -> tuple[int, _Rest]:
    """Return how many rows have an equal partner, and the others."""
    cells = np.concatenate((predicted, gold))
    _, first, number = np.unique(codes(cells), return_index=True, return_inverse=True)
    have = np.bincount(number[: len(predicted)], minlength=len(first))
    wanted = np.bincount(number[len(predicted) :], minlength=len(first))
    more, missing = np.maximum(have - wanted, 0), np.maximum(wanted - have, 0)
    order = np.concatenate((np.flatnonzero(more), np.flatnonzero(missing)))
    rest = _Rest(cells[first[order]], (more + missing)[order], int(np.count_nonzero(more)))
    return int(np.minimum(have, wanted).sum()), rest


def _by_matrix(rest: _Rest) -> int:
    have, wanted = np.split(
        np.repeat(rest.cells, rest.copies, axis=0), [int(rest.copies[: rest.border].sum())]
    )
    similarity = np.zeros((len(have), len(wanted)), np.int64)
    for one, other in zip(have.T, wanted.T, strict=True):
        similarity += one[:, None] == other[None, :]
    return int(similarity[linear_sum_assignment(similarity, maximize=True)].sum())


def _by_flow(rest: _Rest, shared: Hubs) -> int:
    """Return the weight of the best flow from predicted rows through hubs to gold rows."""
    sends = shared.rows < rest.border
    prices = np.zeros(len(rest.cells), np.int64)
    prices[: rest.border] = top = int(shared.weights.max(initial=0))
    unmatched = rest.copies.copy()
    flow = np.zeros(len(sends), np.int64)
    for _ in range(top):
        of_rows = prices[shared.rows]
        lowest = np.full((2, len(shared.weights)), np.iinfo(np.int64).max // 2)
        np.minimum.at(lowest, (sends.astype(np.int64), shared.hubs), of_rows)
        exact = lowest.sum(axis=0) == shared.weights
        mine = np.where(sends, lowest[1][shared.hubs], lowest[0][shared.hubs])
        tight: NDArray[np.bool_] = exact[shared.hubs] & (mine == of_rows)
        network = _Network(rest, shared, sends, flow, tight)
        flow, unmatched = network.augmented(unmatched)
        if not unmatched[: rest.border].any():
            break
        network = _Network(rest, shared, sends, flow, network.tight)
        reached = network.reached(unmatched)
        prices[reached] += np.where(reached < rest.border, -1, 1)
    return int((flow * shared.weights[shared.hubs])[sends].sum())


@dataclass(frozen=True)
class _Network:
    """What may still flow: nodes are source, sink, rows, then hubs; arcs are the tight ones."""

    rest: _Rest
    shared: Hubs
    sends: NDArray[np.bool_]
    flow: Numbers
    tight: NDArray[np.bool_]

    def augmented(self, unmatched: Numbers) -> tuple[Numbers, Numbers]:
        """Return the flow with as much more as possible, and the copies that stay unmatched."""
        moved = maximum_flow(self._residual(unmatched), 0, 1).flow
        tails, heads = self._ends()
        flow = self.flow.copy()
        flow[self.tight] += np.asarray(moved[tails, heads]).ravel()
        matched = np.bincount(self.shared.rows, weights=flow, minlength=len(unmatched))
        return flow, self.rest.copies - matched.astype(np.int64)

    def reached(self, unmatched: Numbers) -> Numbers:
        """Return the rows that an unmatched predicted row reaches by changing the flow."""
        nodes = breadth_first_order(self._residual(unmatched), 0, return_predecessors=False)
        nodes = nodes.astype(np.int64) - 2
        rows: Numbers = nodes[(nodes >= 0) & (nodes < len(unmatched))]
        return rows

    def _ends(self) -> tuple[Numbers, Numbers]:
        """Return where each tight arc starts and ends: row to hub, or hub to row."""
        rows = 2 + self.shared.rows[self.tight]
        hub = 2 + len(self.rest.cells) + self.shared.hubs[self.tight]
        sends = self.sends[self.tight]
        return np.where(sends, rows, hub), np.where(sends, hub, rows)

    def _residual(self, unmatched: Numbers) -> csr_array:
        tails, heads = self._ends()
        flow, rows = self.flow[self.tight], self.shared.rows[self.tight]
        back = np.flatnonzero(flow)
        free = np.flatnonzero(unmatched)
        mine = free < self.rest.border
        parts = (
            (tails, heads, self.rest.copies[rows]),
            (heads[back], tails[back], flow[back]),
            (np.zeros(int(mine.sum()), np.int64), 2 + free[mine], unmatched[free[mine]]),
            (2 + free[~mine], np.ones(int((~mine).sum()), np.int64), unmatched[free[~mine]]),
        )
        starts, ends, amounts = (np.concatenate(part) for part in zip(*parts, strict=True))
        size = 2 + len(self.rest.cells) + len(self.shared.weights)
        return coo_array((amounts.astype(np.int32), (starts, ends)), shape=(size, size)).tocsr()
