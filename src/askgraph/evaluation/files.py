"""Crash-safe files of a run: replaced atomically, or extended by complete lines."""

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import IO, Any, BinaryIO

from askgraph import atomic_files
from askgraph.errors import SetupError


@contextlib.contextmanager
def replace_file(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` in the end; raise `SetupError` if it fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_files.replace_file(path) as file:
            yield file
    except OSError as error:
        raise atomic_files.to_setup_error(f"cannot write {path}", error) from error


def write_lines(path: Path, lines: Iterable[Mapping[str, object]]) -> None:
    """Write objects as lines of JSON, replacing the file; raise `SetupError` if that fails."""
    with replace_file(path) as file:
        file.writelines(map(format_json_line, lines))


def format_json_line(record: Mapping[str, object]) -> bytes:
    """Return an object as a line of JSON."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode("utf-8", "backslashreplace")  # a lone surrogate stays JSON


def parse_object(text: str | bytes, location: str) -> dict[str, Any]:
    """Parse a JSON object; raise `SetupError` with `location` if the text is not one."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise SetupError(f"{location}: not JSON: {error}") from error
    if not isinstance(value, dict):
        raise SetupError(f"{location}: not an object")
    return value


def hold_file(file: IO[Any], path_and_advice: str) -> None:
    """Lock an open file until it closes, where locks exist; `SetupError` if another process has."""
    try:
        import fcntl  # not available on Windows

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise SetupError(f"another process is writing to {path_and_advice}") from error
    except (ImportError, OSError):  # a system, or a file system, without locks
        return


class LineFile:
    """A file of JSON objects with an id, one per line, appended durably.

    The later of two lines with one id counts. A last line that a crash left incomplete is cut
    off on opening. Any other invalid line raises `SetupError` and leaves the file as it is; so
    does a file that cannot be written.

    Attributes:
        lines: The objects by id. Empty if `keep_lines` is false: then only positions are
            stored, since the file may exceed memory.
    """

    def __init__(self, path: Path, *, id_key: str = "id", keep_lines: bool = True) -> None:
        self.path = path
        self._id_key = id_key
        self._keep_lines = keep_lines
        self.lines: dict[str, Mapping[str, object]] = {}
        self._positions: dict[str, tuple[int, int]] = {}  # start and length
        self._end = 0
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab", buffering=0)
            hold_file(self._file, f"{path}: wait for it, or name another file")
            self._scan()
            self._file.truncate(self._end)
        except SetupError:
            self._file.close()
            raise
        except OSError as error:
            raise atomic_files.to_setup_error(f"cannot write {path}", error) from error

    def append(self, line: Mapping[str, object]) -> None:
        """Append one line and return once it is on disk."""
        data = format_json_line(line)
        remaining = memoryview(data)
        try:
            while remaining:
                remaining = remaining[self._file.write(remaining) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            raise atomic_files.to_setup_error(f"cannot write {self.path}", error) from error
        self._index_line(line, len(data))

    def reorder(self, ids: Iterable[str]) -> None:
        """Sort the lines by `ids`, others last, one per id; replaces the file atomically."""
        order = dict.fromkeys(
            [*(identity for identity in ids if identity in self._positions), *self._positions]
        )
        positions = [self._positions[identity] for identity in order]
        starts = [0, *accumulate(length for _, length in positions)]
        if [start for start, _ in positions] == starts[:-1] and self._end == starts[-1]:
            return
        with replace_file(self.path) as file:
            file.writelines(self._read_positions(positions))
        self._file.close()
        self._file = self.path.open("ab", buffering=0)
        lengths = (length for _, length in positions)
        self._positions = dict(zip(order, zip(starts, lengths, strict=False), strict=True))
        self._end = starts[-1]
        self.lines = {identity: self.lines[identity] for identity in order if self._keep_lines}

    def close(self) -> None:
        """Close the file; a second call has no effect."""
        self._file.close()

    def __enter__(self) -> "LineFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read_positions(self, positions: Iterable[tuple[int, int]]) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            for start, length in positions:
                file.seek(start)
                yield file.read(length)

    def _scan(self) -> None:
        try:
            with self.path.open("rb") as file:
                for number, line in enumerate(file, start=1):
                    if not line.endswith(b"\n"):
                        return
                    if not line.strip():
                        self._end += len(line)
                        continue
                    location = f"{self.path}, line {number}"
                    record = parse_object(line, location)
                    if self._id_key not in record:
                        raise SetupError(
                            f"{location}: not a line of results: it has no {self._id_key!r}"
                        )
                    self._index_line(record, len(line))
        except FileNotFoundError:
            return
        except OSError as error:
            raise SetupError(f"cannot read {self.path}: {error.strerror}") from error

    def _index_line(self, line: Mapping[str, object], length: int) -> None:
        identity = str(line[self._id_key])
        self._positions[identity] = self._end, length
        self._end += length
        if self._keep_lines:
            self.lines[identity] = line
