"""The campaign of requests that a server is to make for somebody, in short."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOORS = ["adding", "settings", "names"]


def test_no_address_inside_is_reached_by_any_spelling(tmp_path: Path) -> None:
    kept = tmp_path / "found.json"
    command = [
        sys.executable,
        "-m",
        "tools.campaign.forgery",
        "--only",
        *DOORS,
        "--json",
        str(kept),
    ]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert run.returncode == 0, run.stdout + run.stderr
    found = json.loads(kept.read_text())
    assert f"tried {len(found)}, survived {len(found)}" in run.stdout
    assert {one["what"] for one in found} == {*DOORS, "the server"}
    assert len(found) > 110
