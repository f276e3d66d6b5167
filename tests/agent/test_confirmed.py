"""A confirmed answer comes again for the same question, from the graph as it is."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.graphs import MOONS
from tests.tools.exploring import served

from askgraph.agent.confirmed import confirmed_answer
from askgraph.graph import KnowledgeGraph
from askgraph.metadata.examples import QueryExample
from askgraph.trace import Earlier, Question

PHOBOS = QueryExample(
    "Which moons has Mars?",
    "SELECT ?moon { ?moon <http://example.org/onto#orbits> <http://example.org/Mars> }",
    "en",
    origin="confirmed",
)


@pytest.fixture
def moons(tmp_path: Path) -> Iterator[KnowledgeGraph]:
    with served(MOONS, tmp_path, examples=(PHOBOS,)) as (graph, _):
        yield graph


async def test_the_same_question_gets_the_confirmed_query_and_its_result_now(
    moons: KnowledgeGraph,
) -> None:
    answer = await confirmed_answer(Question("which moons has Mars", "en"), moons)
    assert answer is not None and answer.confidence == 1.0
    assert [row[0].value for row in answer.result.rows] == ["http://example.org/Phobos"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "question",
    [
        Question("Which moon has Mars?", "en"),
        Question("Which moons has Mars?", "de"),
        Question("Which moons has Mars?", "en", (Earlier("Is there life?", "ASK { }"),)),
    ],
)
async def test_another_question_gets_none(moons: KnowledgeGraph, question: Question) -> None:
    assert await confirmed_answer(question, moons) is None


async def test_a_query_that_does_not_fit_the_graph_is_no_answer(moons: KnowledgeGraph) -> None:
    broken = replace(moons, examples=(replace(PHOBOS, query="SELECT WHERE"),))
    assert await confirmed_answer(Question("Which moons has Mars?", "en"), broken) is None
