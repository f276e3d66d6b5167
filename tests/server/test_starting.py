"""A server that cannot start says why; one that starts opens its graphs, its own one first."""

import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
from tests.graphs import MOONS
from tests.servers.served import ServedProcess
from tests.servers.sparql import SparqlServer

from askgraph.sample import graph_path
from askgraph.server.app import warm_up
from askgraph.server.hub import open_hub
from askgraph.server.settings import ServeSettings
from askgraph.workspace import Workspace


def started(place: Path, **settings: str) -> tuple[int, str]:
    """The status of `askgraph serve` with some settings, and what it said on standard error."""
    options = [word for name, value in settings.items() for word in (f"--{name}", value)]
    command = [sys.executable, "-m", "askgraph", "--workspace", str(place), "serve", "--port", "0"]
    ended = subprocess.run([*command, *options], capture_output=True, text=True, timeout=180)
    return ended.returncode, ended.stderr


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"database": "{place}/askgraph.toml"}, "not a database"),
        ({"anonymous": "admin"}, "cannot be administrators"),
    ],
)
def test_a_server_that_cannot_start_says_why(
    tmp_path: Path, settings: dict[str, str], words: str
) -> None:
    (tmp_path / "askgraph.toml").write_text("# a workspace without graphs\n" * 100)
    given = {name: value.format(place=tmp_path) for name, value in settings.items()}
    status, said = started(tmp_path, **given)
    assert status > 0 and said.startswith("askgraph: ") and words in said
    assert "Traceback" not in said


def test_the_graph_that_a_server_is_started_with_is_the_one_that_the_page_asks(
    tmp_path: Path,
) -> None:
    (tmp_path / "moons.ttl").write_text(MOONS)
    Workspace(tmp_path / "place").add("almanac", [tmp_path / "moons.ttl"])

    with ServedProcess.start(tmp_path / "place", "--sample") as served:
        graphs = httpx2.get(f"{served.url}/api/v1/graphs", timeout=600).json()["graphs"]
    with ServedProcess.start(tmp_path / "place") as served:
        again = httpx2.get(f"{served.url}/api/v1/graphs", timeout=600).json()["graphs"]

    assert [one["name"] for one in graphs] == ["space", "almanac"]
    assert [one["name"] for one in again] == ["almanac", "space"]


async def test_opening_graphs_at_the_start(tmp_path: Path, sample_endpoint: SparqlServer) -> None:
    # Graphs that lie here are opened and no endpoint is asked.
    workspace = Workspace(tmp_path)
    workspace.add("far", [sample_endpoint.url])
    workspace.add("space", [graph_path()])
    sample_endpoint.requests.clear()
    async with open_hub(ServeSettings.from_folder(tmp_path), workspace) as hub:
        await warm_up(hub)
        assert (
            hub.graphs.pool.graph_names == ["space"] and await hub.store.get_average_costs() == {}
        )
    assert sample_endpoint.requests == []


async def test_a_graph_that_cannot_be_opened_keeps_no_other_from_it(
    tmp_path: Path, sample_endpoint: SparqlServer
) -> None:
    workspace = Workspace(tmp_path)
    for name in ("gone", "space"):
        copy = tmp_path / f"{name}.ttl"
        copy.write_bytes(graph_path().read_bytes())
        workspace.add(name, [copy])
    (workspace.get_data_folder("gone") / "built.json").unlink()
    (tmp_path / "gone.ttl").unlink()
    async with open_hub(ServeSettings.from_folder(tmp_path), workspace) as hub:
        await warm_up(hub)
        assert hub.graphs.pool.graph_names == ["space"]
