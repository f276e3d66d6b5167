"""Row F1: the best mapping of columns, and the best matching of rows under it."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, combinations, count, islice, permutations
from math import comb, perm

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from askgraph.evaluation import Score, Table, aligned
from askgraph.sparql.comparison import Cell

__all__ = ["rows"]

MAX_MAPPINGS = 120  # all of five columns to five, of three to six, of two to eleven
MAX_PAIRS = 4_000_000  # of rows, matched at best; more are matched greedily
MAX_SUBSETS = 200  # of as many columns, by which rows are matched greedily
WORK = 40_000_000  # pairs of rows, over all mappings that are tried beyond SURE
SURE = 6

Numbers = NDArray[np.int64]


def rows(predicted: Table, gold: Table) -> Score:
    """Row F1: rows matched one to one under the best mapping of columns, with credit for right
    cells.

    Punishes missing and superfluous rows, wrong and missing values, values paired in the wrong
    rows, and missing columns, each by its share of a row: a row with one of two values right is
    half right.

    Does not punish the names and order of columns, the order of rows, duplicates, another datatype
    or language tag of the same value, or extra columns. Duplicates do not count because gold
    queries often lack a DISTINCT; so a query that must count duplicates is not told from one that
    drops them. As credit is for cells, a column with one value throughout, such as a class, is
    worth its share of every row. As one gold row answers for one predicted row, a predicted row
    that is almost right is superfluous beside the right one: with three columns or more it may then
    cost more than the right one brings.

    Ours; the intent is that of `row_assignment`, with named columns, values instead of terms, one
    rule for all sizes, and precision for no more of a row than is right.

    Compare rows as sets; both empty is 1, one empty is 0.

    Gold columns are mapped to predicted columns one to one, and rows of one table to rows of the
    other, so that F1 is highest. The similarity of two rows is the share of gold columns in which
    they agree; unbound agrees with unbound. Precision is the sum of similarities over the distinct
    predicted rows without extra columns, recall over the distinct gold rows. The answer of an ASK
    query is right or wrong; right is the same boolean, also as the only value of a SELECT result.

    Exact as long as the columns can be mapped in at most `MAX_MAPPINGS` ways, and the rows without
    an equal partner make at most `MAX_PAIRS` pairs. Beyond, the score may be too low: only the
    most promising mappings are tried, and rows are matched greedily.
    """
    if predicted.boolean is not None or gold.boolean is not None:
        return Score.of(float(frozenset(predicted.rows) == frozenset(gold.rows)))
    if not predicted.rows or not gold.rows:
        return Score.of(float(not predicted.rows and not gold.rows))
    if not predicted.variables or not gold.variables:
        return Score.of(float(not gold.variables))
    numbers: defaultdict[Cell | None, int] = defaultdict(count().__next__)
    have, wanted = (
        np.fromiter(
            map(numbers.__getitem__, chain.from_iterable(table.rows)), np.int64
        ).reshape(len(table.rows), len(table.variables))
        for table in aligned(predicted, gold)
    )  # fmt: skip
    return _best_score(_distinct(have), _distinct(wanted))


def _best_score(have: Numbers, wanted: Numbers) -> Score:
    """Return the highest F1 over the mappings of columns, and of equal ones the highest recall."""
    common = _count_common_values(have, wanted)
    tried = max(SURE, min(MAX_MAPPINGS, WORK // (len(have) * len(wanted))))
    best = Score.of(0.0)
    for lines, columns in islice(_rank_mappings(have, wanted, common), tried):
        predicted, gold = have[:, lines], wanted[:, columns]
        if len(lines) < have.shape[1]:  # rows that differ in extra columns only are one row
            predicted = _distinct(predicted)
        size = len(predicted) * wanted.shape[1], wanted.size
        most = min(int(common[lines, columns].sum()), predicted.size, gold.size)
        if _exceeds(_score(most, *size), best):
            score = _score(count_equal_cells(predicted, gold), *size)
            best = score if _exceeds(score, best) else best
    return best


def _score(equal: int, of_predicted: int, of_gold: int) -> Score:
    return Score(equal / of_predicted, equal / of_gold, 2 * equal / (of_predicted + of_gold))


def _exceeds(score: Score, other: Score) -> bool:
    return (score.f1, score.recall) > (other.f1, other.recall)


def _count_common_values(have: Numbers, wanted: Numbers) -> Numbers:
    """Return how many cells of each predicted (line) and gold column could agree, rows aside."""
    size = 1 + max(int(have.max()), int(wanted.max()))
    ours, theirs = (
        [np.bincount(column, minlength=size) for column in table.T] for table in (have, wanted)
    )
    return np.array([[np.minimum(one, other).sum() for other in theirs] for one in ours])


def _rank_mappings(
    have: Numbers, wanted: Numbers, common: Numbers
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield predicted columns and the gold columns they stand for, the most common values first."""
    turned = have.shape[1] > wanted.shape[1]
    narrow, wide = (wanted, have) if turned else (have, wanted)
    weights = common.T if turned else common
    lines = range(len(weights))
    if perm(wide.shape[1], len(lines)) <= MAX_MAPPINGS:
        mappings = list(permutations(range(wide.shape[1]), len(lines)))
    else:
        best = tuple(map(int, linear_sum_assignment(weights, maximize=True)[1]))
        grown = [_grow_mapping(narrow, wide, first) for first in range(wide.shape[1])]
        mappings = list(dict.fromkeys([best, *grown]))
    for mapping in sorted(mappings, key=lambda chosen: -int(weights[lines, chosen].sum())):
        yield (list(mapping), list(lines)) if turned else (list(lines), list(mapping))


