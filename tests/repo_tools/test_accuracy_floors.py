"""The floors that CI holds: what is below one fails, what is not there is skipped."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.cli.lookup import install
from tests.each import for_each
from tools.accuracy_floors import FLOORS

from askgraph.evaluation.runs import read_run

SCRIPT = Path(__file__).parents[2] / "tools" / "accuracy_floors.py"
MOONS = """
prefix : <http://example.org/> prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#>
:Moon rdfs:label "moon"@en . :orbits rdfs:label "orbits"@en .
:Io a :Moon ; rdfs:label "Io"@en ; :orbits :Jupiter . :Jupiter rdfs:label "Jupiter"@en .
:Phobos a :Moon ; rdfs:label "Phobos"@en ; :orbits :Mars . :Mars rdfs:label "Mars"@en .
"""
PREFIX = "PREFIX : <http://example.org/> "
MARS = PREFIX + "SELECT ?moon { ?moon :orbits :Mars }"
JUPITER = PREFIX + "SELECT ?moon { ?moon :orbits :Jupiter }"
ASKED = "Which moons orbit Mars?"


def data(tmp_path: Path, gold: str) -> Path:
    """A folder of data with one small set that looks like spider4sparql."""
    folder = tmp_path / "data"
    (folder / "spider4sparql" / "kg").mkdir(parents=True)
    (folder / "spider4sparql" / "kg" / "moons.ttl").write_text(MOONS)
    line = {"id": "mars", "question": ASKED, "sparql": gold, "kg": "moons.ttl", "tags": []}
    (folder / "spider4sparql" / "questions.jsonl").write_text(json.dumps(line) + "\n")
    return folder


def run(data: Path, *arguments: object) -> "subprocess.CompletedProcess[str]":
    paths = {"ASKGRAPH_DATA": str(data), "PYTHONPATH": str(data.parent)}
    return subprocess.run(
        [sys.executable, SCRIPT, *map(str, arguments)], env={**os.environ, **paths},
        cwd=data.parent, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@for_each(("gold", "code", "said"), [(MARS, 0, "ok"), (JUPITER, 1, "below: F1")])
def test_a_set_is_fine_or_below_its_floors_and_absent_sets_are_named(
    tmp_path: Path, gold: str, code: int, said: str
) -> None:
    done = run(data(tmp_path, gold), "--set", "spider", "--set", "default")
    assert done.returncode == code, done.stderr
    line = done.stdout.splitlines()[-1].split(" | ")
    assert [cell.strip() for cell in line[:2]] == ["spider", "1"]
    assert line[-1].strip().startswith(said)
    assert "default: skipped, its data is not in" in done.stdout


def test_other_methods_have_no_floors_and_their_runs_are_kept(tmp_path: Path) -> None:
    install(tmp_path, {ASKED: JUPITER})
    folder = tmp_path / "run"
    arguments = ("--method", "lookup", "--set", "spider", "--jobs", 2, "--out", folder)
    done = run(data(tmp_path, MARS), *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].rstrip().endswith("-")
    assert [record.f1 for record in read_run(folder).records] == [0]


def test_every_set_has_floors_for_all_and_for_the_surer_half() -> None:
    assert all({"f1", "top_half_f1"} <= floors.keys() for floors in FLOORS.values())
