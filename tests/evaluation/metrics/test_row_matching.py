"""The matching of rows through shared values, against the assignment problem with all pairs."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from tests.each import each

from askgraph.evaluation.metrics._row_matching import Numbers, equal_cells

seeds = st.integers(0, 10_000)


def by_all_pairs(predicted: Numbers, gold: Numbers) -> int:
    similarity = (predicted[:, None, :] == gold[None, :, :]).sum(axis=2)
    return int(similarity[linear_sum_assignment(similarity, maximize=True)].sum())


def without_a_matrix(predicted: Numbers, gold: Numbers, **limit: int) -> int:
    return equal_cells(predicted, gold, pairs=0, wide_pairs=0, **limit)


def random_tables(seed: int, width: int, values: int, *, most: int = 40) -> tuple[Numbers, Numbers]:
    """Two tables of which the second is at times the first with some cells changed."""
    chance = np.random.default_rng(seed)
    have, wanted = chance.integers(1, most, 2)
    predicted = chance.integers(0, values, (have, width))
    if seed % 2:
        return predicted, chance.integers(0, values, (wanted, width))
    gold = chance.permutation(predicted)
    wrong = chance.random(gold.shape) < chance.random()
    gold[wrong] = chance.integers(0, 2 * values, int(wrong.sum()))
    return predicted, gold


@settings(deadline=None)
@given(seeds, st.integers(1, 6), st.integers(1, 12))
def test_flow_and_matrix_give_the_best_of_all_pairs(seed: int, width: int, values: int) -> None:
    predicted, gold = random_tables(seed, width, values)
    best = by_all_pairs(predicted, gold)
    assert equal_cells(predicted, gold) == without_a_matrix(predicted, gold) == best


@each("values", [5, 20, 100, 400])
@each("width", [2, 3, 4, 5])
def test_hundreds_of_rows_give_the_best_of_all_pairs(width: int, values: int) -> None:
    chance = np.random.default_rng(width * values)
    predicted, gold = (chance.integers(0, values, (size, width)) for size in (420, 500))
    assert without_a_matrix(predicted, gold) == by_all_pairs(predicted, gold)


@settings(deadline=None)
@given(seeds, st.integers(1, 3), st.integers(1, 12))
def test_up_to_three_columns_no_limit_matters(seed: int, width: int, values: int) -> None:
    predicted, gold = random_tables(seed, width, values)
    limited = without_a_matrix(predicted, gold, memberships=0)
    assert limited == by_all_pairs(predicted, gold)


@settings(deadline=None)
@given(seeds, st.integers(4, 6), st.integers(1, 6), st.integers(0, 2000))
def test_above_the_limit_similarity_is_rounded_down(
    seed: int, width: int, values: int, limit: int
) -> None:
    predicted, gold = random_tables(seed, width, values)
    gold[:, 0] += 100  # rows that are equal are matched before anything is rounded
    limited = without_a_matrix(predicted, gold, memberships=limit)
    similarity = (predicted[:, None, :] == gold[None, :, :]).sum(axis=2)
    rounded = np.where(similarity < width - 1, np.minimum(similarity, 1), similarity)
    lowest = int(rounded[linear_sum_assignment(rounded, maximize=True)].sum())
    assert lowest <= limited <= by_all_pairs(predicted, gold)


@settings(deadline=None)
@given(seeds, st.integers(4, 6), st.integers(1, 6))
def test_above_the_limit_order_does_not_count(seed: int, width: int, values: int) -> None:
    predicted, gold = random_tables(seed, width, values)
    columns = np.random.default_rng(seed).permutation(width)
    turned = without_a_matrix(predicted[::-1, columns], gold[:, columns], memberships=0)
    assert turned == without_a_matrix(predicted, gold, memberships=0)


def test_a_value_that_all_rows_share_costs_no_more_than_others() -> None:
    predicted = np.column_stack((np.zeros(20_000, np.int64), np.arange(1, 20_001)))
    gold = np.column_stack((np.zeros(20_000, np.int64), np.arange(30_000, 50_000)))
    assert equal_cells(predicted, gold) == 20_000
