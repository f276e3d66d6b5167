"""What else could stand in a query's places: homonyms, what gives answers, what is alike."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.answers.conftest import Slow
from tests.graphs import MOONS

from askgraph.answers.alternatives import Alternative, find_alternatives
from askgraph.answers.query_parts import list_parts
from askgraph.graph import KnowledgeGraph
from askgraph.sample import graph_path
from askgraph.workspace import Workspace

MORE = """
:Mars_god a onto:God ; rdfs:label "Mars"@en ; rdfs:comment "Roman god of war"@en .
:Mars rdfs:comment "the fourth planet"@en .
"""
PREFIX = "PREFIX : <http://example.org/> PREFIX onto: <http://example.org/onto#> "
PREFIX += "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    folder = tmp_path_factory.mktemp("moons")
    (folder / "moons.ttl").write_text(MOONS + MORE, encoding="utf-8")
    workspace = Workspace(folder / "workspace")
    workspace.add("moons", [folder / "moons.ttl"])
    return workspace


@pytest.fixture
async def graph(workspace: Workspace) -> AsyncIterator[KnowledgeGraph]:
    graph = workspace.graph("moons")
    yield graph
    await graph.endpoint.close()


async def found(graph: KnowledgeGraph, query: str) -> dict[str, list[Alternative]]:
    parts = list_parts(PREFIX + query)
    others = await find_alternatives(PREFIX + query, parts, graph, ["en"])
    told = zip(parts, others, strict=True)
    return {part.term.value.rpartition("/")[2]: [*more] for part, more in told}


def names(others: list[Alternative]) -> list[str]:
    return [other.term.value.rpartition("/")[2] for other in others]


async def test_a_homonym_comes_first_then_what_gives_most_answers(graph: KnowledgeGraph) -> None:
    others = (await found(graph, "SELECT ?m { ?m a onto:Moon ; onto:orbits :Mars }"))["Mars"]

    assert names(others) == ["Mars_god", "Jupiter"]
    assert [(one.label, one.description, one.rows) for one in others] == [
        ("Mars", "Roman god of war", None),
        ("Jupiter", "", 2),
    ]


async def test_what_the_question_may_mean_comes_first(graph: KnowledgeGraph) -> None:
    query = PREFIX + "SELECT ?m { ?m onto:orbits :Mars }"
    parts = [part for part in list_parts(query) if part.kind == "entity"]
    meant = {"http://example.org/Mars": ["http://example.org/Phobos"]}
    (others,) = await find_alternatives(query, parts, graph, ["en"], other_meanings=meant)
    assert names([*others]) == ["Phobos", "Mars_god", "Jupiter"]
    (others,) = await find_alternatives(query, parts, graph, ["en"], query_graph=False)
    assert names([*others]) == ["Mars_god"]
    (others,) = await find_alternatives(query, parts, graph, ["en"], limit=1)
    assert names([*others]) == ["Mars_god"]


async def test_predicates_are_those_with_an_answer_in_that_place(graph: KnowledgeGraph) -> None:
    others = await found(graph, "SELECT ?v { :Io onto:radius ?v }")

    assert names(others["onto#radius"]) == ["onto#orbits"]
    assert others["onto#radius"][0].rows == 1
    assert names(others["Io"]) == ["Europa", "Phobos"]


async def test_classes_are_those_of_what_is_asked_for(graph: KnowledgeGraph) -> None:
    others = await found(graph, "SELECT ?n { ?t a onto:Planet ; rdfs:label ?n }")
    assert names(others["onto#Planet"]) == ["onto#Moon", "onto#God"]


async def test_a_text_that_stands_in_a_pattern_may_be_another_one(graph: KnowledgeGraph) -> None:
    others = await found(graph, 'SELECT ?p { ?p onto:code "MAR" }')
    assert [(one.term.value, one.rows) for one in others["MAR"]] == [("JUP", 1)]
    others = await found(graph, "SELECT ?p { ?p onto:radius ?r FILTER(?r > 1600) }")
    assert others["1600"] == []


async def test_names_are_left_where_the_endpoint_does_not_answer(
    graph: KnowledgeGraph, slow: Slow
) -> None:
    unanswered = replace(graph, endpoint=slow)
    others = await found(unanswered, "SELECT ?m { ?m onto:orbits :Mars }")
    assert names(others["Mars"]) == ["Mars_god"]


async def test_things_of_the_same_class_come_first_the_best_known_before_the_rest(
    tmp_path: Path,
) -> None:
    graph = Workspace(tmp_path).open(graph_path())
    space = "https://example.org/space/"
    query = f"SELECT ?d {{ <{space}Jupiter> <{space}ontology#diameter> ?d }}"
    others = await find_alternatives(query, list_parts(query), graph, ["en"], limit=7)
    await graph.endpoint.close()

    told = [one.label for one in others[0]]
    assert set(told) == {"Mercury", "Venus", "Earth", "Mars", "Saturn", "Uranus", "Neptune"}
    assert told.index("Mars") < told.index("Uranus")
