"""The campaign of model servers that fail, in short."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
METHODS = ["guided", "grasp", "direct"]
FAULTS = ["ends its stream", "a page of HTML", "halves of characters"]


def test_each_method_survives_a_model_that_fails(tmp_path: Path) -> None:
    kept = tmp_path / "found.json"
    command = [sys.executable, "-m", "tools.campaign.model_faults"]
    command += ["--only", *METHODS, *FAULTS, "--seconds", "30", "--json", str(kept)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert run.returncode == 0, run.stdout + run.stderr
    assert f"tried {len(FAULTS) * 3}, survived {len(FAULTS) * 3}" in run.stdout
    found = {(one["what"], one["how"]): one["words"] for one in json.loads(kept.read_text())}
    said = "as graph search: without the model: the reply of"
    assert found["guided", "ends its stream"].startswith(said)
    assert found["grasp", "a page of HTML"].startswith(said)
    assert found["direct", "a page of HTML"].startswith("error MalformedReply: the reply of")
