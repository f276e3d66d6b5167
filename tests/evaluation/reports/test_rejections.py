"""What ways of rejecting catch and lose, by hand; and the area that tells right from wrong."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evaluation.reports.records import record, run_of

from askgraph.evaluation.reports.by_sheets import by_sheet
from askgraph.evaluation.reports.rejections import auc, auc_interval, limit_for, policies

MAIN = "best_column"
judged = st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=40)


def test_a_perfect_order_has_area_1_and_a_reversed_one_0() -> None:
    assert auc([(0.9, True), (0.8, True), (0.2, False)]) == 1
    assert auc([(0.1, True), (0.8, False), (0.2, False)]) == 0
    assert auc([(0.5, True), (0.5, False)]) == 0.5


def test_there_is_no_area_where_all_are_right_or_all_wrong() -> None:
    assert auc([(0.5, True)]) is None and auc([(0.5, False)]) is None
    assert auc_interval([]) is None


@given(judged)
def test_an_area_is_the_share_of_pairs_in_the_right_order(found: list[tuple[float, bool]]) -> None:
    pairs = [(a > b) + (a == b) / 2 for a, fine in found if fine for b, other in found if not other]
    expected = sum(pairs) / len(pairs) if pairs else None

    assert auc(found) == (None if expected is None else pytest.approx(expected))


@given(judged)
@settings(max_examples=10, deadline=None)
def test_the_interval_of_an_area_holds_it(found: list[tuple[float, bool]]) -> None:
    interval = auc_interval(found)

    assert interval is None or 0 <= interval.low <= interval.mean <= interval.high <= 1


@given(judged, st.floats(0, 1))
def test_a_limit_loses_no_more_than_it_may_and_a_higher_one_would(
    found: list[tuple[float, bool]], lost: float
) -> None:
    limit = limit_for(found, lost=lost)
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


def test_each_policy_catches_what_it_can_see() -> None:
    found = {one.name: one for one in policies(RECORDS, MAIN)}
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


def test_the_limit_of_a_graph_comes_from_the_others() -> None:
    found = {one.name: one for one in policies(RECORDS, MAIN)}
    others = found["confidence, limit of other graphs"].lost
    hindsight = found["confidence, limit in hindsight"].lost

    assert others is not None and others.mean == 0.5  # "b" has less than "a", the other graph's
    assert hindsight is not None and hindsight.mean == 0


def test_answers_that_are_half_right_may_count_as_right() -> None:
    [policy, *_] = policies(RECORDS, MAIN, right_from=0.5)

    assert (policy.wrong, policy.right) == (4, 3)


def test_one_graph_alone_has_no_limit_of_others() -> None:
    names = [one.name for one in policies(RECORDS[:1], MAIN)]

    assert names == [
        "as answered",
        "execution",
        "refusal and execution",
        "confidence, limit in hindsight",
    ]
    assert policies(RECORDS[:1], MAIN)[0].caught is None


def test_the_table_has_a_row_for_each_policy_and_meaning_of_right() -> None:
    sheet = by_sheet([run_of(*RECORDS)], "rejection")

    assert len(sheet.rows) == 12
    assert [column.head for column in sheet.columns[3:5]] == ["rejected by", "right from"]
    wrong, caught, low, high = sheet.rows[0][5:9]
    assert (wrong, caught) == (5, 0.4)
    assert isinstance(low, float) and isinstance(high, float) and 0 <= low < 0.4 < high <= 1
    assert any("fitted" in note for note in sheet.notes)


def test_the_table_as_json_keeps_both_intervals() -> None:
    sheet = by_sheet([run_of(*RECORDS)], "rejection")

    assert len({column.head for column in sheet.columns}) == len(sheet.columns)
    assert {"caught low", "caught high", "lost low", "lost high"} <= {
        column.head for column in sheet.columns
    }
