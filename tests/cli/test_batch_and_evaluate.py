"""`askgraph batch` and `askgraph evaluate`, each run as a command."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.lookup import install

from askgraph.workspace import Workspace

MOONS = """
prefix : <http://example.org/> prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#>
:Io a :Moon ; rdfs:label "Io"@en ; :orbits :Jupiter ; :radius 1821.6 .
:Europa a :Moon ; rdfs:label "Europa"@en ; :orbits :Jupiter ; :radius 1560.8 .
:Phobos a :Moon ; rdfs:label "Phobos"@en ; :orbits :Mars ; :radius 11.2667 .
:Jupiter a :Planet ; rdfs:label "Jupiter"@en .
:Mars a :Planet ; rdfs:label "Mars"@en .
"""
PREFIX = "PREFIX : <http://example.org/> "
JUPITER = PREFIX + "SELECT ?moon { ?moon :orbits :Jupiter }"
MARS = PREFIX + "SELECT ?moon { ?moon :orbits :Mars }"
VENUS = PREFIX + "ASK { ?moon :orbits :Venus }"

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    (folder / "moons.ttl").write_text(MOONS)
    Workspace(folder).add("moons", [folder / "moons.ttl"])
    return folder


@pytest.fixture
def command(workspace: Path, tmp_path: Path) -> Callable[..., tuple[list[str], dict[str, Any]]]:
    """The command line, and how to start it; its method is `lookup`."""

    def line(*arguments: object) -> tuple[list[str], dict[str, Any]]:
        environment = {
            **os.environ,
            "ASKGRAPH_WORKSPACE": str(workspace),
            "PYTHONPATH": str(tmp_path),
        }
        words = [sys.executable, "-m", "askgraph", *map(str, arguments), "--method", "lookup"]
        return words, {"env": environment, "cwd": tmp_path, "text": True}

    return line


@pytest.fixture
def run(command: Callable[..., tuple[list[str], dict[str, Any]]]) -> Run:
    def finished(*arguments: object) -> "subprocess.CompletedProcess[str]":
        words, how = command(*arguments)
        return subprocess.run(words, capture_output=True, check=False, timeout=60, **how)

    return finished


def questions(folder: Path, *lines: dict[str, object]) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_batch_writes_an_answer_line_for_each_question(run: Run, tmp_path: Path) -> None:
    install(tmp_path, {"Jupiter?": JUPITER, "Venus?": VENUS})
    path = questions(
        tmp_path,
        {"id": "a", "question": "Jupiter?"},
        {"id": "b", "question": "Nothing?"},
        {"id": "c", "question": "Venus?"},
    )

    done = run("batch", path, "-g", "moons", "--out", "out.jsonl", "--limit", 1)

    assert (done.returncode, done.stdout) == (0, "")
    assert "3 answers in out.jsonl, 0 failed" in done.stderr
    a, b, c = read(tmp_path / "out.jsonl")
    assert [line["id"] for line in (a, b, c)] == ["a", "b", "c"]
    assert (a["status"], a["columns"], len(a["rows"])) == ("answer", ["moon"], 1)
    assert a["truncated"]["reason"] == "the first 1 of 2 rows"
    assert (b["status"], b["reason"]) == ("refusal", "not in the file")
    assert (c["columns"], c["rows"], c["boolean"]) == (["answer"], [[False]], False)


def test_batch_again_asks_nothing_twice(run: Run, tmp_path: Path) -> None:
    install(tmp_path, {"Mars?": MARS})
    path = questions(tmp_path, {"id": "a", "question": "Mars?"})
    run("batch", path, "-g", "moons", "--out", "out.jsonl")
    run("batch", path, "-g", "moons", "--out", "out.jsonl")
    assert (tmp_path / "asked").read_text() == "Mars?\n"


def test_batch_says_that_questions_failed_and_tries_them_again(run: Run, tmp_path: Path) -> None:
    install(tmp_path, {"Mars?": "bug", "Jupiter?": JUPITER})
    path = questions(
        tmp_path, {"id": "a", "question": "Mars?"}, {"id": "b", "question": "Jupiter?"}
    )
    failed = run("batch", path, "-g", "moons", "--out", "out.jsonl")
    install(tmp_path, {"Mars?": MARS})
    mended = run("batch", path, "-g", "moons", "--out", "out.jsonl")
    assert (failed.returncode, mended.returncode) == (4, 0)
    assert "1 failed" in failed.stderr
    assert [line["status"] for line in read(tmp_path / "out.jsonl")] == ["answer", "answer"]


def test_batch_stopped_with_ctrl_c_leaves_whole_lines_and_goes_on(
    command: Callable[..., tuple[list[str], dict[str, Any]]], run: Run, tmp_path: Path
) -> None:
    install(tmp_path, {"Mars?": MARS, "slow?": "slow"})
    path = questions(tmp_path, {"id": "a", "question": "Mars?"}, {"id": "b", "question": "slow?"})
    out = tmp_path / "out.jsonl"
    words, how = command("batch", path, "-g", "moons", "--out", out)
    with subprocess.Popen(words, stderr=subprocess.PIPE, **how) as process:
        until = time.monotonic() + 30
        while not (out.exists() and out.read_text()) and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert [line["id"] for line in read(out)] == ["a"]

    install(tmp_path, {"slow?": JUPITER})
    assert run("batch", path, "-g", "moons", "--out", out).returncode == 0

    assert [(line["id"], len(line["rows"])) for line in read(out)] == [("a", 1), ("b", 2)]


def test_a_bad_file_is_one_clear_line(run: Run, tmp_path: Path) -> None:
    install(tmp_path, {})
    (tmp_path / "bad.jsonl").write_text('{"id": "a", "question": "A?"}\n{"id": \n')
    for name in ("batch", "evaluate"):
        done = run(name, "bad.jsonl", "--out", "out.jsonl")
        assert done.returncode == 2
        assert done.stderr.startswith("askgraph: bad.jsonl, line ")
        assert not (tmp_path / "out.jsonl").exists()


GOLD: tuple[dict[str, object], ...] = (
    {"id": "a", "question": "Jupiter?", "sparql": JUPITER.removeprefix(PREFIX), "tags": ["easy"]},
    {"id": "b", "question": "Mars?", "sparql": MARS},
    {"id": "c", "question": "Sun?", "sparql": None},
)


def test_evaluate_prints_the_report(run: Run, tmp_path: Path) -> None:
    install(tmp_path, {"Jupiter?": JUPITER, "Mars?": JUPITER})
    path = questions(tmp_path, *GOLD)

    done = run("evaluate", path, "-g", "moons", "--json", "--out", "records.jsonl")

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["n"], report["f1"], report["em"], report["answered"]) == (3, 0.5, 0.5, 2)
    assert report["unanswerable"] == {"n": 1, "refused": 1}
    assert list(report["by_tag"]) == ["easy"]
    records = read(tmp_path / "records.jsonl")
    assert [(record["id"], record["f1"]) for record in records] == [("a", 1), ("b", 0), ("c", 1)]


def test_evaluate_shows_people_a_table(run: Run, tmp_path: Path) -> None:
    install(tmp_path, {"Jupiter?": JUPITER, "Mars?": "bug"})
    done = run("evaluate", questions(tmp_path, *GOLD), "-g", "moons")
    assert done.returncode == 0, done.stderr
    assert "50.0" in done.stdout and "easy" in done.stdout
    assert "unanswerable: 1 of 1 not answered" in done.stdout
    assert "b: the method failed: KeyError('bug')" in done.stdout


def test_evaluate_goes_on_where_it_stopped(run: Run, tmp_path: Path) -> None:
    install(tmp_path, {"Jupiter?": JUPITER, "Mars?": MARS})
    path = questions(tmp_path, *GOLD)
    run("evaluate", path, "--json", "--out", "records.jsonl", "--limit", 1)
    done = run("evaluate", path, "--json", "--out", "records.jsonl")
    assert json.loads(done.stdout)["f1"] == 1
    assert (tmp_path / "asked").read_text() == "Jupiter?\nMars?\nSun?\n"
    other = run("evaluate", path, "--json", "--out", "records.jsonl", "--abstain")
    assert other.returncode == 2
    assert "other settings" in other.stderr


def test_evaluate_takes_the_questions_about_this_graph(run: Run, tmp_path: Path) -> None:
    install(tmp_path, {"Jupiter?": JUPITER, "Mars?": MARS})
    path = questions(
        tmp_path,
        {"id": "a", "question": "Jupiter?", "sparql": JUPITER, "kg": "moons.ttl"},
        {"id": "b", "question": "Mars?", "sparql": MARS, "kg": "other.ttl"},
    )
    done = run("evaluate", path, "--json")
    assert json.loads(done.stdout)["n"] == 1
    assert "1 of the 2 questions" in done.stderr
    assert json.loads(run("evaluate", path, "--json", "--kg", "other").stdout)["n"] == 1
