"""Settings of methods as they stand in `askgraph.toml`."""

from pathlib import Path

import pytest
from tests.servers.sparql import SparqlServer

from askgraph.errors import NotPublic, SetupError
from askgraph.workspace import Workspace
from askgraph.workspace.settings import FILE, GraphSettings, method_settings


@pytest.mark.parametrize("setting", ["ranking", "writer"])
def test_a_relative_path_of_a_method_starts_at_the_folder_of_the_file(
    setting: str, tmp_path: Path
) -> None:
    written = f'[methods.graph_search]\n{setting} = "weights/{{graph}}.bin"\n'
    (tmp_path / FILE).write_text(written, "utf-8")

    assert method_settings(tmp_path, "graph-search") == {
        setting: str(tmp_path / "weights" / "{graph}.bin")
    }


@pytest.mark.parametrize("value", ["", "grown", "model", "/elsewhere/weights.bin"])
def test_a_name_and_a_whole_path_stay_as_they_are(value: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(f'[methods.multi_stage]\nwriter = "{value}"\n', "utf-8")

    assert method_settings(tmp_path, "multi-stage") == {"writer": value}


def test_a_guarded_graph_stays_guarded_when_its_settings_are_read_again() -> None:
    settings = GraphSettings(
        url="https://example.org/sparql", public_only=True, private_addresses=("10.0.0.0/8",)
    )
    assert GraphSettings.of("it", settings.table()) == settings


@pytest.mark.parametrize(
    ("setting", "value", "wanted"),
    [
        ("public_only", 1, "true or false"),
        ("cache_mb", True, "a whole number"),
        ("timeout", "1", "a number"),
        ("graphs", "x", "a list of texts"),
    ],
)
def test_a_setting_of_another_kind_is_refused(setting: str, value: object, wanted: str) -> None:
    with pytest.raises(SetupError, match=wanted):
        GraphSettings.of("it", {"url": "https://example.org", setting: value})


def test_a_guarded_graph_is_not_profiled_at_a_private_address(
    sparql_server: SparqlServer, tmp_path: Path
) -> None:
    workspace = Workspace(tmp_path)
    with pytest.raises(NotPublic):
        workspace.add("inside", [sparql_server.url], settings={"public_only": True})
    assert sparql_server.requests == []
    assert workspace.graphs() == {}
    workspace.add(
        "inside",
        [sparql_server.url],
        settings={"public_only": True, "private_addresses": ("127.0.0.1",)},
    )
    assert workspace.graphs()["inside"].public_only
