"""The campaign of queries that are made to hold a server, in short."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FORMS = ["services", "braces", "numbers", "a sum", "not", "at"]


def test_a_server_survives_queries_that_are_long_deep_or_unfinished(tmp_path: Path) -> None:
    kept = tmp_path / "found.json"
    command = [
        sys.executable,
        str(ROOT / "tools" / "campaign" / "query_bombs.py"),
        "--only",
        *FORMS,
    ]
    run = subprocess.run([*command, "--json", str(kept)], capture_output=True, text=True)

    assert run.returncode == 0, run.stderr
    assert f"tried {len(FORMS)}, survived {len(FORMS)}" in run.stdout
    found = json.loads(kept.read_text())
    assert [one["query"] for one in found] == FORMS
    assert all(one["characters"] > 990_000 and 400 in one["statuses"] for one in found)
