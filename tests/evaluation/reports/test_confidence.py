"""Risk, coverage and calibration, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgraph.evaluation.reports.confidence import (
    Point,
    aurc,
    calibration,
    coverage_at,
    excess_aurc,
    mean_at,
    risk_coverage,
)

PAIRS = [(0.9, 1.0), (0.6, 0.0), (0.6, 1.0), (0.2, 0.0)]

pairs = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), st.sampled_from([0.0, 0.25, 1.0])),
    max_size=10,
)


def test_the_curve_has_a_point_for_each_confidence() -> None:
    first, second, last = risk_coverage(PAIRS)
    assert (first, last) == (Point(0.9, 0.25, 0.0), Point(0.2, 1.0, 0.5))
    assert (second.confidence, second.coverage) == (0.6, 0.75)
    assert second.risk == pytest.approx(1 / 3)


def test_the_area_is_the_mean_risk_over_all_coverages() -> None:
    assert aurc(PAIRS) == pytest.approx((0 + 0.25 + 1 / 3 + 0.5) / 4)
    assert excess_aurc(PAIRS) == pytest.approx((0.25 + 1 / 3 + 0.5 - (1 / 3 + 0.5)) / 4)


def test_coverage_at_a_risk_is_the_largest_share_that_keeps_it() -> None:
    assert [coverage_at(PAIRS, risk) for risk in (0.0, 0.3, 0.4, 0.5)] == [0.25, 0.25, 0.75, 1.0]
    assert coverage_at([(0.9, 0.0), (0.5, 1.0), (0.4, 1.0)], 0.4) == 1.0
    assert coverage_at([(0.9, 0.0)], 0.1) == coverage_at([], 0.1) == 0.0


@given(pairs)
def test_more_risk_never_covers_less(given: list[tuple[float, float]]) -> None:
    shares = [coverage_at(given, risk) for risk in (0.0, 0.05, 0.1, 0.5, 1.0)]
    assert shares == sorted(shares)
    assert shares[-1] == (1.0 if given else 0.0)


def test_a_perfect_order_has_nothing_to_gain() -> None:
    assert excess_aurc([(0.9, 1.0), (0.8, 1.0), (0.3, 0.5), (0.1, 0.0)]) == 0


def test_calibration_by_hand() -> None:
    found = calibration(PAIRS, bins=2)

    assert found.n == 4
    assert found.brier == pytest.approx((0.01 + 0.36 + 0.16 + 0.04) / 4)
    assert [(b.n, b.confidence, b.score) for b in found.bins] == [
        (1, 0.2, 0.0),
        (3, pytest.approx(0.7), pytest.approx(2 / 3)),
    ]
    assert found.ece == pytest.approx((1 * 0.2 + 3 * (0.7 - 2 / 3)) / 4)


@pytest.mark.parametrize(("confidence", "at"), [(0.0, 0), (0.3, 3), (0.7, 7), (1.0, 9)])
def test_a_bin_holds_its_lower_bound(confidence: float, at: int) -> None:
    found = calibration([(confidence, 1.0)])
    assert [b.n for b in found.bins].index(1) == at


def test_no_answers_give_zeros() -> None:
    assert (aurc([]), excess_aurc([]), mean_at([], 0.5), risk_coverage([])) == (0, 0, 0, ())
    assert (calibration([]).brier, calibration([]).ece) == (0, 0)


@given(pairs.flatmap(lambda p: st.tuples(st.just(p), st.permutations(p))))
def test_the_order_of_answers_does_not_matter(
    orders: tuple[list[tuple[float, float]], list[tuple[float, float]]],
) -> None:
    one, other = orders
    assert aurc(one) == pytest.approx(aurc(other))
    assert risk_coverage(one) == risk_coverage(other)
    assert calibration(one) == calibration(other)


@given(pairs)
def test_all_figures_are_shares(given: list[tuple[float, float]]) -> None:
    found = calibration(given)
    assert 0 <= excess_aurc(given) <= aurc(given) <= 1
    assert all(0 <= point.risk <= 1 and 0 < point.coverage <= 1 for point in risk_coverage(given))
    assert 0 <= found.brier <= 1
    assert 0 <= found.ece <= 1
    assert sum(b.n for b in found.bins) == len(given)


@given(pairs.filter(bool))
def test_the_area_is_made_of_the_means_at_each_coverage(given: list[tuple[float, float]]) -> None:
    n = len(given)
    risks = [1 - mean_at(given, k / n) for k in range(1, n + 1)]
    assert aurc(given) == pytest.approx(sum(risks) / n)
