"""What a policy of rejection catches and loses, over cases made by hand."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.reports.records import record

from askgraph import plugins
from askgraph.evaluation.metrics.linking import Links
from askgraph.evaluation.studies.stages import (
    EVALUATIONS,
    K1,
    CrossRow,
    Recall,
    Sought,
    StageCase,
    cross_sheet,
    policies,
    recall_at,
    tuned,
)
from askgraph.index import Resource, SearchIndex
from askgraph.methods.shared.cooccurrence import REACHES
from askgraph.methods.shared.index_cache import Bm25

METRIC = "best_column"
NONE, AT_ONCE, FURTHER, NOWHERE = REACHES


def case(
    number: int,
    f1: float,
    *,
    reach: str = AT_ONCE,
    status: str = "answer",
    written: int = 1,
    confidence: float = 0.9,
    graph: str = "space",
) -> StageCase:
    made = record(f"q{number}", f1, status=status, confidence=confidence, graph=graph)
    return StageCase(made, Links(), Links(), Links(), reach, written)


def shares(cases: list[StageCase], policy: str) -> tuple[float | None, float | None]:
    found = policies(cases, METRIC)[policy]
    return found.caught, found.lost


def test_each_policy_catches_more_than_the_one_before() -> None:
    cases = [
        case(1, 1.0),
        case(2, 0.0, written=0, status="refusal"),
        case(3, 0.0, status="refusal"),
        case(4, 0.0, reach=NOWHERE),
        case(5, 0.5, reach=FURTHER),
        case(6, 1.0, reach=FURTHER),
    ]

    assert shares(cases, "writer says no") == (0.25, 0.0)
    assert shares(cases, "execution") == (0.5, 0.0)
    assert shares(cases, "filter (reach) and execution") == (0.75, 0.0)
    assert shares(cases, "filter (direct) and execution") == (1.0, 0.5)


def test_a_right_answer_that_is_empty_is_lost_where_the_empty_is_refused() -> None:
    assert shares([case(1, 1.0, status="refusal"), case(2, 1.0)], "execution") == (None, 0.5)


def test_a_threshold_is_chosen_on_the_other_graphs_alone() -> None:
    cases = [case(at, 1.0, confidence=0.5 + at / 100, graph="one") for at in range(20)]
    cases += [case(20 + at, 0.0, confidence=0.4, graph="one") for at in range(5)]
    cases += [case(30, 0.0, confidence=0.51, graph="two"), case(31, 1.0, confidence=0.53,
              graph="two")]  # fmt: skip
    found = policies(cases, METRIC)["execution, confidence"]

    # Two of twenty may be lost on `one`, which puts the threshold for `two` at 0.52; the threshold
    # for `one` comes from the one right answer of `two`, of which none may be lost.
    assert (found.wrong, found.wrong_rejected) == (6, 6)
    assert (found.right, found.right_rejected) == (21, 3)


def test_errors_are_left_out() -> None:
    found = policies([case(1, 0.0, status="error"), case(2, 1.0)], METRIC)["execution"]

    assert (found.wrong, found.right) == (0, 1)


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, 0.5, 1.0]),
            st.sampled_from(REACHES),
            st.sampled_from(["answer", "refusal"]),
            st.integers(0, 3),
            st.floats(0, 1),
            st.sampled_from(["one", "two", "three"]),
        )
    )
)
def test_a_policy_that_adds_to_another_rejects_no_less(
    drawn: list[tuple[float, str, str, int, float, str]],
) -> None:
    cases = [
        case(at, f1, reach=reach, status=status, written=written, confidence=sure, graph=graph)
        for at, (f1, reach, status, written, sure, graph) in enumerate(drawn)
    ]
    found = policies(cases, METRIC)

    assert len({(one.wrong, one.right) for one in found.values()}) == 1
    for less, more in (
        ("execution", "filter (reach) and execution"),
        ("filter (reach) and execution", "filter (direct) and execution"),
        ("execution", "execution, confidence"),
        ("filter (direct) and execution", "filter (direct) and execution, confidence"),
    ):
        assert found[less].wrong_rejected <= found[more].wrong_rejected
        assert found[less].right_rejected <= found[more].right_rejected


EX = "http://example.org/"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex[Resource]:
    folder: Path = tmp_path_factory.mktemp("recall") / "bm25"
    names = ("Jupiter", "Mars", "moon of Jupiter", "great moon")
    plugin: Any = plugins.load("index", "bm25")
    resources = [Resource(f"{EX}{at}", name) for at, name in enumerate(names)]
    built: SearchIndex[Resource] = plugin.build(resources, folder)
    return built


def test_recall_is_the_mean_share_of_what_is_wanted(index: SearchIndex[Resource]) -> None:
    sought = [
        (index, Sought("Which moons has Jupiter?", frozenset({f"{EX}0", f"{EX}1"}))),
        (index, Sought("Where is Mars?", frozenset({f"{EX}1"}))),
        (index, Sought("What is there?", frozenset())),
    ]
    found = recall_at("entities", sought, (1, 10))

    assert found.questions == 2
    assert dict(found.at) == {1: 0.5, 10: 0.75}


def test_where_nothing_is_sought_there_is_no_recall(index: SearchIndex[Resource]) -> None:
    assert recall_at("predicates", [], (10,)).at == ((10, 0.0),)


START = Bm25()


@given(st.floats(0.1, 10), st.floats(0, 1))
def test_the_best_of_a_smooth_hill_is_found_nearby(k1: float, b: float) -> None:
    asked: list[Bm25] = []

    def measure(one: Bm25) -> Recall:
        asked.append(one)
        height = 1 - abs(one.k1 - k1) / 20 - abs(one.b - b) / 2
        return Recall("entities", 1, ((10, height), (100, 1.0)))

    found = tuned(measure, start=START)

    assert found.recall_after.at >= found.recall_before.at
    nearest = min(abs(value - k1) for value in (*K1, START.k1))
    assert abs(found.after.k1 - k1) == pytest.approx(nearest)
    assert len(asked) == len(set(asked)) <= EVALUATIONS + 1


def test_numbers_that_change_nothing_stay() -> None:
    told: list[int] = []
    found = tuned(
        lambda one: Recall("entities", 1, ((10, 0.5),)), start=START, progress=told.append
    )

    assert found.after == found.before == START
    assert told == list(range(1, len(told) + 1))


def test_beside_a_model_that_is_trained_as_published_stands_what_was_published() -> None:
    formats = {"QALD": "qald", "RuBQ": "rubq", "ours": "questions_jsonl"}
    rows = [
        CrossRow(("QALD",), {"QALD": 0.5, "RuBQ": 0.25, "ours": 0.125}),
        CrossRow(("QALD", "ours"), {"QALD": 0.5, "RuBQ": 0.25, "ours": 0.125}),
        CrossRow(("QALD",), {"QALD": 0.0, "RuBQ": 0.0, "ours": 0.0}, questions=100),
    ]

    sheet = cross_sheet(rows, formats)

    assert [column.head for column in sheet.columns] == [
        "trained on", "questions", "QALD", "RuBQ", "ours", "QALD, published", "RuBQ, published",
    ]  # fmt: skip
    assert [row[-2:] for row in sheet.rows] == [(0.276, None), (None, 0.225), (None, None)]
    assert [row[:2] for row in sheet.rows][1:] == [("QALD + ours", "all"), ("QALD", "100")]
