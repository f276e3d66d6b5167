"""Row F1: the best mapping of columns, and the best matching of rows under it."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heappop, heappush
from itertools import chain, count, islice
from typing import Literal as Choice

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Literal
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from askgraph.evaluation import Score, Table, aligned
from askgraph.evaluation.metrics._row_matching import Numbers, codes, equal_cells
from askgraph.sparql.comparison import Cell
from askgraph.sparql.results import Term

__all__ = ["rows"]


def rows(
    predicted: Table,
    gold: Table,
    *,
    extra_columns: Choice["free", "charged"] = "free",
    languages: Choice["dropped", "kept"] = "dropped",
) -> Score:
    """Row F1: rows matched one to one under the best mapping of columns, with credit for right
    cells.

    Punishes missing and superfluous rows, wrong and missing values, values paired in the wrong
    rows, and missing columns, each by its share of a row: a row with one of two values right is
    half right. With `extra_columns="charged"`, columns that gold does not have as well.

    Does not punish the names and order of columns, the order of rows, duplicates, another datatype
    of the same value, and by default extra columns and language tags. Duplicates do not count
    because gold queries often lack a DISTINCT; so a query that must count duplicates is not told
    from one that drops them. As credit is for cells, a column with one value throughout, such as a
    class, is worth its share of every row. As one gold row answers for one predicted row, a
    predicted row that is almost right is superfluous beside the right one: with three columns or
    more it may then cost more than the right one brings.

    Ours; the intent is that of `row_assignment`, with named columns, values instead of terms, one
    rule for all sizes, and precision for no more of a row than is right.

    Compare rows as sets; both empty is 1, one empty is 0.

    Gold columns are mapped to predicted columns one to one, and rows of one table to rows of the
    other, so that F1 is highest. The similarity of two rows is the share of gold columns in which
    they agree; unbound agrees with unbound. Precision is the sum of similarities over the distinct
    predicted rows without extra columns, recall over the distinct gold rows. If extra columns
    are charged, precision is the share of predicted cells that agree, and recall that of gold
    cells. Language tags are kept only if both tables have terms. The answer of an ASK query is
    right or wrong; right is the same boolean, also as the only value of a SELECT result.

    Exact for up to three columns on both sides, whatever the number of rows; with more, exact
    within the limits that `equal_cells` and `best_row_score` state.
    """
    if predicted.boolean is not None or gold.boolean is not None:
        return Score.of(float(frozenset(predicted.rows) == frozenset(gold.rows)))
    if not predicted.rows or not gold.rows:
        return Score.of(float(not predicted.rows and not gold.rows))
    if languages == "kept" and predicted.terms and gold.terms:
        predicted, gold = _with_languages(predicted), _with_languages(gold)
    charged = extra_columns == "charged"
    if not predicted.variables or not gold.variables:
        nothing_asked = not gold.variables and not charged
        return Score.of(float(nothing_asked or predicted.variables == gold.variables))
    return best_row_score(*_numbered(*aligned(predicted, gold)), charged=charged)


def _with_languages(table: Table) -> Table:
    cells = (
        tuple(_with_language(cell, term) for cell, term in zip(row, terms, strict=True))
        for row, terms in zip(table.rows, table.terms, strict=True)
    )
    return replace(table, rows=tuple(cells))


def _with_language(cell: Cell | None, term: Term | None) -> Cell | None:
    if cell is None or not isinstance(term, Literal) or not term.language:
        return cell
    return (f"{cell[0]}@{term.language.lower()}", cell[1])


def _numbered(predicted: Table, gold: Table) -> tuple[Numbers, Numbers]:
    """Return a matrix of numbers for each table, equal if the values are equal."""
    numbers: defaultdict[Cell | None, int] = defaultdict(count().__next__)

    def matrix(table: Table) -> Numbers:
        shape = len(table.rows), len(table.variables)
        cells = map(numbers.__getitem__, chain.from_iterable(table.rows))
        return np.fromiter(cells, np.int64, shape[0] * shape[1]).reshape(shape)

    return matrix(predicted), matrix(gold)


MAPPINGS = 500  # tried at most: all of five columns to five, of three to eight
WORK = 8_000_000  # rows times subsets of columns, of all mappings tried beyond SURE
SURE = 6


def best_row_score(predicted: Numbers, gold: Numbers, *, charged: bool) -> Score:
    """Return the highest F1, and of mappings with the same F1 the highest recall.

    Cells are numbers, equal if the values are; both tables have rows and columns. Mappings are
    tried by the number of cells that could agree under them, and no longer than the next could be
    better; if columns look alike, those first that rows suggest. Only if many columns look
    alike are the limits above reached; up to three columns on both sides, all mappings are tried.
    """
    tables = _Tables(_distinct(predicted), _distinct(gold), charged)
    common = _common_values(tables.predicted, tables.gold)
    rows = len(tables.predicted) + len(tables.gold)
    tried = max(SURE, min(MAPPINGS, WORK // (rows << min(common.shape) - 1)))
    best = Score.of(0.0)
    for lines, columns, most in islice(_promising(tables, common), tried):
        if not _exceeds(tables.bound(most), best):
            break
        paired = tables.paired(lines, columns)
        possible = min(int(common[lines, columns].sum()), paired.cells())
        if _exceeds(paired.score(possible), best):
            score = paired.score(equal_cells(paired.predicted, paired.gold))
            best = score if _exceeds(score, best) else best
    return best


@dataclass(frozen=True)
class _Paired:
    """The mapped columns of both tables in the same order; cells each side answers for."""

    predicted: Numbers
    gold: Numbers
    of_predicted: int
    of_gold: int

    def cells(self) -> int:
        """Return how many cells a matching of all rows compares."""
        return min(self.predicted.size, self.gold.size)

    def score(self, equal: int) -> Score:
        """Return the score of so many equal cells."""
        total = self.of_predicted + self.of_gold
        return Score(equal / self.of_predicted, equal / self.of_gold, 2 * equal / total)


@dataclass(frozen=True)
class _Tables:
    """Distinct rows of both sides; whether extra columns are charged."""

    predicted: Numbers
    gold: Numbers
    charged: bool

    def paired(self, lines: Numbers, columns: Numbers) -> _Paired:
        """Return what a mapping of predicted to gold columns compares.

        Extra columns that are free are gone before rows are counted; a missing column is not, so
        that rows which differ only there are as many as before.
        """
        predicted, gold = self.predicted[:, lines], self.gold[:, columns]
        if not self.charged and len(lines) < self.predicted.shape[1]:
            predicted = _distinct(predicted)
        width = self.predicted.shape[1] if self.charged else self.gold.shape[1]
        return _Paired(predicted, gold, len(predicted) * width, self.gold.size)

    def bound(self, equal: int) -> Score:
        """Return what no mapping exceeds under which at most so many cells agree."""
        width = self.gold.shape[1]
        rows = len(self.predicted)
        if not self.charged and self.predicted.shape[1] > width:
            rows = max(self._fewest_rows, -(-equal // width))
        of_predicted = rows * (self.predicted.shape[1] if self.charged else width)
        equal = min(equal, of_predicted, self.gold.size)
        return _Paired(self.predicted, self.gold, of_predicted, self.gold.size).score(equal)

    @cached_property
    def _fewest_rows(self) -> int:
        """How many distinct rows any choice of as many columns as gold has gives at least."""
        distinct = sorted(len(np.unique(column)) for column in self.predicted.T)
        return distinct[int(self.gold.shape[1]) - 1]


def _distinct(cells: Numbers) -> Numbers:
    return cells[np.unique(codes(cells), return_index=True)[1]]


def _common_values(predicted: Numbers, gold: Numbers) -> Numbers:
    """Return how many cells of each predicted (line) and gold column could agree, rows aside."""
    width = 1 + int(max(predicted.max(), gold.max()))
    one, other = _counts(predicted, width), _counts(gold, width)
    return np.array(
        [
            [int(one[[line]].minimum(other[[column]]).sum()) for column in range(gold.shape[1])]
            for line in range(predicted.shape[1])
        ]
    )


def _counts(cells: Numbers, width: int) -> csr_array:
    """Return how often each value (column) stands in each column (line)."""
    lines = np.broadcast_to(np.arange(cells.shape[1]), cells.shape).ravel()
    ones = np.ones(cells.size, np.int64)
    return csr_array((ones, (lines, cells.ravel())), shape=(cells.shape[1], width))


def _promising(tables: _Tables, common: Numbers) -> Iterator[tuple[Numbers, Numbers, int]]:
    """Yield mappings: predicted columns, gold columns, cells that could agree here and hereafter.

    The most common values go first; of columns that look alike by their values, those whose values
    stand in like rows. If that does not settle it, mappings grown through the rows come second.
    """
    alike = _common_values(*_values_in_rows(tables.predicted, tables.gold))
    weights = common * (1 + min(common.shape) * int(alike.max())) + alike
    shorter = np.arange(min(common.shape))
    turned = common.shape[0] > common.shape[1]
    narrow, wide = (tables.predicted, tables.gold)[:: -1 if turned else 1]
    common, weights = (common.T, weights.T) if turned else (common, weights)
    for mapping, most in _distinct_mappings(narrow, wide, common, weights):
        longer = np.array(mapping)
        yield (longer, shorter, most) if turned else (shorter, longer, most)


def _distinct_mappings(
    narrow: Numbers, wide: Numbers, common: Numbers, weights: Numbers
) -> Iterator[tuple[tuple[int, ...], int]]:
    ranked = mappings(weights)
    best = next(ranked)
    most = _cells(common, best)
    yield best, most
    seen = {best}
    for mapping in grown_mappings(narrow, wide, common) if len(best) > 1 else ():
        if mapping not in seen:
            seen.add(mapping)
            yield mapping, most
    yield from ((mapping, _cells(common, mapping)) for mapping in ranked if mapping not in seen)


def _cells(common: Numbers, mapping: tuple[int, ...]) -> int:
    return int(common[range(len(mapping)), mapping].sum())


def _values_in_rows(predicted: Numbers, gold: Numbers) -> tuple[Numbers, Numbers]:
    """Number each value anew, with other numbers where it stands in a row of other values.

    Only values that both tables have tell rows apart, in whatever columns, by the sum of random
    numbers; this decides no more than an order.
    """
    values = np.concatenate((predicted.ravel(), gold.ravel()))
    keys = np.random.default_rng(0).integers(1 << 60, size=1 + int(values.max()))
    keys[np.setxor1d(predicted, gold)] = 0
    sums = np.concatenate((keys[predicted].sum(axis=1), keys[gold].sum(axis=1)))
    row = np.unique(sums, return_inverse=True)[1]
    widths = np.repeat([predicted.shape[1], gold.shape[1]], [len(predicted), len(gold)])
    inside = values * len(row) + np.repeat(row, widths)
    number = np.unique(inside, return_inverse=True)[1].astype(np.int64)
    one, other = np.split(number, [predicted.size])
    return one.reshape(predicted.shape), other.reshape(gold.shape)


def _exceeds(score: Score, other: Score) -> bool:
    return (score.f1, score.recall) > (other.f1, other.recall)


Weights = NDArray[np.int64]
Mapping = tuple[int, ...]


def mappings(weights: Weights) -> Iterator[Mapping]:
    """Yield for each line a column of its own, the heaviest choice first, each choice once.

    There are at least as many columns as lines. Weights are whole and not below 0, and add up to
    less than 2**53. The best solutions of an assignment problem one after another, after Murty,
    "An algorithm for ranking all the assignments in order of increasing cost" (1968).
    """
    best = _heaviest(weights, (), frozenset())
    queue = [] if best is None else [(-best[0], best[1], 0, frozenset[int]())]
    while queue:
        _, mapping, fixed, forbidden = heappop(queue)
        yield mapping
        for line in range(fixed, len(mapping)):
            banned = forbidden | {mapping[line]} if line == fixed else frozenset({mapping[line]})
            found = _heaviest(weights, mapping[:line], banned)
            if found is not None:
                heappush(queue, (-found[0], found[1], line, banned))


def _heaviest(
    weights: Weights, start: Mapping, forbidden: frozenset[int]
) -> tuple[int, Mapping] | None:
    """Return the heaviest mapping that starts so and goes on with no forbidden column, if any."""
    lines, columns = weights.shape
    left = [column for column in range(columns) if column not in start]
    rest = weights[len(start) :, left].astype(np.float64)
    if not len(rest):
        return int(weights[range(lines), start].sum()), start
    barred = [at for at, column in enumerate(left) if column in forbidden]
    if len(barred) == len(left):
        return None
    rest[0, barred] = -np.inf
    chosen = linear_sum_assignment(rest, maximize=True)[1]
    mapping = (*start, *(left[at] for at in chosen))
    return int(weights[range(lines), mapping].sum()), mapping


def grown_mappings(narrow: Numbers, wide: Numbers, common: Numbers) -> list[tuple[int, ...]]:
    """Return for each column of the narrow table a column of the wide one, in several ways.

    A mapping is grown one column at a time, each so that the rows so far agree best. So are found
    columns that look alike one by one, as in a table of friends and their friends: once one column
    is mapped, its values tell rows apart, and with them the other columns.

    The column with the most values starts, and is mapped in turn to each column with which it has
    values in `common` (a line for each narrow column). Those mappings go first under which the
    most rows agreed while they grew.
    """
    lines = sorted(range(narrow.shape[1]), key=lambda at: -len(np.unique(narrow[:, at])))
    starts = np.flatnonzero(common[lines[0]]).tolist()
    grown = [_grown(narrow, wide, lines, column) for column in starts]
    return [mapping for _, mapping in sorted(grown, key=lambda found: -found[0])]


def _grown(
    narrow: Numbers, wide: Numbers, lines: list[int], first: int
) -> tuple[int, tuple[int, ...]]:
    """Return how many rows agreed at each step, summed, and the mapping."""
    chosen = {lines[0]: first}
    known = narrow[:, lines[0]], wide[:, first]
    total = _common(known)
    for line in lines[1:]:
        joined = {
            column: _joined(known, (narrow[:, line], wide[:, column]))
            for column in range(wide.shape[1])
            if column not in chosen.values()
        }
        agreeing = {column: _common(pair) for column, pair in joined.items()}
        chosen[line] = max(agreeing, key=lambda column: (agreeing[column], -column))
        known = joined[chosen[line]]
        total += agreeing[chosen[line]]
    return total, tuple(chosen[line] for line in range(len(lines)))


def _joined(
    known: tuple[Numbers, Numbers], added: tuple[Numbers, Numbers]
) -> tuple[Numbers, Numbers]:
    """Number the pairs of a known and an added value, alike for both tables."""
    values = np.concatenate(added)
    code = np.concatenate(known) * (1 + int(values.max())) + values
    number = np.unique(code, return_inverse=True)[1].astype(np.int64)
    return number[: len(known[0])], number[len(known[0]) :]


def _common(numbers: tuple[Numbers, Numbers]) -> int:
    classes = 1 + max(int(part.max()) for part in numbers)
    one, other = (np.bincount(part, minlength=classes) for part in numbers)
    return int(np.minimum(one, other).sum())
