"""Examples converted: a folder, a Turtle file, lines."""

from pathlib import Path

import pytest

from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks.examples import examples_in
from askgraph.sample import questions_path
from askgraph.workspace import Workspace
from askgraph.workspace.example_files import convert


@pytest.mark.parametrize("target", ["folder", "examples.ttl"])
def test_turtle_holds_the_same_examples(tmp_path: Path, target: str) -> None:
    found, faults = convert(Workspace(tmp_path), str(questions_path()), tmp_path / target)
    again = examples_in(tmp_path / target).examples
    assert {reason.partition(":")[0] for _, reason in faults} == {"it has no query"}
    assert {one.iri: one for one in again} == {one.iri: one for one in found.examples}


def test_lines_hold_every_wording(tmp_path: Path) -> None:
    found, _ = convert(Workspace(tmp_path), str(questions_path()), tmp_path / "examples.jsonl")
    wordings = sum(len(example.wordings) for example in found.examples)
    assert len(examples_in(tmp_path / "examples.jsonl").examples) == wordings


def test_a_query_that_does_not_parse_is_written_and_listed(tmp_path: Path) -> None:
    source = tmp_path / "asked.jsonl"
    source.write_text('{"question": "Why?", "sparql": "SELECT WHERE"}\n')
    found, faults = convert(Workspace(tmp_path), str(source), tmp_path / "out.ttl")
    assert len(found.examples) == 1
    assert [place for place, _ in faults] == ["Why?"]


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "there"
    target.mkdir()
    (target / "mine.txt").write_text("keep me")
    with pytest.raises(SetupError, match="is there already"):
        convert(Workspace(tmp_path), str(questions_path()), target)
    assert [path.name for path in target.iterdir()] == ["mine.txt"]


def test_a_source_without_examples_is_a_setup_error(tmp_path: Path) -> None:
    source = tmp_path / "asked.jsonl"
    source.write_text('{"question": "Why?", "sparql": null}\n')
    with pytest.raises(SetupError, match="holds no examples"):
        convert(Workspace(tmp_path), str(source), tmp_path / "out.ttl")
    assert not (tmp_path / "out.ttl").exists()
