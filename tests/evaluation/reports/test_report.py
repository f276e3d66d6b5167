"""The figures over records, worked out by hand."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evaluation.reports.records import record, same

from askgraph.evaluation import Score
from askgraph.evaluation.reports.confidence import compute_mean_at_coverage
from askgraph.evaluation.reports.report import Report, compute_percentile
from askgraph.evaluation.runs import Record
from askgraph.trace import Usage


def of_pairs(*pairs: tuple[float, float]) -> tuple[Record, ...]:
    """Records with these pairs of confidence and F1."""
    return tuple(
        record(f"q{at}", f1, confidence=confidence) for at, (confidence, f1) in enumerate(pairs)
    )


def test_means_and_shares() -> None:
    # Failures stay in the mean and the unanswerable do not.
    right = record("a", scores=same(1, flattened=0.5, exact_match=0))
    failed = record("b", 0, status="error", error="down", sparql=None)
    refused = record("c", status="refusal", unanswerable=True)
    wrong = record("d", 0, unanswerable=True, gold_error="slow")
    found = Report((right, failed, refused, wrong)).to_json()
    assert (found["n"], found["answerable"], found["answered"], found["refused"]) == (4, 2, 2, 1)
    assert (found["f1"], found["f1_flattened"], found["em"]) == (0.5, 0.25, 0.0)
    assert (found["failed"], found["unanswerable"]) == (2, {"n": 2, "refused": 1})
    assert found["errors"] == [{"id": "b", "error": "down"}]
    assert found["gold_errors"] == [{"id": "d", "error": "slow"}]
    # No questions give zeros.
    found = Report(()).to_json()
    assert (found["n"], found["f1"], found["top_half_f1"], found["aurc"]) == (0, 0.0, 0.0, 0.0)
    assert found["failures"] == {}
    # The most confident half.
    assert Report(of_pairs((0.9, 1), (0.8, 1), (0.2, 0), (0.1, 0))).top_half_f1 == 1
    assert Report(of_pairs((0.9, 0), (0.1, 1))).top_half_f1 == 0
    assert Report(of_pairs((0.9, 1), (0.5, 0), (0.1, 0))).top_half_f1 == 0.5
    # Equal confidence at the border counts in part.
    assert (
        compute_mean_at_coverage(
            Report(of_pairs((0.9, 1), (0.5, 1), (0.5, 0), (0.5, 0.5))).pairs, 0.5
        )
        == 0.75
    )
    # Tags have their own figures.
    by_tag = Report(
        (
            record("a", tags=("count", "en"), scores=same(1, flattened=0.5, exact_match=0)),
            record("b", 0, tags=("en",), status="refusal"),
        )
    ).to_json()["by_tag"]
    assert by_tag == {
        "count": {
            **{"n": 1, "f1": 1.0, "f1_flattened": 0.5, "em": 0.0, "answered": 1},
            **{"score": 1.0, "low": 1.0, "high": 1.0},
        },
        "en": {
            **{"n": 2, "f1": 0.5, "f1_flattened": 0.25, "em": 0.0, "answered": 1},
            **{"score": 0.5, "low": 0.0, "high": 1.0},
        },
    }


pairs = st.lists(st.tuples(st.sampled_from([0.1, 0.5, 0.9]), st.floats(0, 1)), max_size=8)


@given(pairs.flatmap(lambda p: st.tuples(st.just(p), st.permutations(p))), st.floats(0.01, 1))
def test_the_order_of_records_does_not_matter_to_coverage(
    drawn: tuple[list[tuple[float, float]], list[tuple[float, float]]], coverage: float
) -> None:
    one, other = (
        compute_mean_at_coverage(Report(of_pairs(*order)).pairs, coverage) for order in drawn
    )
    assert 0 <= one <= 1 and one == pytest.approx(other)


def test_groups_of_records() -> None:
    # Records are put together by what gold is like.
    report = Report(
        (
            record("a", patterns=10, form="ASK", graph="mars"),
            record("b", 0, patterns=2, failure="empty"),
            record("c", patterns=None, form=None),
        )
    )
    assert list(report.group_by("patterns")) == ["2", "10", "-"]
    assert list(report.group_by("form")) == ["-", "ASK", "SELECT"]
    assert list(report.group_by("graph")) == ["mars", "space"]
    assert {name: len(part.records) for name, part in report.group_by("failure").items()} == {
        "empty": 1,
        "none": 2,
    }
    # Repetitions are averaged for each question first.
    report = Report(
        (
            record("a", 1.0, repeat=0),
            record("a", 0.5, repeat=1),
            record("b", 0.0, repeat=0),
            record("b", 0.5, repeat=1),
            record("c", 1.0, repeat=0),
        )
    )
    assert report.score_by_question() == {"space\ta": 0.75, "space\tb": 0.25, "space\tc": 1.0}
    assert report.f1 == pytest.approx(2 / 3)
    assert report.compute_deviation() == pytest.approx((2 / 3 - 1 / 2) / 2**0.5)
    assert report.to_json()["repetitions"] == 2
    # A question of two benchmarks is two questions.
    report = Report((record("a", 1), record("a", 0, benchmark="other")))
    assert report.f1 == 0.5 and len(report.score_by_question()) == 2
    # A record comes back from its line.
    one = replace(record(), tags=("a", "b"), error="x", drafts=(0.5, 1.0), usage=Usage(requests=2))
    assert Record.from_json({**one.to_json(), "added_later": 1}) == one
    with pytest.raises(TypeError):
        Record.from_json({"id": "q"})


def test_metrics_costs_and_times() -> None:
    # Another main metric.
    report = Report(
        (
            record("a", scores=same(1, flattened=0.5), confidence=0.9),
            record("b", scores=same(1, flattened=1.0), confidence=0.1),
        ),
        "flattened",
    )
    found = report.to_json()
    assert report.metrics == ("flattened", "best_column", "exact_match")
    assert (found["top_half_f1"], found["metric"]) == (0.5, "flattened")
    assert found["failures"] == {"wrong result": 1}
    # Precision and recall are averaged too.
    scores = {"best_column": Score(0.25, 1.0, 0.4)}
    averaged = Report((record("a", scores=scores),)).to_json()["scores"]
    assert averaged == {
        "best_column": {"precision": 0.25, "recall": 1.0, "f1": 0.4, "low": 0.4, "high": 0.4}
    }
    # Costs are summed and times left out on request.
    usage = Usage(seconds=9, requests=2, llm_calls=1, input_tokens=100, money=0.1)
    records = tuple(record(i, usage=usage, seconds=1.5, attempts=2) for i in ("a", "b", "c"))
    cost = Report(records).to_json()["cost"]
    without = Report(records).to_json(with_times=False)
    assert cost == {
        **{"seconds": 4.5, "requests": 6, "llm_calls": 3, "input_tokens": 300},
        **{"cached_tokens": 0, "output_tokens": 0, "money": 0.3, "attempts": 6},
    }
    assert "second" not in json.dumps(without)
    # A run at another time gives the same bytes without times.
    one = (record("a", seconds=1.0, usage=Usage(seconds=1.0)), record("b", 0))
    other = (record("b", 0), record("a", seconds=7.0, usage=Usage(seconds=7.0)))
    assert json.dumps(Report(one).to_json(with_times=False)) == json.dumps(
        Report(other).to_json(with_times=False)
    )
    # Percentiles are values that occur.
    assert (
        compute_percentile([4, 1, 3, 2], 0.5) == 2 and compute_percentile([4, 1, 3, 2], 0.95) == 4
    )
    assert compute_percentile([], 0.5) == 0


outcomes = st.builds(
    record,
    st.sampled_from("abcdef"),
    st.sampled_from([0.0, 1 / 3, 0.7, 1.0]),
    status=st.sampled_from(["answer", "refusal", "clarification", "error"]),
    confidence=st.sampled_from([0.0, 0.1, 0.3, 0.9]),
    error=st.sampled_from([None, "down", "TimedOut: slow"]),
    tags=st.sampled_from([(), ("x",), ("x", "y")]),
    unanswerable=st.booleans(),
    usage=st.builds(Usage, money=st.sampled_from([0.1, 0.2, 1e-9])),
)


@settings(deadline=None, max_examples=30)
@given(
    st.lists(outcomes, max_size=8, unique_by=lambda record: record.key).flatmap(
        lambda records: st.tuples(st.just(records), st.permutations(records))
    )
)
def test_the_order_of_records_does_not_matter(orders: tuple[list[Record], list[Record]]) -> None:
    one, other = (json.dumps(Report(tuple(order)).to_json()) for order in orders)
    assert one == other
