"""What failed, what was held back, what ran, by hand."""

import pytest
from tests.evaluation.reports.records import record, same

from askgraph.evaluation.reports.outcomes import (
    Executable,
    Rejection,
    calibration_of,
    drafts_oracle,
    errors_of,
    executable,
    executable_of,
    failure_class,
    failure_counts,
    rejection,
    rejection_of,
)

MAIN = "best_column"


def test_the_class_that_a_run_wrote_down_counts() -> None:
    assert failure_class(record("a", 0, failure="empty"), MAIN) == "empty"
    assert failure_class(record("a", 1, failure=None), MAIN) is None


def test_a_class_that_is_not_written_down_is_found() -> None:
    assert failure_class(record("a", 0, status="refusal"), MAIN) == "refused"
    found = failure_class(record("a", 0, gold_error="slow"), MAIN)
    assert found == "gold failed"


def test_the_most_frequent_class_comes_first() -> None:
    records = [record(i, 0, failure=kind) for i, kind in zip("abc", ["x", "y", "y"], strict=True)]
    assert list(failure_counts([*records, record("d")], MAIN).items()) == [("y", 2), ("x", 1)]


def test_errors_are_told_with_all_their_questions() -> None:
    records = [
        record("b", 0, error="down"),
        record("a", 0, error="down"),
        record("c", gold_error="slow"),
    ]
    assert errors_of(records) == {"down": ("a", "b"), "gold: slow": ("c",)}


def test_rejecting_catches_wrong_answers_and_loses_right_ones() -> None:
    found = rejection_of(
        [
            record("a", 1.0),
            record("b", 1.0, status="clarification"),
            record("c", 0.5, status="refusal"),
            record("d", 0.0),
            record("e", 0.0, status="error"),
            record("f", 1.0, status="refusal", unanswerable=True),
            record("g", 0.0, unanswerable=True),
        ],
        MAIN,
    )

    assert (found.wrong, found.wrong_rejected, found.caught) == (4, 2, 0.5)
    assert (found.right, found.right_rejected, found.lost) == (2, 1, 0.5)


def test_calibration_is_over_records_with_a_query() -> None:
    found = calibration_of(
        [
            record("a", 1.0, confidence=0.8),
            record("b", 1.0, confidence=0.4, status="refusal", unanswerable=True),
            record("c", 0.0, confidence=0.0, sparql=None, status="error"),
        ],
        MAIN,
    )
    assert found.n == 2
    assert found.brier == pytest.approx((0.2**2 + 0.4**2) / 2)


def test_the_executable_share_is_of_all_answerable_questions() -> None:
    found = executable_of(
        [
            record("a"),
            record("b", sparql=None, executed=False),
            record("c", executed=False),
            record("d", unanswerable=True),
        ]
    )
    assert (found.questions, found.queries, found.ran) == (3, 2, 1)


def test_the_oracle_over_candidates_counts_those_without_any() -> None:
    records = [
        record("a", drafts=(0.0, 0.5, 1.0, 0.25)),
        record("b", drafts=(0.5,)),
        record("c"),
        record("d", drafts=(1.0,), unanswerable=True),
    ]
    assert drafts_oracle(records) == pytest.approx({1: 0.5 / 3, 3: 1.5 / 3, 5: 1.5 / 3})
    assert drafts_oracle([record("a")]) == {}


def test_another_metric_decides_what_is_right() -> None:
    one = record("a", scores=same(1, flattened=0.5))
    assert rejection_of([one], MAIN).right == 1
    assert rejection_of([one], "flattened").wrong == 1


def test_both_sides_are_counted() -> None:
    told = rejection([(True, False), (False, False), (True, True), *[(False, True)] * 3])
    assert told == Rejection(wrong=2, wrong_rejected=1, right=4, right_rejected=1)
    assert (told.caught, told.lost) == (0.5, 0.25)


def test_who_rejects_everything_catches_all_and_loses_all() -> None:
    told = rejection([(True, False), (True, True)])
    assert (told.caught, told.lost) == (1.0, 1.0)


def test_a_share_of_nothing_is_none() -> None:
    assert rejection([(False, True)]).caught is None
    assert rejection([(False, False)]).lost is None


def test_a_question_without_a_query_counts_as_one_that_failed() -> None:
    told = executable([("ASK {}", True), ("ASK {", False), (None, False), ("ASK {}", True)])
    assert told == Executable(questions=4, queries=3, ran=2)
    assert told.share == 0.5


def test_the_share_of_no_questions_is_none() -> None:
    assert executable([]).share is None
