"""Graphs that all tests of methods ask, each opened once."""

from collections.abc import Iterator

import pytest
from tests.graphs import MOONS, PETS

from askgraph.graph import KnowledgeGraph
from askgraph.sample import graph_path
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine


@pytest.fixture(scope="session")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, KnowledgeGraph]]:
    folder = tmp_path_factory.mktemp("methods")
    (folder / "moons.ttl").write_text(MOONS)
    (folder / "pets.ttl").write_text(PETS)
    place = Workspace(folder / "workspace")
    graphs = {name: place.open(folder / f"{name}.ttl") for name in ("moons", "pets")}
    graphs["sample"] = place.open(graph_path())
    yield graphs
    for graph in graphs.values():
        run_coroutine(graph.endpoint.close())


@pytest.fixture
def moons(opened: dict[str, KnowledgeGraph]) -> KnowledgeGraph:
    return opened["moons"]


@pytest.fixture
def pets(opened: dict[str, KnowledgeGraph]) -> KnowledgeGraph:
    return opened["pets"]


@pytest.fixture
def local(opened: dict[str, KnowledgeGraph]) -> KnowledgeGraph:
    return opened["sample"]


@pytest.fixture
def space(local: KnowledgeGraph) -> KnowledgeGraph:
    return local
