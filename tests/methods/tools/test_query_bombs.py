"""The campaign of queries that are made to hold a server, in short."""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FORMS = ["services", "braces", "numbers", "a sum", "not", "at"]


def test_a_server_survives_queries_that_are_long_deep_or_unfinished(tmp_path: Path) -> None:
    kept = tmp_path / "found.json"
    command = [sys.executable, "-m", "tools.campaign.query_bombs", "--only", *FORMS]
    run = subprocess.run([*command, "--json", str(kept)], cwd=ROOT, capture_output=True, text=True)

    assert run.returncode == 0, run.stdout + run.stderr
    assert f"tried {len(FORMS)}, survived {len(FORMS)}" in run.stdout
    assert re.search(r"; healthz of another: median \d+ ms, at most \d+ ms", run.stdout)
    found = json.loads(kept.read_text())
    assert [one["how"] for one in found] == FORMS
    assert all(re.match(r"(1,000,|999,)\d{3} characters: .*400", one["words"]) for one in found)
