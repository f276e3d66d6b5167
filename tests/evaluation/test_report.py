"""The figures over a run's records."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgraph.evaluation.report import Record, Report, coverage_mean, percentile

RECORD = Record("q", "?", "answer", 0.9, 1.0, 0.5, 0.0, 0.01, "SELECT …", "SELECT …")


def records(*scores: tuple[float, float]) -> tuple[Record, ...]:
    """Records with these pairs of confidence and F1."""
    return tuple(
        replace(RECORD, id=f"q{at}", confidence=confidence, f1=f1)
        for at, (confidence, f1) in enumerate(scores)
    )


def test_failures_stay_in_the_mean_and_the_unanswerable_do_not() -> None:
    failed = replace(RECORD, id="b", status="error", f1=0.0, f1_flattened=0.0, error="down")
    refused = replace(RECORD, id="c", status="refusal", f1=1.0, unanswerable=True)
    wrong = replace(RECORD, id="d", f1=0.0, unanswerable=True, gold_error="slow")

    found = Report((RECORD, failed, refused, wrong)).json()

    assert (found["n"], found["answerable"], found["answered"], found["refused"]) == (4, 2, 2, 1)
    assert (found["f1"], found["f1_flattened"], found["em"]) == (0.5, 0.25, 0.0)
    assert found["unanswerable"] == {"n": 2, "refused": 1}
    assert found["errors"] == [{"id": "b", "error": "down"}]
    assert found["gold_errors"] == [{"id": "d", "error": "slow"}]


def test_no_questions_give_zeros() -> None:
    found = Report(()).json()
    assert (found["n"], found["f1"], found["top_half_f1"]) == (0, 0.0, 0.0)


def test_the_most_confident_half() -> None:
    assert Report(records((0.9, 1), (0.8, 1), (0.2, 0), (0.1, 0))).top_half_f1 == 1
    assert Report(records((0.9, 0), (0.1, 1))).top_half_f1 == 0
    assert Report(records((0.9, 1), (0.5, 0), (0.1, 0))).top_half_f1 == 0.5


def test_equal_confidence_at_the_border_counts_in_part() -> None:
    assert coverage_mean(records((0.9, 1), (0.5, 1), (0.5, 0), (0.5, 0.5)), 0.5) == 0.75


pairs = st.lists(st.tuples(st.sampled_from([0.1, 0.5, 0.9]), st.floats(0, 1)), max_size=8)


@given(pairs.flatmap(lambda p: st.tuples(st.just(p), st.permutations(p))), st.floats(0.01, 1))
def test_the_order_of_records_does_not_matter(
    drawn: tuple[list[tuple[float, float]], list[tuple[float, float]]], coverage: float
) -> None:
    one, other = (coverage_mean(records(*order), coverage) for order in drawn)
    assert 0 <= one <= 1
    assert one == pytest.approx(other)


def test_tags_have_their_own_figures() -> None:
    by_tag = Report(
        (
            replace(RECORD, tags=("count", "en")),
            replace(RECORD, id="b", f1=0.0, tags=("en",), status="refusal"),
        )
    ).json()["by_tag"]
    assert by_tag == {
        "count": {"n": 1, "f1": 1.0, "f1_flattened": 0.5, "em": 0.0, "answered": 1},
        "en": {"n": 2, "f1": 0.5, "f1_flattened": 0.5, "em": 0.0, "answered": 1},
    }


def test_percentiles_are_values_that_occur() -> None:
    assert percentile([4, 1, 3, 2], 0.5) == 2
    assert percentile([4, 1, 3, 2], 0.95) == 4
    assert percentile([], 0.5) == 0


def test_a_record_comes_back_from_its_line() -> None:
    record = replace(RECORD, tags=("a", "b"), error="x")
    assert Record.of_json({**record.json(), "added_later": 1}) == record
    with pytest.raises(TypeError):
        Record.of_json({"id": "q"})
