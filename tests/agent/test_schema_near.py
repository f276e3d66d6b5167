"""Classes are found by what links name, and by names, comments and predicates."""

from collections.abc import Iterator

import pytest
from tests.graphs import MOONS

from askgraph.agent.schema_near import classes_near
from askgraph.agent.several_graphs import AskedGraphs, linked_graph
from askgraph.graph import KnowledgeGraph
from askgraph.tools import Limits
from askgraph.trace import Question
from askgraph.workspace import Workspace
from askgraph.workspace.synchronous import result_of

LIBRARY = """
@prefix : <http://library.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:b1 a :Volume ; :shelfmark "A 1" ; :heldBy :l1 . :b2 a :Volume ; :shelfmark "A 2" ; :heldBy :l1 .
:l1 a :Q7 ; rdfs:label "City" . :p1 a :Q9 ; :lends :b1 . :x1 a :X . :x2 a :X . :x3 a :X .
:Volume rdfs:label "volume"@en, "Band"@de .
:Q7 rdfs:label "Q7" ; rdfs:comment "A building where readers borrow books."@en .
:Q9 rdfs:label "Q9" .
"""


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[KnowledgeGraph]]:
    folder = tmp_path_factory.mktemp("classes-near")
    opened = []
    for name, text in (("library", LIBRARY), ("moons", MOONS)):
        (folder / f"{name}.ttl").write_text(text)
        opened.append(Workspace(folder / "workspace").open(folder / f"{name}.ttl"))
    yield opened
    for graph in opened:
        result_of(graph.endpoint.close())


async def found(text: str, graphs: list[KnowledgeGraph], *, limit: int = 1) -> list[str]:
    asked = AskedGraphs.of(Question(text), graphs, Limits())
    linked = [await linked_graph(text, one) for one in asked.every]
    near = await classes_near(text, linked, limit=limit)
    return [one.iri.rsplit("/", 1)[-1] for one in near]


@pytest.mark.parametrize(
    ("text", "cls"),
    [
        ("How many volumes are there?", "Volume"),
        ("Wie viele Bände, Band für Band?", "Volume"),
        ("Which buildings do readers like?", "Q7"),
        ("What lends most?", "Q9"),
        ("List every shelfmark", "Volume"),
    ],
)
async def test_a_class_is_found_by_names_comments_and_predicates(
    graphs: list[KnowledgeGraph], text: str, cls: str
) -> None:
    assert cls in await found(text, graphs[:1], limit=2)


async def test_of_several_graphs_the_one_whose_names_hold_the_words_has_the_first_turn(
    graphs: list[KnowledgeGraph],
) -> None:
    both = await found("Which moons orbit Jupiter?", graphs, limit=3)

    assert both[0] == "onto#Moon" and len({one.startswith("onto#") for one in both}) == 2


async def test_no_class_is_wanted(graphs: list[KnowledgeGraph]) -> None:
    assert await found("How many volumes?", graphs, limit=0) == []
