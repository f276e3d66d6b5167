"""A query as an answer: which of its columns answer, where nobody says."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.graphs import MOONS

from askgraph.errors import QueryError
from askgraph.graph import KnowledgeGraph
from askgraph.methods.tools import Context
from askgraph.methods.tools.query_run import answered
from askgraph.trace import Earlier, Question
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import result_of

MARS = "SELECT ?moon ?radius { ?moon onto:orbits :Mars ; onto:radius ?radius }"


@pytest.fixture
def moons(tmp_path: Path) -> Iterator[KnowledgeGraph]:
    (tmp_path / "moons.ttl").write_text(MOONS)
    graph = Workspace(tmp_path / "workspace").open(tmp_path / "moons.ttl")
    yield graph
    result_of(graph.endpoint.close())


def columns(graph: KnowledgeGraph, asked: Question, query: str, *told: str) -> tuple[str, ...]:
    context = Context(graph, asked)
    return result_of(answered(context, query, told, confidence=0.5)).answer_columns


@pytest.mark.parametrize(
    ("question", "query", "expected"),
    [
        ("Which moons orbit Mars?", MARS, ("moon",)),
        ("What is the radius of the moons of Mars?", MARS, ("radius",)),
        ("Which moons orbit Mars?", MARS.replace("?moon ?radius", "?moon"), ("moon",)),
        ("Is there a moon?", "ASK { ?moon a onto:Moon }", ()),
    ],
)
def test_the_question_tells_which_columns_answer(
    moons: KnowledgeGraph, question: str, query: str, expected: tuple[str, ...]
) -> None:
    assert columns(moons, Question(question), query) == expected


def test_columns_that_are_told_stand_before_what_the_question_says(moons: KnowledgeGraph) -> None:
    asked = Question("Which moons orbit Mars?")

    assert columns(moons, asked, MARS, "radius") == ("radius",)
    assert columns(moons, asked, MARS, "size", "radius") == ("radius",)
    assert columns(moons, asked, MARS, "size") == ("moon",)


def test_of_a_question_that_goes_on_from_another_all_columns_answer(moons: KnowledgeGraph) -> None:
    before = Earlier("What are the radii of the moons of Jupiter?", MARS.replace("Mars", "Jupiter"))

    assert columns(moons, Question("And of Mars?", before=(before,)), MARS) == ("moon", "radius")


def test_triples_are_no_answer(moons: KnowledgeGraph) -> None:
    with pytest.raises(QueryError, match="write one of these"):
        columns(moons, Question("What is Mars?"), "DESCRIBE :Mars", "moon")
