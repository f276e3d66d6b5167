"""A model is told of times and units what its question calls for, and nothing else."""

from collections.abc import Iterator

import pytest
from tests.temporal.asked import HERE

from askgraph.graph import KnowledgeGraph
from askgraph.methods.tools import Context
from askgraph.methods.tools.overview import overview
from askgraph.methods.tools.schema_lines import time_lines
from askgraph.search.tokenize import tokenize
from askgraph.trace import Question
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import result_of


@pytest.fixture(scope="module", params=["office", "statements", "bridges"])
def graph(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KnowledgeGraph]:
    opened = Workspace(tmp_path_factory.mktemp("graphs")).open(HERE / f"{request.param}.ttl")
    yield opened
    result_of(opened.endpoint.close())


def told(question: str, graph: KnowledgeGraph) -> str:
    near = graph.profile.predicates
    return "\n".join(time_lines(tokenize(question), graph, near, graph.prefixes.shorten))


def test_a_question_without_time_or_unit_is_told_nothing(graph: KnowledgeGraph) -> None:
    assert told("Which things are there?", graph) == ""


def test_a_question_of_a_time_is_told_what_starts_and_ends(graph: KnowledgeGraph) -> None:
    text = told("Who was in charge in 1995?", graph)
    spans = {"office": "o:from → o:until", "statements": "pq:P580 → pq:P582"}

    assert spans.get(_name(graph), "b:opened → b:closed") in text
    assert ("wikibase:rank" in text) == (_name(graph) == "statements")


def test_a_number_with_a_unit_is_converted_where_the_graph_has_that_dimension(
    graph: KnowledgeGraph,
) -> None:
    text = told("Which are longer than 2 miles?", graph)

    assert text == (
        "units: b:length in metre\n2 mile is 3218.688 metre" if _name(graph) == "bridges" else ""
    )


def test_a_number_in_the_unit_of_the_graph_is_not_converted(graph: KnowledgeGraph) -> None:
    text = told("Which are longer than 2 metres?", graph)

    assert text == ("units: b:length in metre" if _name(graph) == "bridges" else "")


def test_an_age_comes_with_the_expression_for_it(graph: KnowledgeGraph) -> None:
    assert "YEAR(?to) - YEAR(?from)" in told("How old is she?", graph)


async def test_the_overview_has_the_lines(graph: KnowledgeGraph) -> None:
    asked = Question("Who was in charge in 1995?", "en")
    seen = await overview(Context(graph, asked), asked.text)

    assert "start → end: " in seen.text


def _name(graph: KnowledgeGraph) -> str:
    return graph.name.rpartition("/")[2].removesuffix(".ttl")
