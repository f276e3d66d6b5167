"""Shapes in a prompt: shortened from what is far from the question, never lost to a slow server."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, Store
from tests.servers.faults import refused_where
from tests.servers.sparql import SparqlServer

from askgraph.agent.room import Piece
from askgraph.agent.schema_near import NearClass
from askgraph.agent.several_graphs import AskedGraphs, linked_graph
from askgraph.agent.shapes_shown import ShapeParts, shape_pieces
from askgraph.graph import KnowledgeGraph
from askgraph.tools import Limits
from askgraph.trace import Question
from askgraph.workspace import Workspace
from askgraph.workspace.synchronous import result_of

WIDE = "@prefix : <http://wide.example/> . " + "".join(
    f":thing{n} a :Thing ; " + " ; ".join(f":part{p} {p}" for p in range(30)) + f" ; :weight {n} . "
    for n in range(3)
)
THING = "http://wide.example/Thing"


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    folder = tmp_path_factory.mktemp("shapes")
    (folder / "wide.ttl").write_text(WIDE)
    graph = Workspace(folder / "workspace").open(folder / "wide.ttl")
    yield graph
    result_of(graph.endpoint.close())


async def shown(
    text: str, graph: KnowledgeGraph, parts: ShapeParts | None = None, *, cls: str = THING
) -> list[Piece]:
    asked = AskedGraphs.of(Question(text), [graph], Limits())
    linked = await linked_graph(text, asked.every[0])
    return await shape_pieces([NearClass(linked, cls)], parts or ShapeParts())


async def test_a_shape_has_several_lengths_each_shorter(wide: KnowledgeGraph) -> None:
    [piece] = await shown("What is the weight of thing 1?", wide)

    lengths = [len(text.splitlines()) for text in piece.texts]
    assert lengths == sorted(lengths, reverse=True) and len(set(lengths)) == 4


async def test_what_is_near_the_question_is_left_longest(wide: KnowledgeGraph) -> None:
    [piece] = await shown("What is the weight of thing 1?", wide)
    [plain] = await shown("What is the weight of thing 1?", wide, ShapeParts(ordered=False))

    assert ":weight" in piece.texts[-1]
    assert ":weight" not in plain.texts[-1]


async def test_a_class_without_instances_has_no_shape(wide: KnowledgeGraph) -> None:
    assert await shown("weight", wide, cls="http://wide.example/Nothing") == []


def test_a_shape_that_a_server_does_not_give_is_that_of_the_profile(tmp_path: Path) -> None:
    store = Store()
    store.load(WIDE.encode(), RdfFormat.TURTLE)
    with SparqlServer(store) as server:
        workspace = Workspace(tmp_path / "workspace")
        workspace.add("wide", [server.url])
        graph = workspace.graph("wide")
        server.always = refused_where("UNION", "busy")
        [piece] = result_of(shown("What is the weight of thing 1?", graph))
        result_of(graph.endpoint.close())

    assert "weight" in piece.texts[0]


KIN = """
@prefix : <http://kin.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Town rdfs:subClassOf :Place . :Village rdfs:subClassOf :Place .
:a a :Place, :Town, :City ; :founded "1200-01-01"^^xsd:date ; :within :b .
:b a :Place, :Town, :City ; :founded "1300-01-01"^^xsd:date ; :within :c .
:c a :Place, :Village ; :within :d . :d a :Place, :Village .
"""


async def test_classes_with_the_same_instances_share_a_shape(tmp_path: Path) -> None:
    (tmp_path / "kin.ttl").write_text(KIN)
    graph = Workspace(tmp_path / "workspace").open(tmp_path / "kin.ttl")
    asked = AskedGraphs.of(Question("towns"), [graph], Limits())
    linked = await linked_graph("towns", asked.every[0])
    every = [NearClass(linked, f"http://kin.example/{c}") for c in ("Town", "City", "Place")]

    town, place = await shape_pieces(every, ShapeParts())
    alone, around = await shape_pieces(every, ShapeParts(), most=1)
    await graph.endpoint.close()

    kin = "}\n# :Town is a kind of: :Place\n# :Town has the same instances as: :City"
    assert town.texts[0].endswith(kin)
    assert ':founded xsd:date ;  # all: "1300-01-01"^^xsd:date' in town.texts[0]
    assert "the same" not in place.texts[0] and ":Place EXTRA a" in place.texts[0]
    assert "in steps: :within+" in place.texts[0]
    assert alone == town
    assert around.texts[0] == "# Linked to these:\n# :Place: :within, :founded"


MANY = "@prefix : <http://many.example/> . " + "".join(
    f":hub a :Hub ; :to{n:02} :leaf{n} . :leaf{n} a :Leaf{n:02} ; :size {n} . " for n in range(12)
) + "".join(f":other{n} a :Leaf00 ; :weight {n} . " for n in range(3))  # fmt: skip


async def test_of_many_linked_classes_six_are_told_with_their_frequent_properties_first(
    tmp_path: Path,
) -> None:
    (tmp_path / "many.ttl").write_text(MANY)
    graph = Workspace(tmp_path / "workspace").open(tmp_path / "many.ttl")

    _, around = await shown("hubs", graph, cls="http://many.example/Hub")
    await graph.endpoint.close()

    longest, shortest = (text.splitlines() for text in around.texts)
    assert len(longest) == 7 and longest[:4] == shortest
    assert all(line.startswith("# :Leaf") and ":size" in line for line in longest[1:])
