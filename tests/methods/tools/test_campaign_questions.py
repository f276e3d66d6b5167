"""The campaign of questions that nobody would ask, in short; and what runs all campaigns."""

import json
import re
import subprocess
import sys
from pathlib import Path

from tools.campaign.__main__ import PARTS, with_lines
from tools.campaign.questions import made

ROOT = Path(__file__).parents[2]


def test_made_up_questions_are_answered_or_refused(tmp_path: Path) -> None:
    kept = tmp_path / "found.json"
    command = [
        sys.executable,
        "-m",
        "tools.campaign.questions",
        "--number",
        "60",
        "--characters",
        "0",
        "--json",
        str(kept),
    ]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert run.returncode == 0, run.stdout + run.stderr
    assert "tried 60, survived 60" in run.stdout
    assert {one["words"] for one in json.loads(kept.read_text())} >= {"Answer", "Refusal"}


def test_the_same_seed_makes_the_same_questions() -> None:
    known = ["Which moons orbit Neptune?", "Who launched Sputnik 1?"]

    assert list(made(known, 50, seed=3)) == list(made(known, 50, seed=3))
    assert list(made(known, 50, seed=3)) != list(made(known, 50, seed=4))


def test_a_campaign_that_there_is_not_is_told() -> None:
    command = [sys.executable, "-m", "tools.campaign", "weather"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert run.returncode == 2
    assert "no campaign weather; there are " in run.stderr


def test_every_script_of_the_campaign_is_run_with_it() -> None:
    scripts = {path.stem for path in (ROOT / "tools" / "campaign").glob("[a-z]*.py")}

    assert set(PARTS) == scripts


def test_tests_that_the_page_names_are_there() -> None:
    named = set(re.findall(r"`(tests/[\w/]+\.py)`", (ROOT / "docs" / "security.md").read_text()))

    assert len(named) > 12
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_the_table_of_the_page_keeps_the_lines_of_parts_that_were_not_run() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    what, before = PARTS["questions"]
    line = f"| {what} | 7 | 6 | 5 | 4 | {before} |\n"
    with_it = with_lines(page, [line])

    assert line in with_it
    assert with_lines(with_it, [line.replace("| 7 |", "| 8 |")]).count(f"| {what} |") == 1
    assert all(one in with_it for one in page.splitlines() if not one.startswith(f"| {what} |"))
