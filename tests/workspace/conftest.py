"""Workspaces for tests: one with the sample graph, which stays as it is; one of moons for each."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.graph.conftest import big, exact, store  # noqa: F401 - they are fixtures
from tests.graphs import MOONS, store_of
from tests.servers.sparql import SparqlServer

from askgraph import sample
from askgraph.graph import KnowledgeGraph
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

MODEL_VARIABLES = (
    "ASKGRAPH_MODEL", "ASKGRAPH_BASE_URL", "ASKGRAPH_API_KEY", "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY", "GEMINI_API_KEY",
)  # fmt: skip


def workspace_of(folder: Path, **graphs: str) -> Workspace:
    """A workspace of graphs, by name and Turtle, whose files lie in the folder."""
    place = Workspace(folder / "workspace")
    for name, text in graphs.items():
        (folder / f"{name}.ttl").write_text(text)
        place.add(name, [folder / f"{name}.ttl"])
    return place


@pytest.fixture(scope="session")
def space(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    place = Workspace(tmp_path_factory.mktemp("space"))
    place.add("space", [sample.graph_path()])
    return place


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return workspace_of(tmp_path, moons=MOONS)


@pytest.fixture
def source(workspace: Workspace) -> Path:
    """The file of the graph of moons."""
    return workspace.folder.parent / "moons.ttl"


@pytest.fixture
def graph(workspace: Workspace) -> Iterator[KnowledgeGraph]:
    graph = workspace.graph()
    yield graph
    run_coroutine(graph.endpoint.close())


@pytest.fixture
def server() -> Iterator[SparqlServer]:
    with SparqlServer(store_of(MOONS)) as server:
        yield server


@pytest.fixture
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """No language model is named by the environment."""
    for name in MODEL_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Install methods, by name and class, as a package of their own."""

    def install(**methods: type) -> None:
        about = tmp_path / "packages" / "own_methods-1.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: own-methods\nVersion: 1\n")
        lines = (f"{name} = {one.__module__}:{one.__name__}" for name, one in methods.items())
        (about / "entry_points.txt").write_text("\n".join(("[askgraph.method]", *lines, "")))
        monkeypatch.syspath_prepend(tmp_path / "packages")

    return install
