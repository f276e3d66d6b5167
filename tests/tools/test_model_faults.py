"""The campaign of model servers that fail, in short."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
METHODS = ["guided", "grasp", "sparql-llm"]
FAULTS = ["ends its stream", "a page of HTML", "halves of characters"]


def test_each_method_survives_a_model_that_fails(tmp_path: Path) -> None:
    kept = tmp_path / "found.json"
    command = [sys.executable, str(ROOT / "tools" / "campaign" / "model_faults.py")]
    command += ["--only", *METHODS, "--faults", *FAULTS, "--seconds", "30", "--json", str(kept)]
    run = subprocess.run(command, capture_output=True, text=True)

    assert run.returncode == 0, run.stdout + run.stderr
    assert "tried 9, survived 9" in run.stdout
    found = {(one["method"], one["the server"]): one for one in json.loads(kept.read_text())}
    assert found["guided", "ends its stream"]["words"].startswith("without the model: the reply of")
    assert found["grasp", "a page of HTML"]["outcome"] == "Answer"
    assert found["sparql-llm", "a page of HTML"]["outcome"] == "MalformedReply"
