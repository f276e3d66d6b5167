"""Recall of an index with the whole question."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgraph import registry
from askgraph.agent.kept_index import Bm25
from askgraph.evaluation.studies.recall import EVALUATIONS, K1, Recall, Sought, recall_at, tuned
from askgraph.index import Resource, SearchIndex

EX = "http://example.org/"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex[Resource]:
    folder: Path = tmp_path_factory.mktemp("recall") / "bm25"
    names = ("Jupiter", "Mars", "moon of Jupiter", "great moon")
    plugin: Any = registry.load("index", "bm25")
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
