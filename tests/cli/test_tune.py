"""`askgraph tune`, run as a command."""

import json
import tomllib
from functools import partial
from pathlib import Path

import pytest
from tests.cli.lookup import JUPITER, MARS, questions
from tests.cli.running import Run, askgraph

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
    return partial(askgraph, "tune", "bm25", workspace=moons, folder=tmp_path)


def test_what_is_learnt_from(run: Run, tmp_path: Path, moons: Path) -> None:
    # Only the training split is learnt from and it says so.
    done = run(questions(tmp_path, TRAIN, TEST), "-g", "moons", "--json")
    sheet = json.loads(done.stdout)
    assert [row["n"] for row in sheet["rows"]] == [1, 1, 1, 1]
    assert {row["questions"] for row in sheet["rows"]} == {"training, before", "training, after"}
    assert "'train'" in sheet["notes"][0]
    # Questions without a split are not taken for training.
    path = questions(tmp_path, {key: TRAIN[key] for key in ("id", "question", "sparql")})
    assert run(path, "-g", "moons").returncode == 2
    assert run(path, "-g", "moons", "--whole").returncode == 0
    # A test question may not be a training question.
    path = questions(tmp_path, TRAIN, TEST)
    done = run(path, "--test", path, "-g", "moons")
    assert done.returncode == 2 and "test question and a training question" in done.stderr
    # What is kept is read by the method.
    (moons / "askgraph.toml").write_text(
        (moons / "askgraph.toml").read_text() + "\n[methods.multi_stage]\nnear = 5\n"
    )
    assert run(questions(tmp_path, TRAIN), "-g", "moons", "--keep").returncode == 0
    table = tomllib.loads((moons / "askgraph.toml").read_text())["methods"]["multi_stage"]
    assert table["near"] == 5 and "/" in table["bm25_entities"] and "/" in table["bm25_predicates"]
