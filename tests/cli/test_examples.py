"""`askgraph examples`: what it prints and how it exits."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from tests.cli.running import Run, askgraph
from tests.graphs import EXTRA, MOONS

from askgraph.workspace import Workspace

MARS = "SELECT ?m { ?m onto:orbits <http://example.org/Mars> }"
MANY = 5000
WRITING = f"""
import sys
from askgraph.graph.examples import QueryExample
from askgraph.workspace import Workspace
from askgraph.workspace.examples import store_examples
for number in range({MANY}):
    example = QueryExample(f"What is {{number}}?", "ASK {{ }}")
    store_examples(Workspace(sys.argv[1]), "moons", [example])
    if number == 20:
        print("under way", flush=True)
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "moons.ttl"
    path.write_text(MOONS)
    Workspace(tmp_path / "workspace").add("moons", [path])
    return path


@pytest.fixture
def run(source: Path) -> Run:
    folder = source.parent
    return partial(askgraph, "examples", workspace=folder / "workspace", folder=folder)


def test_confirmed_and_generated_examples(run: Run, source: Path) -> None:
    # A confirmed answer is listed checked and flagged when the graph changes.
    added = run("add", "Which", "moons", "has", "Mars?", "-q", MARS, "--also", "de:Welche Monde?")
    assert added.returncode == 0 and "confirmed with 1 row" in added.stdout
    (listed,) = json.loads(run("list", "--json").stdout)
    assert (listed["question"], listed["origin"]) == ("Which moons has Mars?", "confirmed")
    assert listed["others"] == [{"text": "Welche Monde?", "language": "de"}]
    assert run("check").stdout == "1 example: 1 same\n"
    source.write_text(MOONS + EXTRA)
    checked = run("check")
    assert checked.returncode == 1 and "more rows: 1 then, 2 now" in checked.stdout
    assert run("withdraw", listed["id"]).returncode == 0
    assert json.loads(run("list", "--json").stdout) == []
    # A query comes from a file and one that is wrong has exit code 3.
    (source.parent / "q.rq").write_text(MARS)
    assert run("add", "Why?", "-q", "@q.rq").returncode == 0
    assert run("add", "Why?", "-q", "SELECT WHERE").returncode == 3
    # Without a query or a question it says what is missing.
    assert "--query" in run("add", "Why?").stderr
    assert "'de:' has no words" in run("add", "Why?", "-q", MARS, "--also", "de:").stderr
    assert "give the question" in run("add", "-q", "ASK { }").stderr
    assert run("add", "Why?").returncode == 2
    # Converted examples are counted and faults are listed.
    (source.parent / "asked.jsonl").write_text(
        '{"question": "Why?", "sparql": "SELECT WHERE"}\n{"question": "So?", "sparql": "ASK {}"}\n'
    )
    done = run("convert", "asked.jsonl", "out")
    assert (done.returncode, done.stdout) == (0, "2 examples in out\n")
    assert done.stderr.startswith("Why?: ")
    assert sorted(path.suffix for path in (source.parent / "out").iterdir()) == [".ttl", ".ttl"]


def test_a_kept_run_can_be_confirmed(run: Run, source: Path) -> None:
    here = {"workspace": source.parent / "workspace", "folder": source.parent}
    asked = askgraph("ask", "Which moons orbit Mars?", "--trace", "1.jsonl", **here)
    assert asked.returncode == 0, asked.stderr
    kept = json.loads(run("add", "--trace", "1.jsonl", "--json").stdout)
    assert (kept["question"], kept["graph"]) == ("Which moons orbit Mars?", "moons")
    assert kept["confirmation"]["rows"] == 1


def test_generated_examples_are_printed_and_none_has_exit_code_1(run: Run) -> None:
    made = run("generate", "--number", "2")
    assert made.returncode == 0 and len(made.stdout.splitlines()) == 2
    assert "kept 2 of" in made.stderr
    run("generate", "--number", "500")
    assert run("generate", "--number", "1").returncode == 1


def test_targets_and_kills(run: Run, tmp_path: Path) -> None:
    # A target of another kind is refused.
    done = run("convert", "moons", "out.json")
    assert done.returncode == 2 and ".jsonl file, not to 'out.json'" in done.stderr
    # A killed process leaves whole examples that the next one adds to.
    folder = tmp_path / "workspace" / "examples" / "moons"
    writing = subprocess.Popen(
        [sys.executable, "-c", WRITING, str(tmp_path / "workspace")], stdout=subprocess.PIPE
    )
    assert writing.stdout is not None
    writing.stdout.readline()
    writing.kill()
    writing.wait()
    writing.stdout.close()
    kept = len(json.loads(run("list", "--json").stdout))
    assert 0 < kept < MANY and run("add", "Which moons has Mars?", "-q", MARS).returncode == 0
    assert len(json.loads(run("list", "--json").stdout)) == kept + 1 and not list(folder.glob(".*"))
