"""Pairs to train on, from a benchmark or from the examples that a graph keeps."""

import json
from pathlib import Path

import pytest

from askgraph import sample
from askgraph.errors import SetupError
from askgraph.operations.generation import make_pairs
from askgraph.workspace import Workspace


def test_questions_of_a_benchmark_become_pairs(space: Workspace, tmp_path: Path) -> None:
    output = tmp_path / "pairs.jsonl"

    made = make_pairs(space, sample.questions_path().with_suffix(".jsonl"), output, copies=False)

    lines = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert made.pairs == len(lines) == made.questions - len(made.left_out)
    assert {one.reason for one in made.left_out} == {"it has no query"}
    with pytest.raises(SetupError, match="no question with a query"):
        make_pairs(space, None, output)


def test_if_no_question_makes_a_pair_the_file_stays(space: Workspace, tmp_path: Path) -> None:
    output, questions = tmp_path / "pairs.jsonl", tmp_path / "q.jsonl"
    output.write_text("kept")
    record = {"id": "1", "question": "Which moons?", "sparql": "SELECT ?m { ?m"}
    questions.write_text(json.dumps(record) + "\n")

    with pytest.raises(SetupError):
        make_pairs(space, questions, output)

    assert output.read_text() == "kept"
