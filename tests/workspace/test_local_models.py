"""Models on this machine are found from the workspace's settings."""

from pathlib import Path

import pytest

from askgraph.errors import SetupError
from askgraph.workspace.models import Models


def test_a_folder_is_looked_for_from_the_workspace_on(tmp_path: Path) -> None:
    (tmp_path / "models" / "ours").mkdir(parents=True)

    model = Models(tmp_path).model("transformers/models/ours")

    assert model.identity.provider == "transformers"
    assert model.identity.model == str(tmp_path / "models" / "ours")


def test_settings_of_servers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="timeout would change nothing"):
        Models(tmp_path).model("transformers/ours", timeout=3.0)
