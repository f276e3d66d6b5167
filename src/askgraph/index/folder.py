"""Folders of arrays on disk: written completely or not at all, versioned, checksummed, mapped.

`index.json`: {"sha256": "…", "index": {"kind": "keyword", "version": 1, "settings": {…},
"files": {"words.npy": [1024, "…"], …}}}
"""

import hashlib
import json
import mmap
import os
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from askgraph.atomic_files import replace_folder
from askgraph.errors import SetupError


class SlicedArray:
    """An array on disk that is read in slices, so that earlier slices do not stay in memory."""

    def __init__(self, path: Path) -> None:
        array = np.load(path, mmap_mode="r" if path.stat().st_size > 256 else None)
        self._start = int(getattr(array, "offset", 0))
        self._dtype = array.dtype
        self._length = len(array)
        # Keep small arrays in memory: a system call for each access costs more.
        self._small = np.array(array) if array.nbytes <= mmap.ALLOCATIONGRANULARITY else None
        self._file = path.open("rb", buffering=0)
        weakref.finalize(self, self._file.close)

    def __getitem__(self, index_range: slice) -> NDArray[Any]:
        first, last, _ = index_range.indices(self._length)
        if self._small is not None or last <= first:
            return np.zeros(0, self._dtype) if self._small is None else self._small[first:last]
        first_byte = self._start + first * self._dtype.itemsize
        padding = first_byte % mmap.ALLOCATIONGRANULARITY
        size = padding + (last - first) * self._dtype.itemsize
        mapped = mmap.mmap(
            self._file.fileno(), size, offset=first_byte - padding, access=mmap.ACCESS_READ
        )
        return np.frombuffer(mapped, self._dtype, last - first, padding)


Setting = str | float | int | list[str]

_MANIFEST_FILE = "index.json"
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True)
class IndexFormat:
    """The kind of an index, and the version of its layout that this askgraph writes."""

    name: str
    version: int


@dataclass(frozen=True)
class IndexFolderWriter:
    """A folder that is being written."""

    path: Path

    def save(self, name: str, array: NDArray[np.generic]) -> None:
        """Write an array."""
        np.save(self.path / f"{name}.npy", array)


@dataclass(frozen=True)
class IndexFolder:
    """A folder opened for reading; `open` checks file sizes, `check_files` the contents."""

    path: Path
    settings: Mapping[str, Setting]

    @classmethod
    def open(cls, path: Path, kind: IndexFormat) -> "IndexFolder":
        """Open a folder of a kind; raise `SetupError` if it is not intact or of another version."""
        index = _read_manifest(path)
        if index["kind"] != kind.name:
            raise SetupError(
                f"the index {str(path)!r} has the kind {index['kind']!r}, not "
                f"{kind.name!r}; name its kind, or build it again"
            )
        if index["version"] != kind.version:
            raise SetupError(
                f"the index {str(path)!r} has version {index['version']}, but this "
                f"askgraph reads version {kind.version}; build it again"
            )
        for name, (size, _) in index["files"].items():
            if not (path / name).is_file() or (path / name).stat().st_size != size:
                raise _build_damage_error(path, f"{name!r} is missing or not {size:,} bytes long")
        return cls(path, index["settings"])

    def get_number(self, setting: str) -> float:
        """Return a setting as a number."""
        return float(str(self.settings[setting]))

    def get_text(self, setting: str) -> str:
        """Return a setting as a text."""
        return str(self.settings[setting])

    def get_texts(self, setting: str) -> list[str]:
        """Return a setting as a list of texts."""
        value = self.settings[setting]
        return value if isinstance(value, list) else [str(value)]

    def open_sliced_array(self, name: str) -> SlicedArray:
        """Open an array that is read in slices."""
        file = self.path / f"{name}.npy"
        try:
            return SlicedArray(file)
        except (OSError, ValueError) as error:
            raise _build_damage_error(self.path, f"{file.name!r}: {error}") from error

    def map_array(self, name: str) -> NDArray[Any]:
        """Map an array into memory; it is read when it is used."""
        file = self.path / f"{name}.npy"
        try:
            # An empty array cannot be mapped.
            return np.asarray(np.load(file, mmap_mode="r" if file.stat().st_size > 256 else None))
        except OSError as error:
            raise _build_damage_error(self.path, f"{file.name!r}: {error}") from error
        except ValueError as error:  # its text recommends to load the file unsafely
            raise _build_damage_error(self.path, f"{file.name!r} is not an array") from error


@contextmanager
def create_folder(
    path: Path, kind: IndexFormat, settings: Mapping[str, Setting] | None = None
) -> Iterator[IndexFolderWriter]:
    """Write a folder beside `path` and move it there at the end, replacing an older index.

    Raises:
        SetupError: `path` contains something that is not an index.
    """
    path = Path(path)
    if (
        path.exists()
        and not (path / _MANIFEST_FILE).is_file()
        and (path.is_file() or any(path.iterdir()))
    ):
        raise SetupError(
            f"{str(path)!r} contains files that do not belong to an index; choose another folder"
        )
    with replace_folder(path, lock=False) as new_folder:
        yield IndexFolderWriter(new_folder)
        _write_manifest(new_folder, kind, settings or {})


def check_files(path: Path) -> None:
    """Compare all files of a folder with their checksums; raise `SetupError` if they differ."""
    for name, (_, digest) in _read_manifest(path)["files"].items():
        if not (path / name).is_file() or _compute_digest(path / name) != digest:
            raise _build_damage_error(path, f"{name!r} does not match its checksum")


def _write_manifest(path: Path, kind: IndexFormat, settings: Mapping[str, Setting]) -> None:
    files = {}
    for file in sorted(file for file in path.rglob("*") if file.is_file()):
        files[file.relative_to(path).as_posix()] = (file.stat().st_size, _compute_digest(file))
        with file.open("rb") as opened:
            os.fsync(opened.fileno())
    index = {"kind": kind.name, "version": kind.version, "settings": settings, "files": files}
    body = json.dumps(index, ensure_ascii=False, sort_keys=True)
    digest = hashlib.sha256(body.encode()).hexdigest()
    with (path / _MANIFEST_FILE).open("w", encoding="utf-8") as opened:
        opened.write(f'{{"sha256": "{digest}", "index": {body}}}\n')
        opened.flush()
        os.fsync(opened.fileno())


def _compute_digest(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while block := opened.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


class _Manifest(TypedDict):
    kind: str
    version: int
    settings: dict[str, Setting]
    files: dict[str, tuple[int, str]]


def _read_manifest(path: Path) -> _Manifest:
    try:
        text = (path / _MANIFEST_FILE).read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise SetupError(f"there is no index in {str(path)!r}; build one there") from error
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"the index {str(path)!r} cannot be read: {error}") from error
    head, separator, tail = text.partition(', "index": ')
    body = tail.removesuffix("}\n")
    if (
        not separator
        or body == tail
        or head != f'{{"sha256": "{hashlib.sha256(body.encode()).hexdigest()}"'
    ):
        raise _build_damage_error(path, f"{_MANIFEST_FILE!r} does not match its checksum")
    index: _Manifest = json.loads(body)
    return index


def _build_damage_error(path: Path, details: str) -> SetupError:
    return SetupError(f"the index {str(path)!r} is damaged: {details}; build it again")
