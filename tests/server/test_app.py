"""What a server does before anybody asks."""

from pathlib import Path

from tests.servers.sparql import SparqlServer

from askgraph.sample import graph_path
from askgraph.server.app import warm_up
from askgraph.server.hub import open_hub
from askgraph.server.settings import ServeSettings
from askgraph.workspace import Workspace


async def test_graphs_that_lie_here_are_opened_and_no_endpoint_is_asked(
    tmp_path: Path, sample_endpoint: SparqlServer
) -> None:
    workspace = Workspace(tmp_path)
    workspace.add("far", [sample_endpoint.url])
    workspace.add("space", [graph_path()])
    sample_endpoint.requests.clear()
    async with open_hub(ServeSettings.of(tmp_path), workspace) as hub:
        await warm_up(hub)
        assert hub.graphs.opened == ["space"]
        assert await hub.store.costs() == {}
    assert sample_endpoint.requests == []


async def test_a_graph_that_cannot_be_opened_keeps_no_other_from_it(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    for name in ("gone", "space"):
        copy = tmp_path / f"{name}.ttl"
        copy.write_bytes(graph_path().read_bytes())
        workspace.add(name, [copy])
    (workspace.data("gone") / "built.json").unlink()
    (tmp_path / "gone.ttl").unlink()
    async with open_hub(ServeSettings.of(tmp_path), workspace) as hub:
        await warm_up(hub)
        assert hub.graphs.opened == ["space"]
