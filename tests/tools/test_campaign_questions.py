"""The campaign of questions that nobody would ask, in short; and what runs all campaigns."""

import json
import subprocess
import sys
from pathlib import Path

from tools.campaign.questions import made

ROOT = Path(__file__).parents[2]


def test_made_up_questions_are_answered_or_refused(tmp_path: Path) -> None:
    kept = tmp_path / "found.json"
    command = [sys.executable, "tools/campaign/questions.py", "--number", "60", "--json", str(kept)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert run.returncode == 0, run.stdout + run.stderr
    assert "tried 60, survived 60" in run.stdout
    assert {one["came"] for one in json.loads(kept.read_text())} >= {"Answer", "Refusal"}


def test_the_same_seed_makes_the_same_questions() -> None:
    known = ["Which moons orbit Neptune?", "Who launched Sputnik 1?"]

    assert list(made(known, 50, seed=3)) == list(made(known, 50, seed=3))
    assert list(made(known, 50, seed=3)) != list(made(known, 50, seed=4))


def test_a_campaign_that_there_is_not_is_told() -> None:
    command = [sys.executable, "-m", "tools.campaign", "weather"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert run.returncode == 2
    assert "no campaign weather; there are model_faults, query_bombs, questions" in run.stderr
