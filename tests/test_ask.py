"""`askgraph.ask`, as scripts and notebooks use it."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.graphs import MOONS

import askgraph
from askgraph.errors import SetupError, TimedOut
from askgraph.workspace import Workspace
from askgraph.workspace.running import result_of

QUESTION = "Which moons orbit Jupiter?"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASKGRAPH_WORKSPACE", str(tmp_path / "workspace"))
    path = tmp_path / "moons.ttl"
    path.write_text(MOONS)
    return path


def test_a_file_is_asked(source: Path) -> None:
    result = askgraph.ask(QUESTION, source)
    assert result.answered
    assert "Europa" in str(result) and "SELECT" in str(result)
    assert result.json()["graph"] == "moons"


def test_a_named_graph_is_asked_by_name_or_as_the_only_one(source: Path) -> None:
    Workspace().add("space", [source])
    assert askgraph.ask(QUESTION, "space").json()["rows"] == askgraph.ask(QUESTION).json()["rows"]


def test_an_open_graph_is_asked_again_and_again(source: Path) -> None:
    graph = Workspace().open(source)
    try:
        answers = [askgraph.ask(QUESTION, graph).answered for _ in range(2)]
    finally:
        result_of(graph.endpoint.close())
    assert answers == [True, True]


async def test_it_works_where_a_loop_runs_already(source: Path) -> None:
    assert askgraph.ask(QUESTION, source).answered


def test_what_does_not_exist_is_told(source: Path) -> None:
    with pytest.raises(SetupError, match="no graph 'nothing'"):
        askgraph.ask(QUESTION, "nothing")
    with pytest.raises(SetupError, match="no file or folder"):
        askgraph.ask(QUESTION, Path("nothing.ttl"))


def test_time_runs_out(source: Path) -> None:
    with pytest.raises(TimedOut):
        askgraph.ask(QUESTION, source, timeout=1e-6)


def test_importing_it_imports_nothing() -> None:
    script = "import askgraph, sys; assert not {'numpy', 'asyncio', 'typer'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)
