"""Models on this machine are found from the workspace's settings."""

from pathlib import Path

import pytest

from askgraph.errors import SetupError
from askgraph.workspace.models import Models


def test_local_models(tmp_path: Path) -> None:
    # A folder is looked for from the workspace on.
    (tmp_path / "models" / "ours").mkdir(parents=True)
    model = Models(tmp_path).model("transformers/models/ours")
    assert model.identity.provider == "transformers"
    assert model.identity.model == str(tmp_path / "models" / "ours")
    # Settings of servers are refused.
    with pytest.raises(SetupError, match="timeout would change nothing"):
        Models(tmp_path).model("transformers/ours", timeout=3.0)
