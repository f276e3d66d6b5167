"""Comments and definitions of resources, in the language that is asked for."""

from collections.abc import Iterator

import pytest

from askgraph.answers.verbalize import fetch_term_descriptions
from askgraph.graph import KnowledgeGraph
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

SOURCE = """
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
:Moon rdfs:comment "It goes round a planet."@en, "Er umkreist einen Planeten."@de .
:Planet skos:definition "It goes round a star."@en .
:Star a :Thing .
"""
MOON, PLANET, STAR = (f"http://example.org/{name}" for name in ("Moon", "Planet", "Star"))


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    folder = tmp_path_factory.mktemp("descriptions")
    (folder / "sky.ttl").write_text(SOURCE)
    graph = Workspace(folder / "workspace").open(folder / "sky.ttl")
    yield graph
    run_coroutine(graph.endpoint.close())


async def test_each_resource_has_its_best_description(graph: KnowledgeGraph) -> None:
    found = await fetch_term_descriptions([MOON, PLANET, STAR], graph, ["de", "en"])

    assert found == {MOON: "Er umkreist einen Planeten.", PLANET: "It goes round a star."}


async def test_of_nothing_nothing_is_asked(graph: KnowledgeGraph) -> None:
    assert await fetch_term_descriptions([], graph, ["en"]) == {}
