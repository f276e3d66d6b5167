"""The campaign of script in what is shown, in short."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="no playwright")

from tests.server.browser.conftest import MISSING

ROOT = Path(__file__).parents[2]
PLACES = ["answers", "boards", "saved"]


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
def test_nothing_that_a_graph_or_a_person_says_runs(tmp_path: Path) -> None:
    kept = tmp_path / "found.json"
    command = [sys.executable, "-m", "tools.campaign.scripting", "--only", *PLACES]
    run = subprocess.run([*command, "--json", str(kept)], cwd=ROOT, capture_output=True, text=True)

    assert run.returncode == 0, run.stdout + run.stderr
    found = json.loads(kept.read_text())
    assert f"tried {len(found)}, survived {len(found)}" in run.stdout
    assert {one["what"] for one in found} == {*PLACES, "the watch"}
    assert sum(one["what"] == "answers" for one in found) > 30
