"""Graphs that are made ready to be asked: told apart by name, with the indices in place."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.each import for_each
from tests.graphs import MOONS, PETS
from tests.workspace.conftest import workspace_of

from askgraph.errors import ServiceError, SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods import Method
from askgraph.workspace import Workspace
from askgraph.workspace.graphs import prepare_graphs
from askgraph.workspace.run_sync import run_coroutine

HOLDS = "ASK { ?s ?p ?o }"


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    return workspace_of(tmp_path, moons=MOONS, pets=PETS)


@pytest.fixture
def searching(place: Workspace) -> Method:
    return place.method("grasp", {"model": ScriptedModel([])})


class Finder:
    """Opens graphs of a workspace and remembers them."""

    def __init__(self, place: Workspace) -> None:
        self.place = place
        self.opened: list[KnowledgeGraph] = []

    def __call__(self, name: str | None) -> KnowledgeGraph:
        self.opened.append(self.place.graph(name))
        return self.opened[-1]


@pytest.fixture
def find(place: Workspace) -> Iterator[Finder]:
    finder = Finder(place)
    yield finder
    for graph in finder.opened:
        run_coroutine(graph.endpoint.close())


def is_open(graph: KnowledgeGraph) -> bool:
    try:
        return run_coroutine(graph.endpoint.ask(HOLDS))
    except ServiceError:
        return False


def test_indices_that_methods_need(place: Workspace, find: Finder, searching: Method) -> None:
    # Missing indices are built and told of and are there the next time.
    told: list[str] = []

    def tell(what: str, done: int, total: int | None) -> None:
        told.append(what)

    prepare_graphs(["moons", "pets"], find, searching, progress=tell)
    first, told[:] = set(told), []
    prepare_graphs(["moons", "pets"], find, searching, progress=tell)
    assert first == {"indexing entities", "indexing properties", "indexing literals"} and told == []
    for name in ("moons", "pets"):
        assert (place.get_data_folder(name) / "indices" / "literals.json").exists()
    # An index that turns out damaged when it is first looked at is built again.
    prepare_graphs(["moons"], find, searching)
    for file in (place.get_data_folder("moons") / "indices" / "entities").iterdir():
        file.write_bytes(b"")
    ready = prepare_graphs(["moons"], find, searching)
    hits = ready.graphs[0].indices["entities"].search("Europa")
    assert [hit.item.label for hit in hits][:1] == ["Europa"]


def test_only_graphs_that_were_opened_for_it_are_closed(
    place: Workspace, find: Finder, searching: Method
) -> None:
    mine = place.graph("pets")
    wanted: list[KnowledgeGraph | str | None] = [mine, "moons"]
    try:
        run_coroutine(prepare_graphs(wanted, find, searching).close())
        assert is_open(mine) and [is_open(graph) for graph in find.opened] == [False]
    finally:
        run_coroutine(mine.endpoint.close())


def test_a_method_that_searches_none_builds_none(place: Workspace, find: Finder) -> None:
    prepare_graphs(["moons"], find, place.method("graph-search"))

    assert not (place.get_data_folder("moons") / "indices").exists()


@for_each(
    ("names", "said", "opened"),
    ([], "name at least one graph", 0),
    (["pets", "moons", "moons"], "two of the graphs have the name 'moons'", 3),
    (["moons", "planets"], "no graph 'planets'", 1),
    (["pets", "broken"], r"no file '.*nowhere\.tsv'", 2),
)
def test_what_cannot_be_made_ready_leaves_no_graph_open(
    place: Workspace, searching: Method, names: list[str], said: str, opened: int
) -> None:
    if "broken" in names:
        source = place.graphs()["moons"].sources
        place.add("broken", source, settings={"entities": "nowhere.tsv"})
    find = Finder(place)
    with pytest.raises(SetupError, match=said):
        prepare_graphs(names, find, searching)
    assert [is_open(graph) for graph in find.opened] == [False] * opened
