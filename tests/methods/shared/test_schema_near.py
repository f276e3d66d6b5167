"""Classes are found by what links name, and by names, comments and predicates."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, Store
from tests.each import for_each
from tests.graphs import MOONS
from tests.servers.faults import refused_where
from tests.servers.sparql import SparqlServer

from askgraph.graph import KnowledgeGraph
from askgraph.methods.shared import TextVariants
from askgraph.methods.shared.nearby_schema import (
    GraphClass,
    ShapeParts,
    build_shape_texts,
    find_nearby_classes,
)
from askgraph.methods.shared.several_graphs import LinkedGraph, QuestionGraphs, link_graph
from askgraph.methods.tools import ToolLimits
from askgraph.trace import Question
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

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
        run_coroutine(graph.endpoint.close())


async def found(text: str, graphs: list[KnowledgeGraph], *, limit: int = 1) -> list[str]:
    asked = QuestionGraphs.from_graphs(Question(text), graphs, ToolLimits())
    linked = [await link_graph(text, one) for one in asked.graphs]
    near = await find_nearby_classes(text, linked, limit=limit)
    return [one.iri.rsplit("/", 1)[-1] for one in near]


@for_each(
    ("text", "cls"),
    ("How many volumes are there?", "Volume"),
    ("Wie viele Bände, Band für Band?", "Volume"),
    ("Which buildings do readers like?", "Q7"),
    ("What lends most?", "Q9"),
    ("List every shelfmark", "Volume"),
)
async def test_a_class_is_found_by_names_comments_and_predicates(
    graphs: list[KnowledgeGraph], text: str, cls: str
) -> None:
    assert cls in await found(text, graphs[:1], limit=2)


async def test_the_graph_whose_names_hold_the_words_is_first(graphs: list[KnowledgeGraph]) -> None:
    both = await found("Which moons orbit Jupiter?", graphs, limit=3)
    assert both[0] == "onto#Moon" and len({one.startswith("onto#") for one in both}) == 2


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
    run_coroutine(graph.endpoint.close())


async def link(text: str, graph: KnowledgeGraph) -> LinkedGraph:
    asked = QuestionGraphs.from_graphs(Question(text), [graph], ToolLimits())
    return await link_graph(text, asked.graphs[0])


async def shown(
    text: str, graph: KnowledgeGraph, parts: ShapeParts | None = None, *, cls: str = THING
) -> list[TextVariants]:
    return await build_shape_texts(
        [GraphClass(await link(text, graph), cls)], parts or ShapeParts()
    )


async def test_a_shape_has_several_lengths_what_is_near_stays_last(wide: KnowledgeGraph) -> None:
    asked = "What is the weight of thing 1?"
    [piece] = await shown(asked, wide)
    [plain] = await shown(asked, wide, ShapeParts(ordered=False))

    lengths = [len(text.splitlines()) for text in piece.texts]
    assert lengths == sorted(lengths, reverse=True) and len(set(lengths)) == 4
    assert all(f":part{n}" in text for n in range(29) for text in piece.texts)
    assert "  :weight xsd:integer" in piece.texts[-1]
    assert "  :weight xsd:integer" not in plain.texts[-1]
    assert await shown(asked, wide, cls="http://wide.example/Nothing") == []


def test_a_shape_that_a_server_does_not_give_is_that_of_the_profile(tmp_path: Path) -> None:
    store = Store()
    store.load(WIDE.encode(), RdfFormat.TURTLE)
    with SparqlServer(store) as server:
        workspace = Workspace(tmp_path / "workspace")
        workspace.add("wide", [server.url])
        graph = workspace.graph("wide")
        server.always = refused_where("UNION", "busy")
        [piece] = run_coroutine(shown("What is the weight of thing 1?", graph))
        run_coroutine(graph.endpoint.close())

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
    linked = await link("towns", graph)
    every = [GraphClass(linked, f"http://kin.example/{c}") for c in ("Town", "City", "Place")]

    town, place = await build_shape_texts(every, ShapeParts())
    [alone] = await build_shape_texts(every, ShapeParts(), max_classes=1)
    await graph.endpoint.close()

    kin = "}\n# :Town is a kind of: :Place\n# :Town has the same instances as: :City"
    assert town.texts[0].endswith(kin)
    assert ':founded xsd:date ;  # 100%: "1300-01-01"^^xsd:date' in town.texts[0]
    assert "the same" not in place.texts[0] and ":Place EXTRA a" in place.texts[0]
    assert "in steps: :within+" in place.texts[0]
    assert alone == town


async def test_beside_the_schema_a_shape_has_the_lines_that_matter(wide: KnowledgeGraph) -> None:
    near = GraphClass(await link("What is the weight of thing 1?", wide), THING)
    [piece] = await build_shape_texts([near] * 2, ShapeParts(), is_beside=True)
    assert ":weight xsd:integer" in piece.texts[0] and ":part2" not in piece.texts[0]


async def test_all_examples_of_a_shape_are_of_one_instance(tmp_path: Path) -> None:
    (tmp_path / "kin.ttl").write_text(KIN + ":b :mayor :m . :m :age 50 . :a :mayor :n .")
    graph = Workspace(tmp_path / "workspace").open(tmp_path / "kin.ttl")

    [town, *_] = await shown("towns", graph, cls="http://kin.example/Town")
    await graph.endpoint.close()

    assert "one is :b" in town.texts[0]
    assert '"1300-01-01"' in town.texts[0] and ":within :c" not in town.texts[0]
    assert "targets without type have :age: :m" in town.texts[0]


async def test_what_is_equivalent_to_a_class_stands_behind_its_shape(tmp_path: Path) -> None:
    owl = "@prefix owl: <http://www.w3.org/2002/07/owl#> . "
    (tmp_path / "kin.ttl").write_text(f"{owl}{KIN}:Town owl:equivalentClass :Borough .")
    graph = Workspace(tmp_path / "workspace").open(tmp_path / "kin.ttl")
    near = [GraphClass(await link("towns", graph), "http://kin.example/Town")]
    [piece] = await build_shape_texts(near, ShapeParts(), is_beside=True)
    await graph.endpoint.close()

    assert "# :Town is the same as: :Borough" in piece.texts[0]
