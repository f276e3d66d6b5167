"""The graphs that a query asks are known to its validation, those behind a SERVICE too."""

from pathlib import Path

import pytest
from tests.graphs import MOONS

from askgraph import sample
from askgraph.answers.validation.validate import validate_query
from askgraph.cli.validate import load_services
from askgraph.errors import SetupError
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

CALLED = (
    "SELECT * { ?planet a ?kind SERVICE <askgraph:moons> "
    "{ ?moon <http://example.org/onto#orbitz> ?planet } }"
)


@pytest.fixture
def two(tmp_path: Path) -> Workspace:
    (tmp_path / "moons.ttl").write_text(MOONS)
    place = Workspace(tmp_path / "workspace")
    place.add("space", [sample.graph_path()])
    place.add("moons", [tmp_path / "moons.ttl"])
    return place


def test_a_called_graph_of_the_workspace_is_known_by_its_target(two: Workspace) -> None:
    services = run_coroutine(load_services(two, "space", CALLED))
    assert list(services.services) == ["askgraph:moons"]
    said = [finding.message for finding in validate_query(CALLED, services, language="en").findings]
    assert any("orbitz" in message for message in said)


def test_graphs_that_are_not_there(space: Workspace) -> None:
    # A service outside the workspace is not known.
    query = "SELECT * { SERVICE <https://example.org/sparql> { ?s ?p ?o } }"
    assert not run_coroutine(load_services(space, None, query)).services
    # A graph that is not there is an error.
    with pytest.raises(SetupError, match="no graph 'nowhere'"):
        run_coroutine(load_services(space, "nowhere", "ASK {}"))
