"""The campaign of who may do what, in short."""

import json
import subprocess
import sys
from pathlib import Path

from tools.campaign._callers import RULES

ROOT = Path(__file__).parents[2]
PARTS = ["routes", "graphs", "belongings", "tools"]


def test_every_caller_gets_what_is_theirs_and_nothing_else(tmp_path: Path) -> None:
    kept = tmp_path / "found.json"
    command = [sys.executable, "-m", "tools.campaign.authorisation", "--only", *PARTS]
    run = subprocess.run([*command, "--json", str(kept)], cwd=ROOT, capture_output=True, text=True)

    assert run.returncode == 0, run.stdout + run.stderr
    found = json.loads(kept.read_text())
    assert f"tried {len(found)}, survived {len(found)}" in run.stdout
    assert {one["what"] for one in found} == {*PARTS, "shares"}
    assert any(one["how"] == "bob, GET /api/v1/runs/{id}" for one in found)


def test_every_operation_that_is_described_has_a_rule() -> None:
    described = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))
    names = {
        f"{method.upper()} {path}" for path, said in described["paths"].items() for method in said
    }

    assert names <= set(RULES)
    assert RULES["POST /api/v1/graphs/{graph}/query"] == "query"
    assert RULES["GET /healthz"] is None
