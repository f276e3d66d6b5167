"""The floors that CI holds: what is below one fails, what is not there is skipped."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.lookup import install

SCRIPT = Path(__file__).parents[2] / "tools" / "accuracy_floors.py"
MOONS = """
prefix : <http://example.org/> prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#>
:Io a :Moon ; rdfs:label "Io"@en ; :orbits :Jupiter .
:Phobos a :Moon ; rdfs:label "Phobos"@en ; :orbits :Mars .
"""
PREFIX = "PREFIX : <http://example.org/> "
MARS = PREFIX + "SELECT ?moon { ?moon :orbits :Mars }"
JUPITER = PREFIX + "SELECT ?moon { ?moon :orbits :Jupiter }"
GOLD: tuple[dict[str, object], ...] = (
    {"id": "mars", "question": "Mars?", "sparql": MARS, "kg": "moons.ttl", "tags": ["moons"]},
    {"id": "jupiter", "question": "Jupiter?", "sparql": JUPITER, "kg": "moons.ttl", "tags": []},
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder of data with one small set that looks like spider4sparql."""
    folder = tmp_path / "data"
    (folder / "spider4sparql" / "kg").mkdir(parents=True)
    (folder / "spider4sparql" / "kg" / "moons.ttl").write_text(MOONS)
    disputed = {**GOLD[0], "id": "disputed", "sql_agrees": False}
    useless = {**GOLD[0], "id": "empty", "sql_agrees": True, "tags": ["empty"]}
    lines = [*({**line, "sql_agrees": True} for line in GOLD), disputed, useless]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "spider4sparql" / "questions.jsonl").write_text(text)
    return folder


def run(data: Path, *arguments: object) -> "subprocess.CompletedProcess[str]":
    words = [sys.executable, SCRIPT, "--method", "lookup", "--set", "spider", *arguments]
    paths = {"ASKGRAPH_DATA": str(data), "PYTHONPATH": str(data.parent)}
    return subprocess.run(
        list(map(str, words)),
        env={**os.environ, **paths},
        cwd=data.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_above_the_floors_is_fine_and_absent_sets_are_named(data: Path) -> None:
    install(data.parent, {"Mars?": MARS, "Jupiter?": JUPITER})
    done = run(data)
    assert done.returncode == 0, done.stderr
    assert "default: skipped, its data is not in" in done.stdout
    line = done.stdout.splitlines()[-1].split(" | ")
    assert [cell.strip() for cell in line[:3]] == ["spider", "2", "100.0"]
    assert line[-1].strip() == "ok"


def test_below_a_floor_fails_and_the_failures_are_told(data: Path) -> None:
    install(data.parent, {"Mars?": JUPITER})
    done = run(data, "--failures", "--brief")
    assert done.returncode == 1
    assert "below: F1, flat, top half" in done.stdout
    assert "✗ mars   F1 0" in done.stdout
    assert "http://example.org/Io" in done.stdout
    assert "✗ jupiter" in done.stdout and "(no query)" in done.stdout


def test_a_part_of_a_set_has_no_floor(data: Path) -> None:
    install(data.parent, {})
    done = run(data, "--only", "mars")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].split(" | ")[1].strip() == "1"


def test_two_runs_are_compared(data: Path) -> None:
    install(data.parent, {"Mars?": JUPITER, "Jupiter?": JUPITER})
    run(data, "--records", "before.jsonl")
    install(data.parent, {"Mars?": MARS, "Jupiter?": JUPITER})
    done = run(data, "--compare", "before.jsonl", "--jobs", 2)
    assert "+ mars (spider)   F1 0 → 100" in done.stdout
    assert "+1.00 better, -0.00 worse" in done.stdout
