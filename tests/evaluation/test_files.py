"""Files that are there with all their lines, or not at all."""

import json
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.each import for_each

from askgraph.errors import SetupError
from askgraph.evaluation.files import LineFile, write_lines


def test_writing_in_place(tmp_path: Path) -> None:
    # Lines replace what was there.
    path = tmp_path / "new" / "lines.jsonl"
    write_lines(path, [{"a": 1}])
    write_lines(path, [{"a": "ä\ud800"}, {"b": None}])
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        {"a": "ä\ud800"},
        {"b": None},
    ]
    # A place that cannot be written is named.
    (tmp_path / "file").write_text("")
    with pytest.raises(SetupError, match=r"cannot write .*lines\.jsonl"):
        write_lines(tmp_path / "file" / "lines.jsonl", [])


def test_an_error_on_the_way_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    write_lines(path, [{"a": 1}])

    def lines() -> Iterator[dict[str, object]]:
        yield {"a": 2}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_lines(path, lines())

    assert path.read_text() == '{"a": 1}\n'
    assert [file.name for file in tmp_path.iterdir()] == ["lines.jsonl"]


def test_disks_and_lines(tmp_path: Path) -> None:
    # A full disk is told once and nothing is written later.
    path = tmp_path / "file"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with LineFile(path) as lines:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
        try:
            with pytest.raises(SetupError, match=r"cannot write .*/file: the disk is full"):
                lines.append({"id": "x" * 20})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.stat().st_size == 10
    # Lines are appended and read again.
    path = tmp_path / "folder" / "out.jsonl"
    with LineFile(path) as lines:
        lines.append({"id": "a", "value": 1})
        assert ids(path) == ["a"]
    with LineFile(path) as lines:
        assert lines.lines == {"a": {"id": "a", "value": 1}}
        lines.append({"id": "b"})
    assert ids(path) == ["a", "b"]
    # Of two lines with an id the later counts.
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


def ids(path: Path) -> list[str]:
    return [json.loads(line)["id"] for line in path.read_text().splitlines()]


@for_each("kept", range(1, 20))
def test_a_half_written_last_line_is_dropped(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text('{"id": "a"}\n' + '{"id": "b", "é": 1}\n'[:-1][:kept])
    with LineFile(path) as lines:
        assert list(lines.lines) == ["a"]
        lines.append({"id": "b"})
    assert ids(path) == ["a", "b"]


@for_each("text", ["oops\n", '{"name": "x"}\n', "[1]\n", '{"id": "a"}\n{"id"\n\n'])
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
        assert ids(path) == ["a", "b", "c"] and path.stat().st_mode == before.st_mode
        lines.append({"id": "d"})
        unchanged = path.stat().st_ino
        lines.reorder("abcd")
        assert path.stat().st_ino == unchanged
    assert ids(path) == ["a", "b", "c", "d"] and list(tmp_path.iterdir()) == [path]
