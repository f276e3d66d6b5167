"""Risk, coverage and calibration, by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.each import for_each
from tests.evaluation.reports.records import record, run_of

from askgraph.evaluation.reports.confidence import (
    compute_auc,
    compute_auc_interval,
    compute_aurc,
    compute_calibration,
    compute_coverage_at_risk,
    compute_excess_aurc,
    compute_mean_at_coverage,
    evaluate_policies,
    find_threshold,
)
from askgraph.evaluation.reports.report_sheets import build_slice_sheet

PAIRS = [(0.9, 1.0), (0.6, 0.0), (0.6, 1.0), (0.2, 0.0)]

pairs = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), st.sampled_from([0.0, 0.25, 1.0])),
    max_size=10,
)


def test_curves_and_calibration() -> None:
    # The area is the mean risk over all coverages.
    assert compute_aurc(PAIRS) == pytest.approx((0 + 0.25 + 1 / 3 + 0.5) / 4)
    assert compute_excess_aurc(PAIRS) == pytest.approx((0.25 + 1 / 3 + 0.5 - (1 / 3 + 0.5)) / 4)
    # Coverage at a risk is the largest share that keeps it.
    shares = [compute_coverage_at_risk(PAIRS, risk) for risk in (0.0, 0.3, 0.4, 0.5)]
    assert shares == [0.25, 0.25, 0.75, 1.0]
    assert compute_coverage_at_risk([(0.9, 0.0), (0.5, 1.0), (0.4, 1.0)], 0.4) == 1.0
    assert compute_coverage_at_risk([(0.9, 0.0)], 0.1) == compute_coverage_at_risk([], 0.1) == 0.0
    # A perfect order has nothing to gain.
    assert compute_excess_aurc([(0.9, 1.0), (0.8, 1.0), (0.3, 0.5), (0.1, 0.0)]) == 0
    # Calibration by hand.
    found = compute_calibration(PAIRS, bin_count=2)
    assert found.n == 4 and found.brier == pytest.approx((0.01 + 0.36 + 0.16 + 0.04) / 4)
    assert [(b.n, b.confidence, b.score) for b in found.bins] == [
        (1, 0.2, 0.0),
        (3, pytest.approx(0.7), pytest.approx(2 / 3)),
    ]
    assert found.ece == pytest.approx((1 * 0.2 + 3 * (0.7 - 2 / 3)) / 4)
    # No answers give zeros.
    assert compute_aurc([]) == compute_excess_aurc([]) == compute_mean_at_coverage([], 0.5) == 0
    assert compute_calibration([]).brier == compute_calibration([]).ece == 0
    # A perfect order has area 1 and a reversed one 0.
    assert compute_auc([(0.9, True), (0.8, True), (0.2, False)]) == 1
    assert compute_auc([(0.1, True), (0.8, False), (0.2, False)]) == 0
    assert compute_auc([(0.5, True), (0.5, False)]) == 0.5
    # There is no area where all are right or all wrong.
    assert compute_auc([(0.5, True)]) is compute_auc([(0.5, False)]) is None
    assert compute_auc_interval([]) is None


@given(pairs)
def test_more_risk_never_covers_less(given: list[tuple[float, float]]) -> None:
    shares = [compute_coverage_at_risk(given, risk) for risk in (0.0, 0.05, 0.1, 0.5, 1.0)]
    assert shares == sorted(shares) and shares[-1] == (1.0 if given else 0.0)


@for_each(("confidence", "at"), [(0.0, 0), (0.3, 3), (0.7, 7), (1.0, 9)])
def test_a_bin_holds_its_lower_bound(confidence: float, at: int) -> None:
    assert [b.n for b in compute_calibration([(confidence, 1.0)]).bins].index(1) == at


@given(pairs.flatmap(lambda p: st.tuples(st.just(p), st.permutations(p))))
def test_the_order_of_answers_does_not_matter(
    orders: tuple[list[tuple[float, float]], list[tuple[float, float]]],
) -> None:
    one, other = orders
    assert compute_aurc(one) == pytest.approx(compute_aurc(other)) and compute_coverage_at_risk(
        one, 0.3
    ) == compute_coverage_at_risk(other, 0.3)
    assert compute_calibration(one) == compute_calibration(other)


@given(pairs.filter(bool))
def test_the_area_is_made_of_the_means_at_each_coverage(given: list[tuple[float, float]]) -> None:
    n = len(given)
    risks = [1 - compute_mean_at_coverage(given, k / n) for k in range(1, n + 1)]
    assert compute_aurc(given) == pytest.approx(sum(risks) / n)


MAIN = "best_column"
judged = st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=40)


@given(judged)
def test_an_area_is_the_share_of_pairs_in_the_right_order(found: list[tuple[float, bool]]) -> None:
    pairs = [(a > b) + (a == b) / 2 for a, fine in found if fine for b, other in found if not other]
    expected = sum(pairs) / len(pairs) if pairs else None
    assert compute_auc(found) == (None if expected is None else pytest.approx(expected))


@given(judged)
@settings(max_examples=10, deadline=None)
def test_the_interval_of_an_area_holds_it(found: list[tuple[float, bool]]) -> None:
    interval = compute_auc_interval(found)
    assert interval is None or 0 <= interval.low <= interval.mean <= interval.high <= 1


@given(judged, st.floats(0, 1))
def test_a_limit_loses_what_it_may_at_most(found: list[tuple[float, bool]], lost: float) -> None:
    limit = find_threshold(found, max_lost_share=lost)
    right = [confidence for confidence, fine in found if fine]
    assert sum(one < limit for one in right) <= lost * len(right) + 1e-6
    if lost * len(right) < len(right) - 1:
        assert sum(one <= limit for one in right) > lost * len(right) - 1e-6


RECORDS = (
    record("a", 1.0, confidence=0.9, rows=2, graph="one"),
    record("b", 1.0, confidence=0.8, rows=1, graph="two"),
    record("c", 0.5, confidence=0.7, rows=1, graph="one"),
    record("d", 0.0, confidence=0.6, rows=0, graph="two"),
    record("e", 0.0, confidence=0.3, rows=1, graph="one", status="refusal"),
    record("f", 0.0, confidence=0.0, executed=False, sparql=None, graph="two", status="error"),
    record("g", 1.0, confidence=0.2, rows=1, graph="two", unanswerable=True),
)


def test_policies() -> None:
    # Each policy catches what it can see.
    found = {one.name: one for one in evaluate_policies(RECORDS, MAIN)}
    caught = {name: round(one.caught.mean * one.wrong) for name, one in found.items() if one.caught}
    assert caught == {
        "as answered": 2,
        "execution": 2,
        "refusal and execution": 3,
        "confidence, limit of other graphs": 5,
        "execution and confidence, limit of other graphs": 5,
        "confidence, limit in hindsight": 5,
    }
    assert {(one.wrong, one.right) for one in found.values()} == {(5, 2)}
    # The limit of a graph comes from the others.
    others = found["confidence, limit of other graphs"].lost
    hindsight = found["confidence, limit in hindsight"].lost
    assert others is not None and others.mean == 0.5  # "b" has less than "a", the other graph's
    assert hindsight is not None and hindsight.mean == 0
    # Answers that are half right may count as right.
    [policy, *_] = evaluate_policies(RECORDS, MAIN, min_right_score=0.5)
    assert (policy.wrong, policy.right) == (4, 3)
    # One graph alone has no limit of others.
    names = [one.name for one in evaluate_policies(RECORDS[:1], MAIN)]
    assert "|".join(names) == (
        "as answered|execution|refusal and execution|confidence, limit in hindsight"
    )
    assert evaluate_policies(RECORDS[:1], MAIN)[0].caught is None


def test_tables_of_policies() -> None:
    # The table has a row for each policy and meaning of right.
    sheet = build_slice_sheet([run_of(*RECORDS)], "rejection")
    assert len(sheet.rows) == 12
    assert [column.head for column in sheet.columns[3:5]] == ["rejected by", "right from"]
    wrong, caught, low, high = sheet.rows[0][5:9]
    assert (wrong, caught) == (5, 0.4)
    assert isinstance(low, float) and isinstance(high, float) and 0 <= low < 0.4 < high <= 1
    assert any("fitted" in note for note in sheet.notes)
    # Both intervals are kept.
    assert len({column.head for column in sheet.columns}) == len(sheet.columns)
    assert {"caught low", "caught high", "lost low", "lost high"} <= {
        column.head for column in sheet.columns
    }
