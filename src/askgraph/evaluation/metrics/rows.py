"""Row F1: the best mapping of columns, and the best matching of rows under it."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, combinations, count, islice, permutations
from math import comb, perm

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from askgraph.evaluation import ResultTable, Score, align_numbers
from askgraph.sparql.comparison import Cell

__all__ = ["rows"]

MAX_MAPPING_COUNT = 120  # all of five columns to five, of three to six, of two to eleven
MAX_ROW_PAIRS = 4_000_000  # of rows, matched at best; more are matched greedily
MAX_SUBSET_COUNT = 200  # subsets of columns to try for a greedy matching of rows
MAX_COMPARED_ROW_PAIRS = 40_000_000  # pairs of rows, over all mappings that are tried beyond SURE
MIN_MAPPING_COUNT = 6

Numbers = NDArray[np.int64]


def rows(predicted: ResultTable, gold: ResultTable) -> Score:
    """Row F1: rows matched one to one under the best mapping of columns, with credit for right
    cells.

    Punishes missing and superfluous rows, wrong and missing values, values paired in the wrong
    rows, and missing columns, each by its share of a row: a row with one of two values right is
    half right.

    Does not punish the names and order of columns, the order of rows, duplicates, another datatype
    or language tag of the same value, or extra columns. Duplicates do not count because gold
    queries often lack a DISTINCT; so a query that drops necessary duplicates
    passes too. As credit is for cells, a column with one value throughout, such as a class, is
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

    Exact as long as the columns can be mapped in at most `MAX_MAPPING_COUNT` ways, and the rows
    without
    an equal partner make at most `MAX_ROW_PAIRS` pairs. Beyond, the score may be too low: only the
    most promising mappings are tried, and rows are matched greedily.
    """
    if predicted.boolean is not None or gold.boolean is not None:
        return Score.from_value(float(frozenset(predicted.rows) == frozenset(gold.rows)))
    if not predicted.rows or not gold.rows:
        return Score.from_value(float(not predicted.rows and not gold.rows))
    if not predicted.variables or not gold.variables:
        return Score.from_value(float(not gold.variables))
    numbers: defaultdict[Cell | None, int] = defaultdict(count().__next__)
    predicted_cells, gold_cells = (
        np.fromiter(
            map(numbers.__getitem__, chain.from_iterable(table.rows)), np.int64
        ).reshape(len(table.rows), len(table.variables))
        for table in align_numbers(predicted, gold)
    )  # fmt: skip
    return _find_best_score(_drop_duplicates(predicted_cells), _drop_duplicates(gold_cells))


def _find_best_score(predicted_cells: Numbers, gold_cells: Numbers) -> Score:
    """Return the highest F1 over the mappings of columns; ties by the highest recall."""
    common = _count_common_values(predicted_cells, gold_cells)
    mapping_count = max(
        MIN_MAPPING_COUNT,
        min(MAX_MAPPING_COUNT, MAX_COMPARED_ROW_PAIRS // (len(predicted_cells) * len(gold_cells))),
    )
    best = Score.from_value(0.0)
    for lines, columns in islice(
        _rank_mappings(predicted_cells, gold_cells, common), mapping_count
    ):
        predicted, gold = predicted_cells[:, lines], gold_cells[:, columns]
        if (
            len(lines) < predicted_cells.shape[1]
        ):  # rows that differ in extra columns only are one row
            predicted = _drop_duplicates(predicted)
        size = len(predicted) * gold_cells.shape[1], gold_cells.size
        max_equal = min(int(common[lines, columns].sum()), predicted.size, gold.size)
        if _is_better(_build_score(max_equal, *size), best):
            score = _build_score(count_equal_cells(predicted, gold), *size)
            best = score if _is_better(score, best) else best
    return best


def _build_score(equal: int, predicted_total: int, gold_total: int) -> Score:
    return Score(
        equal / predicted_total, equal / gold_total, 2 * equal / (predicted_total + gold_total)
    )


def _is_better(score: Score, reference: Score) -> bool:
    return (score.f1, score.recall) > (reference.f1, reference.recall)


def _count_common_values(predicted: Numbers, gold: Numbers) -> Numbers:
    """Return the possible matches of each predicted (row) and gold column, ignoring rows."""
    size = 1 + max(int(predicted.max()), int(gold.max()))
    predicted_counts, gold_counts = (
        [np.bincount(column, minlength=size) for column in table.T] for table in (predicted, gold)
    )
    return np.array(
        [
            [np.minimum(predicted_column, gold_column).sum() for gold_column in gold_counts]
            for predicted_column in predicted_counts
        ]
    )


def _rank_mappings(
    predicted: Numbers, gold: Numbers, common: Numbers
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield predicted columns and their gold columns, mappings with most common values first."""
    is_swapped = predicted.shape[1] > gold.shape[1]
    narrow, wide = (gold, predicted) if is_swapped else (predicted, gold)
    weights = common.T if is_swapped else common
    lines = range(len(weights))
    if perm(wide.shape[1], len(lines)) <= MAX_MAPPING_COUNT:
        mappings = list(permutations(range(wide.shape[1]), len(lines)))
    else:
        best = tuple(map(int, linear_sum_assignment(weights, maximize=True)[1]))
        greedy = [_grow_mapping(narrow, wide, first) for first in range(wide.shape[1])]
        mappings = list(dict.fromkeys([best, *greedy]))
    for mapping in sorted(mappings, key=lambda columns: -int(weights[lines, columns].sum())):
        yield (list(mapping), list(lines)) if is_swapped else (list(lines), list(mapping))