def _grow_mapping(narrow: Numbers, wide: Numbers, first: int) -> tuple[int, ...]:
    """Return a column of the wide table for each of the narrow one, grown a column at a time.

    The column with the most values stands for `first`; each further one is chosen so that the rows
    so far agree best. This tells columns apart that look alike by themselves, as in a table of
    friends and their friends.
    """
    order = sorted(range(narrow.shape[1]), key=lambda at: -len(np.unique(narrow[:, at])))
    mapping = {order[0]: first}
    for line in order[1:]:
        ours = narrow[:, [*mapping, line]]
        free = [column for column in range(wide.shape[1]) if column not in mapping.values()]
        agreeing = [
            int(_pair_equal_rows(ours, wide[:, [*mapping.values(), column]])[0].sum())
            for column in free
        ]
        mapping[line] = free[int(np.argmax(agreeing))]
    return tuple(mapping[line] for line in range(len(order)))


def count_equal_cells(have: Numbers, wanted: Numbers, *, pairs: int = MAX_PAIRS) -> int:
    """Return the largest number of equal cells over the one-to-one matchings of the rows.

    Cells are numbers, equal if the values are; both tables have the same columns, and may hold a
    row several times. Equal rows are matched first, which is safe, as the number of differing cells
    is a metric. If more `pairs` of rows are left, those with the most equal cells are matched one
    after the other, so that the result may be too low.
    """
    width, equal = int(have.shape[1]), 0
    for size in range(width, 0, -1):
        if size < width and len(have) * len(wanted) <= pairs:
            similar = np.zeros((len(have), len(wanted)), np.int64)
            for one, other in zip(have.T, wanted.T, strict=True):
                similar += one[:, None] == other[None, :]
            return equal + int(similar[linear_sum_assignment(similar, maximize=True)].sum())
        for columns in combinations(range(width), size) if comb(width, size) <= MAX_SUBSETS else ():
            ours, theirs = _pair_equal_rows(have[:, columns], wanted[:, columns])
            equal += size * int(ours.sum())
            have, wanted = have[~ours], wanted[~theirs]
    return equal


def _pair_equal_rows(have: Numbers, wanted: Numbers) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which rows of each table have an equal partner in the other, each its own."""
    code = _number_rows(np.concatenate((have, wanted)))
    ours, theirs = code[: len(have)], code[len(have) :]
    counts = [np.bincount(part, minlength=len(code)) for part in (ours, theirs)]
    return _rank_repeats(ours) < counts[1][ours], _rank_repeats(theirs) < counts[0][theirs]


def _rank_repeats(code: Numbers) -> Numbers:
    """Return how many equal numbers stand before each."""
    order = np.argsort(code, kind="stable")
    ranked = code[order]
    ranks = np.empty(len(code), np.int64)
    ranks[order] = np.arange(len(code)) - np.searchsorted(ranked, ranked)
    return ranks


def _number_rows(cells: Numbers) -> Numbers:
    """Return one number for each row, equal if the rows are equal."""
    code = np.zeros(len(cells), np.int64)
    for column in cells.T:
        wider = code * (int(column.max(initial=0)) + 1) + column
        code = np.unique(wider, return_inverse=True)[1].astype(np.int64)
    return code


def _distinct(cells: Numbers) -> Numbers:
    return cells[np.unique(_number_rows(cells), return_index=True)[1]]
