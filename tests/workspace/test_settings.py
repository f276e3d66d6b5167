"""Settings of methods as they stand in `askgraph.toml`."""

from pathlib import Path

import pytest

from askgraph.workspace.settings import FILE, method_settings


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
