"""Files of results that survive a crash."""

import json
from pathlib import Path

import pytest

from askgraph.errors import SetupError
from askgraph.evaluation.lines import LineFile


def ids(path: Path) -> list[str]:
    return [json.loads(line)["id"] for line in path.read_text().splitlines()]


def test_lines_are_appended_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "out.jsonl"
    with LineFile(path) as lines:
        lines.append({"id": "a", "value": 1})
        assert ids(path) == ["a"]
    with LineFile(path) as lines:
        assert lines.lines == {"a": {"id": "a", "value": 1}}
        lines.append({"id": "b"})
    assert ids(path) == ["a", "b"]


@pytest.mark.parametrize("kept", range(1, 20))
def test_a_half_written_last_line_is_dropped(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text('{"id": "a"}\n' + '{"id": "b", "é": 1}\n'[:-1][:kept])
    with LineFile(path) as lines:
        assert list(lines.lines) == ["a"]
        lines.append({"id": "b"})
    assert ids(path) == ["a", "b"]


@pytest.mark.parametrize("text", ["oops\n", '{"name": "x"}\n', "[1]\n", '{"id": "a"}\n{"id"\n\n'])
def test_another_file_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text(text)
    with pytest.raises(SetupError, match=r"out\.jsonl, line [12]"):
        LineFile(path)
    assert path.read_text() == text


def test_reordering_replaces_the_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with LineFile(path) as lines:
        for identity in "cab":
            lines.append({"id": identity})
        before = path.stat()
        lines.reorder("abcd")
        assert ids(path) == ["a", "b", "c"]
        assert path.stat().st_mode == before.st_mode
        lines.append({"id": "d"})
        unchanged = path.stat().st_ino
        lines.reorder("abcd")
        assert path.stat().st_ino == unchanged
    assert ids(path) == ["a", "b", "c", "d"]
    assert list(tmp_path.iterdir()) == [path]


def test_of_two_lines_with_an_id_the_later_counts(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with LineFile(path) as lines:
        lines.append({"id": "a", "value": 1})
        lines.append({"id": "a", "value": 2})
        lines.reorder("a")
    with LineFile(path) as lines:
        assert lines.lines == {"a": {"id": "a", "value": 2}}


def test_a_lone_surrogate_survives(tmp_path: Path) -> None:
    with LineFile(tmp_path / "out.jsonl") as lines:
        lines.append({"id": "\ud800"})
    with LineFile(tmp_path / "out.jsonl") as lines:
        assert list(lines.lines) == ["\ud800"]


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="cannot"):
        LineFile(tmp_path)
