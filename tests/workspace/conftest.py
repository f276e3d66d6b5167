"""Workspaces for tests: one with the sample graph, which stays as it is; one of moons for each."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.graphs import MOONS

from askgraph import sample
from askgraph.workspace import Workspace

MODEL_VARIABLES = (
    "ASKGRAPH_MODEL", "ASKGRAPH_BASE_URL", "ASKGRAPH_API_KEY", "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY", "GEMINI_API_KEY",
)  # fmt: skip


@pytest.fixture(scope="session")
def space(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    place = Workspace(tmp_path_factory.mktemp("space"))
    place.add("space", [sample.graph_path()])
    return place


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "moons.ttl"
    path.write_text(MOONS)
    return path


@pytest.fixture
def workspace(tmp_path: Path, source: Path) -> Workspace:
    place = Workspace(tmp_path / "workspace")
    place.add("moons", [source])
    return place


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
