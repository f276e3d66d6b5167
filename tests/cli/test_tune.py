"""`askgraph tune`, run as a command."""

import json
import tomllib
from pathlib import Path

import pytest
from tests.cli.lookup import JUPITER, MARS, questions
from tests.cli.running import Done, Run, askgraph

TRAIN: dict[str, object] = {
    "id": "a",
    "question": "Which moons orbit Mars?",
    "sparql": MARS,
    "split": "train",
}
TEST: dict[str, object] = {
    "id": "b",
    "question": "Which moons orbit Jupiter?",
    "sparql": JUPITER,
    "split": "test",
}


@pytest.fixture
def run(moons: Path, tmp_path: Path) -> Run:
    def finished(*words: object) -> Done:
        return askgraph("tune", "bm25", *words, workspace=moons, folder=tmp_path)

    return finished


def test_only_the_training_split_is_learnt_from_and_it_says_so(run: Run, tmp_path: Path) -> None:
    done = run(questions(tmp_path, TRAIN, TEST), "-g", "moons", "--json")

    sheet = json.loads(done.stdout)
    assert [row["n"] for row in sheet["rows"]] == [1, 1, 1, 1]
    assert {row["questions"] for row in sheet["rows"]} == {"training, before", "training, after"}
    assert "'train'" in sheet["notes"][0]


def test_questions_without_a_split_are_not_taken_for_training(run: Run, tmp_path: Path) -> None:
    path = questions(tmp_path, {key: TRAIN[key] for key in ("id", "question", "sparql")})

    assert run(path, "-g", "moons").returncode == 2
    assert run(path, "-g", "moons", "--whole").returncode == 0


def test_a_test_question_may_not_be_a_training_question(run: Run, tmp_path: Path) -> None:
    path = questions(tmp_path, TRAIN, TEST)
    done = run(path, "--test", path, "-g", "moons")

    assert done.returncode == 2 and "test question and a training question" in done.stderr


def test_what_is_kept_is_read_by_the_method(run: Run, moons: Path, tmp_path: Path) -> None:
    (moons / "askgraph.toml").write_text(
        (moons / "askgraph.toml").read_text() + "\n[methods.multi_stage]\nnear = 5\n"
    )
    assert run(questions(tmp_path, TRAIN), "-g", "moons", "--keep").returncode == 0

    table = tomllib.loads((moons / "askgraph.toml").read_text())["methods"]["multi_stage"]
    assert table["near"] == 5
    assert "/" in table["bm25_entities"] and "/" in table["bm25_predicates"]
