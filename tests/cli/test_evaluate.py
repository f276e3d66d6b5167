"""`askgraph evaluate`, run as a command."""

import json
from pathlib import Path
from typing import Any, cast

from tests.cli.lookup import JUPITER, MARS, PREFIX, install, questions
from tests.cli.running import Done, Run
from tests.each import for_each

from askgraph.evaluation.runs import read_run

GOLD: tuple[dict[str, object], ...] = (
    {"id": "a", "question": "Jupiter?", "sparql": JUPITER.removeprefix(PREFIX), "tags": ["easy"]},
    {"id": "b", "question": "Mars?", "sparql": MARS},
    {"id": "c", "question": "Sun?", "sparql": None},
)


def group(done: Done) -> dict[str, Any]:
    """The figures of the only benchmark and method that a command printed."""
    assert done.returncode == 0, done.stderr
    [found] = json.loads(done.stdout)["groups"]
    return cast("dict[str, Any]", found)


def test_evaluating_and_going_on(run: Run, tmp_path: Path) -> None:
    # Evaluate prints the report and keeps the run.
    install(tmp_path, {"Jupiter?": JUPITER, "Mars?": JUPITER})
    path = questions(tmp_path, *GOLD)
    found = group(run("evaluate", path, "-g", "moons", "--json", "--out", "kept"))
    assert (found["n"], found["f1"], found["em"], found["answered"]) == (3, 0.5, 0.5, 2)
    assert found["unanswerable"] == {"n": 1, "refused": 1} and list(found["by_tag"]) == ["easy"]
    kept = read_run(tmp_path / "kept")
    assert [(record.id, record.f1) for record in kept.records] == [("a", 1), ("b", 0), ("c", 1)]
    ends = [detail.steps[-1]["step"] for detail in kept.iterate_details()]
    assert ends == ["answer", "answer", "refusal"]
    # Evaluate shows people a table.
    install(tmp_path, {"Jupiter?": JUPITER, "Mars?": "bug"})
    done = run("evaluate", questions(tmp_path, *GOLD), "-g", "moons")
    assert done.returncode == 0, done.stderr
    assert "50.0" in done.stdout and "of 1 unanswerable questions 1 were refused" in done.stdout
    assert "the method failed: KeyError('bug')" in done.stdout
    # Evaluate takes the questions about this graph.
    install(tmp_path, {"Jupiter?": JUPITER, "Mars?": MARS})
    path = questions(
        tmp_path,
        {"id": "a", "question": "Jupiter?", "sparql": JUPITER, "kg": "moons.ttl"},
        {"id": "b", "question": "Mars?", "sparql": MARS, "kg": "other.ttl"},
    )
    about = run("evaluate", path, "--json", "-g", "moons")
    assert group(about)["n"] == 1 and "asking 1 of 2 questions" in about.stderr
    assert group(run("evaluate", path, "--json", "-g", "moons", "--kg", "other"))["n"] == 1
    unknown = run("evaluate", path, "--json")
    assert unknown.returncode == 2 and "'other.ttl'" in unknown.stderr


def test_a_worker_that_dies_ends_the_run_and_the_same_call_goes_on(
    run: Run, tmp_path: Path
) -> None:
    install(tmp_path, {"Jupiter?": JUPITER, "Mars?": "die"})
    path = questions(tmp_path, *GOLD)
    there = ("--on", "processes", "--workers", 1, "--concurrency", 1, "--out", "kept")
    died = run("evaluate", path, "-g", "moons", *there)
    install(tmp_path, {"Jupiter?": JUPITER, "Mars?": MARS})
    found = group(run("evaluate", path, "-g", "moons", "--json", *there))
    assert died.returncode == 2
    assert died.stderr.startswith("askgraph: a worker died while it answered 'b'")
    assert (found["n"], found["f1"]) == (3, 1)
    assert (tmp_path / "asked").read_text().split() == ["Jupiter?", "Mars?", "Mars?", "Sun?"]


def test_what_cannot_be_scored_is_said(run: Run, tmp_path: Path) -> None:
    install(tmp_path, {"Jupiter?": JUPITER})
    done = run("evaluate", questions(tmp_path, *GOLD, {"id": "d", "question": "Pluto?"}), "--json")
    assert group(done)["n"] == 3 and "items that cannot be scored: 1" in done.stderr
    assert "neither a query nor answers" in done.stderr


def test_a_budget_ends_the_run_loudly(run: Run, tmp_path: Path) -> None:
    install(tmp_path, {"Jupiter?": JUPITER, "Mars?": MARS})
    done = run("evaluate", questions(tmp_path, *GOLD), "--budget", "seconds=0")
    assert "the budget of 0 seconds is used up" in done.stderr and "INCOMPLETE" in done.stdout


@for_each(
    ("arguments", "problem"),
    (["--metric", "beauty"], "no metric named 'beauty'; available: "),
    (["--budget", "beer=3"], "'beer=3' cannot be read"),
    (["--on", "moon"], "no executor named 'moon'"),
    (["--folds", 2], "learns nothing from examples"),
    (["--format", "qald"], "line 2: not JSON"),
    (["--split", "test"], "no question has the split 'test'; its questions have no split"),
    (["--out", "questions.jsonl"], "is a file, but a run is a folder"),
    share_folder=True,
)
def test_what_cannot_work_is_one_clear_line(
    run: Run, tmp_path: Path, arguments: list[object], problem: str
) -> None:
    install(tmp_path, {})
    done = run("evaluate", questions(tmp_path, *GOLD), *arguments)
    assert done.returncode == 2 and done.stderr.splitlines()[-1].startswith("askgraph: ")
    assert problem in done.stderr and (tmp_path / "questions.jsonl").read_text().count("\n") == 3
