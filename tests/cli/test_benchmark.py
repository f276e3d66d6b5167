"""`askgraph benchmark`, run as a command."""

import json
from functools import partial
from pathlib import Path

import pytest
from tests.cli.lookup import JUPITER, MARS, PREFIX, questions
from tests.cli.running import Run, askgraph

from askgraph.evaluation.benchmarks.formats import read_questions

EMPTY = PREFIX + "SELECT ?moon { ?moon :orbits :Venus }"
PHOBOS = {"vars": ["moon"], "rows": [["http://example.org/Phobos"]]}


@pytest.fixture
def run(moons: Path, tmp_path: Path) -> Run:
    return partial(askgraph, "benchmark", workspace=moons, folder=tmp_path)


def test_checking_gold(run: Run, tmp_path: Path) -> None:
    # Check finds nothing in good gold.
    path = questions(
        tmp_path,
        {"id": "a", "question": "Which moons has Mars?", "sparql": MARS, "answers": PHOBOS},
        {"id": "b", "question": "Of what is the Sun a moon?", "sparql": None},
    )
    done = run("check", path, "-g", "moons")
    assert (done.returncode, done.stdout) == (0, "questions: 2, no problems found\n")
    # Check tells people what is wrong.
    path = questions(
        tmp_path,
        {"id": "a", "question": "Jupiter?", "sparql": JUPITER, "answers": PHOBOS},
        {"id": "b", "question": "Venus?", "sparql": EMPTY},
        {"id": "c", "question": "Mars?"},
    )
    done = run("check", path, "-g", "moons")
    assert done.returncode == 1 and "questions: 2, errors: 2, warnings: 1" in done.stdout
    assert "a: the query gives 2 rows (" in done.stdout
    assert "stored is 1 row (http://example.org/Phobos)" in done.stdout
    assert "b: no rows" in done.stdout and "questions.jsonl, line 3: " in done.stdout
    # Check does not pass over frozen gold that it cannot compare.
    path = questions(tmp_path, {"id": "a", "question": "Mars?", "sparql": MARS})
    run("freeze", path, "-g", "moons", "--out", "gold.jsonl")
    assert run("check", path, "-g", "moons", "--gold", "gold.jsonl").returncode == 0
    for without in ([], ["-g", "moons", "--offline"]):
        done = run("check", path, *without, "--gold", "gold.jsonl")
        assert done.returncode == 2 and "--gold compares results" in done.stderr
    # Check tells programs the same.
    path = questions(tmp_path, {"id": "b", "question": "Venus?", "sparql": EMPTY})
    done = run("check", path, "-g", "moons", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["counts"] == {"empty": 1}
    assert (found["findings"][0]["id"], found["findings"][0]["severity"]) == ("b", "warning")


def test_checking_against_graphs_and_splits(run: Run, tmp_path: Path) -> None:
    # Each question is checked on its own graph.
    (tmp_path / "kg").mkdir()
    (tmp_path / "kg" / "venus.ttl").write_text(
        "<urn:Neith> <http://example.org/orbits> <http://example.org/Venus> ."
    )
    path = questions(
        tmp_path,
        {"id": "a", "question": "Venus?", "sparql": EMPTY, "kg": "moons.ttl"},
        {"id": "b", "question": "Venus?", "sparql": EMPTY, "kg": "venus.ttl"},
    )
    done = run("check", path, "--json")
    assert [finding["id"] for finding in json.loads(done.stdout)["findings"]] == ["a"]
    # Without a graph nothing is run and that is said.
    path = questions(
        tmp_path,
        {"id": "a", "question": "Venus?", "sparql": EMPTY},
        {"id": "b", "question": "Mars?", "sparql": "SELECT ?moon {"},
    )
    done = run("check", path, "--json")
    assert done.returncode == 1 and "no graph is given (-g), so no query is run" in done.stderr
    assert json.loads(done.stdout)["counts"] == {"syntax": 1}
    # Check finds test questions in training.
    (tmp_path / "train").mkdir()
    train = questions(tmp_path / "train", {"id": "t", "question": "Moons of Mars?", "sparql": MARS})
    test = questions(tmp_path, {"id": "a", "question": "moons of mars", "sparql": JUPITER})
    done = run("check", test, "--against", train, "--offline", "--json")
    assert done.returncode == 1
    [finding] = json.loads(done.stdout)["findings"]
    assert (finding["kind"], finding["id"]) == ("leak", "a")
    assert finding["seen"] == "training question 't': Moons of Mars?"
    # Split leaves a folder with content alone.
    path = questions(
        tmp_path,
        {"id": "a", "question": "A?", "sparql": None, "kg": "a.ttl"},
        {"id": "b", "question": "B?", "sparql": None, "kg": "b.ttl"},
    )
    done = run("split", path, "--leave-out", "graph", "--out", ".")
    assert done.returncode == 2 and "not empty" in done.stderr


def test_frozen_gold_and_folds(run: Run, tmp_path: Path) -> None:
    # Frozen gold shows what has changed since.
    path = questions(tmp_path, {"id": "a", "question": "Mars?", "sparql": MARS})
    frozen = run("freeze", path, "-g", "moons", "--out", "gold.jsonl")
    same = run("check", path, "-g", "moons", "--gold", "gold.jsonl")
    gold = tmp_path / "gold.jsonl"
    gold.write_text(gold.read_text().replace("Phobos", "Deimos"))
    changed = run("check", path, "-g", "moons", "--gold", "gold.jsonl", "--json")
    assert frozen.returncode == 0, frozen.stderr
    assert "1 gold results in gold.jsonl, 0 failed" in frozen.stderr
    assert same.returncode == 0, same.stdout
    assert changed.returncode == 1 and json.loads(changed.stdout)["counts"] == {"drift": 1}
    # A gold query that fails is kept as failed.
    path = questions(tmp_path, {"id": "a", "question": "Mars?", "sparql": "SELECT ?moon {"})
    assert run("freeze", path, "-g", "moons", "--out", "gold.jsonl").returncode == 4
    assert '"error": "QuerySyntaxError' in (tmp_path / "gold.jsonl").read_text()
    # Split writes a pair of files for each fold.
    words = ("moons", "planets", "stars", "comets", "rings", "rovers")
    lines: list[dict[str, object]] = [
        {"id": word, "question": f"Show {word} to me", "sparql": None} for word in words
    ]
    path = questions(tmp_path, *lines)
    done = run("split", path, "--folds", 3, "--out", "parts")
    assert done.returncode == 0, done.stderr
    assert "fold-1: " in done.stdout
    tested = [read_questions(tmp_path / "parts" / f"fold-{n}-test.jsonl") for n in (1, 2, 3)]
    learnt = [read_questions(tmp_path / "parts" / f"fold-{n}-train.jsonl") for n in (1, 2, 3)]
    assert sorted(q.id for part in tested for q in part) == sorted(words)
    for train, test in zip(learnt, tested, strict=True):
        assert {q.id for q in train}.isdisjoint(q.id for q in test)
    about = json.loads((tmp_path / "parts" / "splits.json").read_text())
    assert [entry["name"] for entry in about["splits"]] == ["fold-1", "fold-2", "fold-3"]


def test_formats_and_stages(run: Run, tmp_path: Path) -> None:
    # List names the formats.
    done = run("list", "--json")
    assert done.returncode == 0, done.stderr
    assert {"questions_jsonl", "qald"} <= {entry["name"] for entry in json.loads(done.stdout)}
    assert "QALD" in run("list").stdout
    # Stages are measured alone and together.
    path = questions(
        tmp_path,
        {"id": "a", "question": "Which moons orbit Mars?", "sparql": MARS},
        {"id": "b", "question": "Which moons orbit Jupiter?", "sparql": JUPITER},
    )
    done = run("stages", path, "-g", "moons", "--json", "--out", tmp_path / "kept")
    again = run("stages", path, "-g", "moons", "--json", "--out", tmp_path / "kept")
    assert done.returncode == 0 and done.stdout == again.stdout
    sheets = {sheet["title"]: sheet["rows"] for sheet in json.loads(done.stdout)}
    assert [row["recall@10"] for row in sheets["Retrieval"]] == [1.0, 1.0]
    linked = {row["configuration"]: row for row in sheets["Entity linking"]}
    assert linked["together"]["recall"] == linked["gold entities"]["F1"] == 1.0
    ends = {row["configuration"]: row["F1 (best_column)"] for row in sheets["End to end"]}
    assert ends["together"] == ends["gold entities and predicates"] == 1.0
    rejected = {row["policy"]: row["right lost"] for row in sheets["Rejection"]}
    assert rejected["filter (direct) and execution"] == 0.0
