"""The tour of the page, in short."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.server.browser.conftest import MISSING

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)
ROOT = Path(__file__).parents[2]
STEPS = """
[see-too-many]
everywhere = true
do = [["ask", "Welche Monde hat der Mars?"], ["see", ".headline a", 2], ["see", "h1", 7]]
[see-the-bars]
everywhere = true
do = [["ask", "bars"], ["see", ".marks .bar", 6]]
[questions.bars]
de = "Wie viele Monde hat jeder Planet?"
"""


def test_a_tour_takes_pictures_and_goes_on_after_a_step_that_fails(tmp_path: Path) -> None:
    (tmp_path / "steps.toml").write_text(STEPS)
    command = [sys.executable, "-m", "tools.tour", "--only", "de", "--json"]
    command += ["--out", str(tmp_path), "--steps", str(tmp_path / "steps.toml")]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    wrong, right = json.loads(run.stdout)
    assert "to have count '7'" in wrong["check"][0]
    assert right["check"] + right["console"] + right["axe"] == wrong["axe"] == []
    for outcome in (wrong, right):
        assert (tmp_path / "de" / outcome["picture"]).read_bytes().startswith(b"\x89PNG")
    assert run.returncode == 1
