"""In how many cells two tables agree when their rows are matched one to one, at best.

The best matching is found exactly, and without a list of all pairs of rows: equal rows first, which
is safe since the number of differing cells is a metric; then a flow through the values that rows
share (see `_hubs`). This is the Hungarian method with all augmentations of a step at once: prices
of rows fall from the number of columns to 0 in whole steps, since similarities are whole numbers of
cells. A step costs one maximum flow, and there are fewer steps than columns (Kuhn, "The Hungarian
method for the assignment problem", 1955).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from askgraph.evaluation.metrics._hubs import Hubs, Numbers, codes, hubs, hubs_of_sizes

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
    have, wanted = np.split(np.repeat(rest.cells, rest.copies, axis=0), [_copies_before(rest)])
    similarity = np.zeros((len(have), len(wanted)), np.int64)
    for one, other in zip(have.T, wanted.T, strict=True):
        similarity += one[:, None] == other[None, :]
    return int(similarity[linear_sum_assignment(similarity, maximize=True)].sum())


def _copies_before(rest: _Rest) -> int:
    return int(rest.copies[: rest.border].sum())


def _by_flow(rest: _Rest, shared: Hubs) -> int:
    """Return the weight of the best flow from predicted rows through hubs to gold rows."""
    sends = shared.rows < rest.border
    prices = np.zeros(len(rest.cells), np.int64)
    prices[: rest.border] = top = int(shared.weights.max(initial=0))
    unmatched = rest.copies.copy()
    flow = np.zeros(len(sends), np.int64)
    for _ in range(top):
        network = _Network(rest, shared, sends, flow, _tight(shared, sends, prices))
        flow, unmatched = network.augmented(unmatched)
        if not unmatched[: rest.border].any():
            break
        network = _Network(rest, shared, sends, flow, network.tight)
        reached = network.reached(unmatched)
        prices[reached] += np.where(reached < rest.border, -1, 1)
    return int((flow * shared.weights[shared.hubs])[sends].sum())


def _tight(shared: Hubs, sends: NDArray[np.bool_], prices: Numbers) -> NDArray[np.bool_]:
    """Return the memberships through which a pair's prices add up to no more than its weight."""
    of_rows = prices[shared.rows]
    lowest = np.full((2, len(shared.weights)), np.iinfo(np.int64).max // 2)
    np.minimum.at(lowest, (sends.astype(np.int64), shared.hubs), of_rows)
    exact = lowest.sum(axis=0) == shared.weights
    mine = np.where(sends, lowest[1][shared.hubs], lowest[0][shared.hubs])
    tight: NDArray[np.bool_] = exact[shared.hubs] & (mine == of_rows)
    return tight


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