def _grow_mapping(narrow: Numbers, wide: Numbers, first: int) -> tuple[int, ...]:
    """Return a column of the wide table for each one of the narrow table, added greedily."""
    order = sorted(range(narrow.shape[1]), key=lambda index: -len(np.unique(narrow[:, index])))
    mapping = {order[0]: first}
    for line in order[1:]:
        narrow_columns = narrow[:, [*mapping, line]]
        unmapped = [column for column in range(wide.shape[1]) if column not in mapping.values()]
        agreement = [
            int(_pair_equal_rows(narrow_columns, wide[:, [*mapping.values(), column]])[0].sum())
            for column in unmapped
        ]
        mapping[line] = unmapped[int(np.argmax(agreement))]
    return tuple(mapping[line] for line in range(len(order)))


def count_equal_cells(predicted: Numbers, gold: Numbers, *, max_pairs: int = MAX_ROW_PAIRS) -> int:
    """Return the largest number of equal cells over the one-to-one matchings of the rows.

    Equal rows are matched first, which is safe, as the number of differing cells is a metric. If
    more than `max_pairs` pairs of rows remain, those with the most equal cells are matched
    greedily, so that the result may be too low.

    Args:
        predicted: Cell numbers, equal for equal values; rows may repeat.
        gold: Cell numbers with the same columns.
        max_pairs: Limit of exactly matched row pairs.
    """
    width, equal = int(predicted.shape[1]), 0
    for size in range(width, 0, -1):
        if size < width and len(predicted) * len(gold) <= max_pairs:
            similarity = np.zeros((len(predicted), len(gold)), np.int64)
            for predicted_column, gold_column in zip(predicted.T, gold.T, strict=True):
                similarity += predicted_column[:, None] == gold_column[None, :]
            return equal + int(similarity[linear_sum_assignment(similarity, maximize=True)].sum())
        for columns in (
            combinations(range(width), size) if comb(width, size) <= MAX_SUBSET_COUNT else ()
        ):
            predicted_matched, gold_matched = _pair_equal_rows(
                predicted[:, columns], gold[:, columns]
            )
            equal += size * int(predicted_matched.sum())
            predicted, gold = predicted[~predicted_matched], gold[~gold_matched]
    return equal


def _pair_equal_rows(
    predicted: Numbers, gold: Numbers
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    code = _number_rows(np.concatenate((predicted, gold)))
    predicted_codes, gold_codes = code[: len(predicted)], code[len(predicted) :]
    counts = [np.bincount(part, minlength=len(code)) for part in (predicted_codes, gold_codes)]
    return _rank_repeats(predicted_codes) < counts[1][predicted_codes], _rank_repeats(
        gold_codes
    ) < counts[0][gold_codes]


def _rank_repeats(code: Numbers) -> Numbers:
    """Return, for each number, how many equal numbers precede it."""
    order = np.argsort(code, kind="stable")
    ranked = code[order]
    ranks = np.empty(len(code), np.int64)
    ranks[order] = np.arange(len(code)) - np.searchsorted(ranked, ranked)
    return ranks


def _number_rows(cells: Numbers) -> Numbers:
    code = np.zeros(len(cells), np.int64)
    for column in cells.T:
        wider = code * (int(column.max(initial=0)) + 1) + column
        code = np.unique(wider, return_inverse=True)[1].astype(np.int64)
    return code


def _drop_duplicates(cells: Numbers) -> Numbers:
    return cells[np.unique(_number_rows(cells), return_index=True)[1]]
