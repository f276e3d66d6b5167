"""Recall of an index with the whole question."""

from pathlib import Path
from typing import Any

import pytest

from askgraph import registry
from askgraph.evaluation.stages.retrieval import Sought, recall
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
    found = recall("entities", sought, (1, 10))

    assert found.questions == 2
    assert dict(found.at) == {1: 0.5, 10: 0.75}


def test_where_nothing_is_sought_there_is_no_recall(index: SearchIndex[Resource]) -> None:
    assert recall("predicates", [], (10,)).at == ((10, 0.0),)
