"""A run read from its folder, and what is said where it cannot be."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.each import each

from askgraph.errors import SetupError
from askgraph.evaluation import Score
from askgraph.evaluation.runs import Record, read_run
from askgraph.trace import Usage

RECORD = Record(
    "1",
    "moons?",
    "answer",
    0.5,
    {"rows": Score(1, 1, 1)},
    0.1,
    "ASK {}",
    None,
    usage=Usage(money=2),
)
DETAIL: dict[str, Any] = {"key": RECORD.key, "steps": [{"step": "thought"}], "missing": [["Io"]]}


def written(folder: Path, *, run: str = "{}", record: str = "", trace: str = "") -> Path:
    (folder / "run.json").write_text(run)
    (folder / "records.jsonl").write_text((record or json.dumps(RECORD.json())) + "\n")
    (folder / "traces.jsonl").write_text((trace or json.dumps(DETAIL)) + "\n")
    return folder


def test_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    run = read_run(written(tmp_path))
    assert run.records == (RECORD,)
    assert [detail.missing for detail in run.details()] == [(("Io",),)]


def test_what_a_later_version_adds_is_passed_over(tmp_path: Path) -> None:
    line = RECORD.json()
    newer = {**line, "mood": "good", "usage": {**dict(vars(RECORD.usage)), "joules": 3}}
    assert read_run(written(tmp_path, record=json.dumps(newer))).records == (RECORD,)


@each(
    "change",
    [
        {"status": None},
        {"scores": {"rows": [1, 2]}},
        {"scores": {"rows": ["a", "b", "c"]}},
        {"scores": {"rows": 7}},
        {"scores": []},
        {"confidence": "high"},
        {"confidence": float("nan")},
        {"usage": {"money": "much"}},
        {"tags": "easy"},
    ],
)
def test_a_line_that_is_no_record_is_told(tmp_path: Path, change: dict[str, object]) -> None:
    folder = written(tmp_path, record=json.dumps({**RECORD.json(), **change}))
    with pytest.raises(SetupError, match=r"records\.jsonl holds no records of a run"):
        read_run(folder)


@pytest.mark.parametrize("text", ["oops", "[1]"])
def test_a_run_that_does_not_say_what_it_is_is_told(tmp_path: Path, text: str) -> None:
    with pytest.raises(SetupError, match=r"run\.json: not"):
        read_run(written(tmp_path, run=text))


@each("text", ["oops", '{"key": "a", "steps": 3}', '{"missing": [3]}'])
def test_a_line_that_is_no_trace_is_told(tmp_path: Path, text: str) -> None:
    run = read_run(written(tmp_path, trace=text))
    with pytest.raises(SetupError, match=r"traces\.jsonl"):
        list(run.details())
