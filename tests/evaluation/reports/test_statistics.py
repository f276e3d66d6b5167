"""Intervals of means and tests of differences."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.evaluation.reports import (
    compare_paired,
    compute_bootstrap_interval,
    compute_kappa,
    compute_permutation_p,
    correct_holm,
)

SCORES = [0.0] * 12 + [0.5] * 6 + [0.8] * 4 + [1.0] * 28

values = st.lists(st.sampled_from([0.0, 1 / 3, 0.5, 2 / 3, 1.0]), max_size=40)
differences = st.lists(st.sampled_from([-1.0, -0.5, -0.1, 0.0, 0.25, 0.5, 1.0]), max_size=8)


def test_intervals_and_differences() -> None:
    # The interval is that of the bca bootstrap of scipy.
    found = compute_bootstrap_interval(SCORES)
    theirs = scipy.stats.bootstrap(
        (np.array(SCORES),), np.mean, method="BCa", n_resamples=20_000, random_state=1
    ).confidence_interval
    assert found.mean == pytest.approx(0.684) and found.low == pytest.approx(theirs.low, abs=0.01)
    assert found.high == pytest.approx(theirs.high, abs=0.01)
    # More questions give a narrower interval.
    few, many = compute_bootstrap_interval(SCORES), compute_bootstrap_interval(SCORES * 16)
    assert many.high - many.low == pytest.approx((few.high - few.low) / 4, rel=0.1)
    # A level outside 0 to 1 is refused.
    with pytest.raises(ValueError, match="level"):
        compute_bootstrap_interval(SCORES, confidence_level=95)
    # P of many differences is that of scipy.
    gaps = np.array([1.0, -0.5, 0.25, 0.0, -1.0, 0.5, 1.0, -0.25, 0.75, 0.1] * 4)
    theirs = scipy.stats.permutation_test(
        (gaps, np.zeros_like(gaps)),
        lambda a, b, axis: (a - b).mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=50_000,
        rng=np.random.default_rng(2),
    ).pvalue
    assert compute_permutation_p(gaps.tolist()) == pytest.approx(theirs, abs=0.01)
    # No difference is no evidence.
    assert compute_permutation_p([]) == 1 and compute_permutation_p([0.0] * 100) == 1
    # A difference counts only common questions.
    paired = compare_paired(
        {"q1": 0.0, "q2": 0.5, "q3": 1.0, "q4": 1.0, "old": 1.0},
        {"q1": 1.0, "q2": 1.0, "q3": 1.0, "q4": 0.5, "new": 0.0},
    )
    assert (paired.n, paired.a, paired.b) == (4, 0.625, 0.875)
    assert paired.difference.mean == pytest.approx(0.25)
    assert (paired.better, paired.worse, paired.equal) == (2, 1, 1)
    assert paired.p == pytest.approx(0.75)  # ±1 ±½ ±½: 6 of 8 sums are at least 1 in size


@for_each(("given", "mean"), [([], 0.0), ([0.3], 0.3), ([1.0] * 9, 1.0)])
def test_equal_values_give_an_interval_without_width(given: list[float], mean: float) -> None:
    found = compute_bootstrap_interval(given)
    assert (found.mean, found.low, found.high) == (mean, mean, mean)


@settings(deadline=None)
@given(values, st.sampled_from([0.5, 0.8, 0.95, 0.99]))
def test_the_interval_holds_the_mean_within_the_values(given: list[float], level: float) -> None:
    found = compute_bootstrap_interval(given, confidence_level=level, sample_count=200)
    assert found.low <= found.mean <= found.high
    if given:
        assert min(given) - 1e-9 <= found.low and found.high <= max(given) + 1e-9


@settings(deadline=None)
@given(differences)
def test_p_is_the_share_of_signs_that_reach_as_far(given: list[float]) -> None:
    exact = [Fraction(gap).limit_denominator(100) for gap in given]
    sums = [
        abs(sum((sign * gap for sign, gap in zip(signs, exact, strict=True)), Fraction(0)))
        for signs in product((1, -1), repeat=len(exact))
    ]
    seen = abs(sum(exact, Fraction(0)))
    reached = sum(total >= seen for total in sums)
    assert compute_permutation_p(given) == pytest.approx(reached / len(sums))


@settings(deadline=None)
@given(st.lists(st.sampled_from([-0.5, 0.2, 1.0]), min_size=21, max_size=30))
def test_p_of_many_differences_depends_on_neither_order_nor_direction(given: list[float]) -> None:
    p = compute_permutation_p(given, flip_count=500)
    assert 1 / 501 <= p <= 1 and p == compute_permutation_p(given[::-1], flip_count=500)
    assert p == compute_permutation_p([-gap for gap in given], flip_count=500)


def test_corrections_and_agreement() -> None:
    # Holm by hand.
    assert correct_holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert correct_holm([0.5, 0.9]) == (1.0, 1.0) and correct_holm([]) == ()
    # Kappa is that of the textbook with an interval around it.
    pairs = [(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15
    found = compute_kappa(pairs)
    assert found.mean == pytest.approx(0.4)  # 0.70 agree, 0.50 by chance
    assert 0.1 < found.low < 0.2 and 0.6 < found.high < 0.7 and compute_kappa(pairs[::-1]) == found


@for_each(
    ("pairs", "value"),
    ([(True, True), (False, False)] * 9, 1),
    ([(True, False), (False, True)] * 9, -1),
    ([(True, True)] * 3, 1),
    ([], 0),
)
def test_kappa_of_all_and_no_agreement(pairs: list[tuple[bool, bool]], value: float) -> None:
    assert compute_kappa(pairs).mean == pytest.approx(value)
