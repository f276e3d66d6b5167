"""Files of a run that survive being killed: replaced as a whole, or grown by whole lines."""

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO

from askgraph import atomic_files
from askgraph.errors import SetupError


@contextlib.contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write, which takes the place of this one once all is written without error.

    Raises `SetupError` if it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_files.replaced(path) as file:
            yield file
    except OSError as error:
        raise atomic_files.refused(f"cannot write {path}", error) from error


def write_lines(path: Path, lines: Iterable[Mapping[str, object]]) -> None:
    """Write objects as lines of JSON over what was there; `SetupError` if that cannot be."""
    with replaced(path) as file:
        file.writelines(map(json_line, lines))


def json_line(record: Mapping[str, object]) -> bytes:
    """Return an object as a line of JSON."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode("utf-8", "backslashreplace")  # a lone surrogate stays JSON


def object_in(text: str | bytes, place: str) -> dict[str, Any]:
    """Return the JSON object that a text is; `SetupError` names the place if it is none."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise SetupError(f"{place}: not JSON: {error}") from error
    if not isinstance(found, dict):
        raise SetupError(f"{place}: not an object")
    return found


class LineFile:
    """Objects with an id, a line each, appended durably; of two with one id the later counts.

    `name` is the key that the id stands under. `lines` has the objects, unless `keep` is false:
    then only where they stand is kept, as the file may outgrow memory.

    A last line that a crash left half-written is cut off when the file is opened; anything else
    that is not a line of ours raises `SetupError`, and the file is left as it is. So does a file
    that cannot be written.
    """

    def __init__(self, path: Path, *, name: str = "id", keep: bool = True) -> None:
        self.path = path
        self._name = name
        self._keep = keep
        self.lines: dict[str, Mapping[str, object]] = {}
        self._places: dict[str, tuple[int, int]] = {}  # start and length
        self._end = 0
        self._scan()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab", buffering=0)
            self._file.truncate(self._end)
        except OSError as error:
            raise atomic_files.refused(f"cannot write {path}", error) from error

    def append(self, line: Mapping[str, object]) -> None:
        """Add one line; when this returns it is on the disk."""
        data = json_line(line)
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            raise atomic_files.refused(f"cannot write {self.path}", error) from error
        self._take(line, len(data))

    def reorder(self, ids: Iterable[str]) -> None:
        """Put the lines into this order, others behind, one an id; the file is never halved."""
        order = dict.fromkeys([*(i for i in ids if i in self._places), *self._places])
        places = [self._places[identity] for identity in order]
        starts = [0, *accumulate(length for _, length in places)]
        if [start for start, _ in places] == starts[:-1] and self._end == starts[-1]:
            return
        with replaced(self.path) as fresh:
            fresh.writelines(self._read(places))
        self._file.close()
        self._file = self.path.open("ab", buffering=0)
        lengths = (length for _, length in places)
        self._places = dict(zip(order, zip(starts, lengths, strict=False), strict=True))
        self._end = starts[-1]
        self.lines = {identity: self.lines[identity] for identity in order if self._keep}

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._file.close()

    def __enter__(self) -> "LineFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, places: Iterable[tuple[int, int]]) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            for start, length in places:
                file.seek(start)
                yield file.read(length)

    def _scan(self) -> None:
        """Take over the whole lines that there are."""
        try:
            with self.path.open("rb") as file:
                for number, line in enumerate(file, start=1):
                    if not line.endswith(b"\n"):
                        return
                    if not line.strip():
                        self._end += len(line)
                        continue
                    place = f"{self.path}, line {number}"
                    record = object_in(line, place)
                    if self._name not in record:
                        raise SetupError(
                            f"{place}: not a line of results: it has no {self._name!r}"
                        )
                    self._take(record, len(line))
        except FileNotFoundError:
            return
        except OSError as error:
            raise SetupError(f"cannot read {self.path}: {error.strerror}") from error

    def _take(self, line: Mapping[str, object], length: int) -> None:
        identity = str(line[self._name])
        self._places[identity] = self._end, length
        self._end += length
        if self._keep:
            self.lines[identity] = line
