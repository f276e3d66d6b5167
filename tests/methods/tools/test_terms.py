"""An IRI is read in all forms that a model was shown it in; else the nearest names are told."""

import asyncio
from collections.abc import Iterator

import pytest
from tests.graphs import MOONS
from tests.tool_graphs import opened_sample, served

from askgraph.errors import QueryError
from askgraph.graph import KnowledgeGraph
from askgraph.methods.tools import Context
from askgraph.methods.tools.terms import named_node
from askgraph.trace import Question
from askgraph.workspace.run_sync import result_of

TITAN = "https://example.org/space/Titan"


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    graph = opened_sample(tmp_path_factory.mktemp("space"))
    yield graph
    result_of(graph.endpoint.close())


def context(graph: KnowledgeGraph) -> Context:
    return Context(graph, Question("Which moons are there?"))


@pytest.mark.parametrize(
    "written",
    [
        "space:Titan",
        f"<{TITAN}>",
        TITAN,
        'space:Titan "Titan"',
        "space:Titan (a moon)",
        "space:Titan,",
    ],
)
def test_an_iri_is_read_in_every_form(space: KnowledgeGraph, written: str) -> None:
    assert asyncio.run(named_node(context(space), written)) == TITAN


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("Titan", "nearest: space:Titan"),
        ("space:Titn", "the graph has no space:Titn; nearest: space:Titan"),
        ("spce:Titan", "the prefix 'spce:' is unknown (known: space:"),
        ("_:b0", "blank node"),
        ("?moon", "is a variable"),
        ("  ", "an IRI is missing"),
        ("space:Titan } INSERT DATA {", "is no IRI"),
        ("<https://example.org/a b>", "is no IRI"),
    ],
)
def test_what_is_no_iri_of_the_graph_is_told_with_the_nearest(
    space: KnowledgeGraph, written: str, told: str
) -> None:
    with pytest.raises(QueryError) as problem:
        asyncio.run(named_node(context(space), written))
    assert told in str(problem.value)


def test_the_nearest_names_count_as_seen(space: KnowledgeGraph) -> None:
    asked = context(space)
    with pytest.raises(QueryError, match="ont:orbits"):
        asyncio.run(named_node(asked, "ont:orbit", sort="properties"))
    assert "https://example.org/space/ontology#orbits" in asked.seen


def test_a_remote_graph_is_asked_once_for_what_its_profile_does_not_tell() -> None:
    with served(MOONS, {"": "http://example.org/"}) as (server, graph):
        assert asyncio.run(named_node(context(graph), ":Io")) == "http://example.org/Io"
        assert len(server.requests) == 1
