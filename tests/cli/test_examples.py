"""`askgraph examples`: what it prints and how it exits."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.graphs import EXTRA, MOONS

from askgraph.workspace import Workspace

MARS = "SELECT ?m { ?m onto:orbits <http://example.org/Mars> }"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "moons.ttl"
    path.write_text(MOONS)
    Workspace(tmp_path / "workspace").add("moons", [path])
    return path


@pytest.fixture
def run(source: Path) -> Run:
    def finished(*arguments: object) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "askgraph", "examples", *map(str, arguments)],
            env={**os.environ, "ASKGRAPH_WORKSPACE": str(source.parent / "workspace")},
            cwd=source.parent,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    return finished


def test_a_confirmed_answer_is_listed_checked_and_flagged_when_the_graph_changes(
    run: Run, source: Path
) -> None:
    added = run("add", "Which", "moons", "has", "Mars?", "-q", MARS, "--also", "de:Welche Monde?")
    assert added.returncode == 0 and "confirmed with 1 row" in added.stdout

    (listed,) = json.loads(run("list", "--json").stdout)
    assert (listed["question"], listed["origin"]) == ("Which moons has Mars?", "confirmed")
    assert listed["others"] == [{"text": "Welche Monde?", "language": "de"}]
    assert run("check").stdout == "1 example: 1 same\n"

    source.write_text(MOONS + EXTRA)
    checked = run("check")
    assert checked.returncode == 1
    assert "more rows: 1 then, 2 now" in checked.stdout

    assert run("withdraw", listed["id"]).returncode == 0
    assert json.loads(run("list", "--json").stdout) == []


def test_a_query_comes_from_a_file_and_one_that_is_wrong_has_exit_code_3(
    run: Run, source: Path
) -> None:
    (source.parent / "q.rq").write_text(MARS)
    assert run("add", "Why?", "-q", "@q.rq").returncode == 0
    assert run("add", "Why?", "-q", "SELECT WHERE").returncode == 3


def test_without_a_query_or_a_question_it_says_what_is_missing(run: Run) -> None:
    assert "--query" in run("add", "Why?").stderr
    assert "give the question" in run("add", "-q", "ASK { }").stderr
    assert run("add", "Why?").returncode == 2


def test_a_kept_run_can_be_confirmed(run: Run, source: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "askgraph", "ask", "Which moons orbit Mars?", "--trace", "1.jsonl"],
        env={**os.environ, "ASKGRAPH_WORKSPACE": str(source.parent / "workspace")},
        cwd=source.parent,
        capture_output=True,
        check=True,
        timeout=60,
    )
    added = run("add", "--trace", "1.jsonl", "--json")
    kept = json.loads(added.stdout)
    assert (kept["question"], kept["graph"]) == ("Which moons orbit Mars?", "moons")
    assert kept["confirmation"]["rows"] == 1


def test_generated_examples_are_printed_and_none_has_exit_code_1(run: Run) -> None:
    made = run("generate", "--number", "2")
    assert made.returncode == 0 and len(made.stdout.splitlines()) == 2
    assert "kept 2 of" in made.stderr
    run("generate", "--number", "500")
    assert run("generate", "--number", "1").returncode == 1


def test_converted_examples_are_counted_and_faults_are_listed(run: Run, source: Path) -> None:
    (source.parent / "asked.jsonl").write_text(
        '{"question": "Why?", "sparql": "SELECT WHERE"}\n{"question": "So?", "sparql": "ASK {}"}\n'
    )
    done = run("convert", "asked.jsonl", "out")
    assert (done.returncode, done.stdout) == (0, "2 examples in out\n")
    assert done.stderr.startswith("Why?: ")
    assert sorted(path.suffix for path in (source.parent / "out").iterdir()) == [".ttl", ".ttl"]
