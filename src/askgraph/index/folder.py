"""A folder of arrays on disk: written whole or not at all, versioned, checksummed, mapped.

`index.json`: {"sha256": "…", "index": {"kind": "keyword", "version": 1, "settings": {…},
"files": {"words.npy": [1024, "…"], …}}}
"""

import hashlib
import json
import mmap
import os
import shutil
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from askgraph.atomic_files import OLD_SUFFIX, make_temporary_path
from askgraph.errors import SetupError


class Window:
    """An array of which slices are taken, so that earlier ones do not stay in memory."""

    def __init__(self, path: Path) -> None:
        whole = np.load(path, mmap_mode="r" if path.stat().st_size > 256 else None)
        self._start = int(getattr(whole, "offset", 0))
        self._dtype = whole.dtype
        self._length = len(whole)
        # Small ones are not worth a call to the operating system each time.
        self._small = np.array(whole) if whole.nbytes <= mmap.ALLOCATIONGRANULARITY else None
        self._file = path.open("rb", buffering=0)
        weakref.finalize(self, self._file.close)

    def __getitem__(self, part: slice) -> NDArray[Any]:
        first, last, _ = part.indices(self._length)
        if self._small is not None or last <= first:
            return np.zeros(0, self._dtype) if self._small is None else self._small[first:last]
        begin = self._start + first * self._dtype.itemsize
        before = begin % mmap.ALLOCATIONGRANULARITY
        size = before + (last - first) * self._dtype.itemsize
        mapped = mmap.mmap(
            self._file.fileno(), size, offset=begin - before, access=mmap.ACCESS_READ
        )
        return np.frombuffer(mapped, self._dtype, last - first, before)


Setting = str | float | int | list[str]

_MANIFEST = "index.json"
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Kind:
    """The content of a folder, and the version of its layout that this askgraph writes."""

    name: str
    version: int


@dataclass(frozen=True)
class NewFolder:
    """A folder that is being written."""

    path: Path

    def save(self, name: str, array: NDArray[np.generic]) -> None:
        """Write one array."""
        np.save(self.path / f"{name}.npy", array)


@dataclass(frozen=True)
class Folder:
    """A folder opened for reading; sizes are checked, contents by `check_files`."""

    path: Path
    settings: Mapping[str, Setting]

    @classmethod
    def open(cls, path: Path, kind: Kind) -> "Folder":
        """Open a folder of a kind; `SetupError` if it is missing, damaged or another's."""
        index = _manifest(path)
        if index["kind"] != kind.name:
            raise SetupError(
                f"the index {str(path)!r} is of kind {index['kind']!r}, not {kind.name!r}; "
                "name its kind, or build it anew"
            )
        if index["version"] != kind.version:
            raise SetupError(
                f"the index {str(path)!r} is of version {index['version']}, this askgraph reads "
                f"version {kind.version}; build it anew"
            )
        for name, (size, _) in index["files"].items():
            if not (path / name).is_file() or (path / name).stat().st_size != size:
                raise _damaged(path, f"{name!r} is missing or not {size:,} bytes long")
        return cls(path, index["settings"])

    def number(self, setting: str) -> float:
        """Return a setting that is a number."""
        return float(str(self.settings[setting]))

    def text(self, setting: str) -> str:
        """Return a setting that is a text."""
        return str(self.settings[setting])

    def texts(self, setting: str) -> list[str]:
        """Return a setting that is a list of texts."""
        value = self.settings[setting]
        return value if isinstance(value, list) else [str(value)]

    def window(self, name: str) -> Window:
        """Open an array of which only slices are taken."""
        file = self.path / f"{name}.npy"
        try:
            return Window(file)
        except (OSError, ValueError) as error:
            raise _damaged(self.path, f"{file.name!r}: {error}") from error

    def array(self, name: str) -> NDArray[Any]:
        """Map an array into memory; nothing is read until it is used."""
        file = self.path / f"{name}.npy"
        try:
            # An array of nothing cannot be mapped.
            return np.asarray(np.load(file, mmap_mode="r" if file.stat().st_size > 256 else None))
        except OSError as error:
            raise _damaged(self.path, f"{file.name!r}: {error}") from error
        except ValueError as error:  # its text recommends to load the file unsafely
            raise _damaged(self.path, f"{file.name!r} is no array") from error


@contextmanager
def new_folder(
    path: Path, kind: Kind, settings: Mapping[str, Setting] | None = None
) -> Iterator[NewFolder]:
    """Write a folder beside `path` and put it there at the end, in place of an older index."""
    path = Path(path)
    if (
        path.exists()
        and not (path / _MANIFEST).is_file()
        and (path.is_file() or any(path.iterdir()))
    ):
        raise SetupError(f"{str(path)!r} holds something that is no index; choose another folder")
    path.parent.mkdir(parents=True, exist_ok=True)
    work = make_temporary_path(path)
    aside = work.with_name(work.name + OLD_SUFFIX)
    work.mkdir()
    try:
        new = NewFolder(work / "new")
        new.path.mkdir()
        yield new
        _seal(new.path, kind, settings or {})
        _put(new.path, path, aside=aside)
    finally:
        shutil.rmtree(work)
        shutil.rmtree(aside, ignore_errors=True)


def check_files(path: Path) -> None:
    """Read a whole folder and compare it with its checksums; `SetupError` if they differ."""
    for name, (_, digest) in _manifest(path)["files"].items():
        if not (path / name).is_file() or _digest_of(path / name) != digest:
            raise _damaged(path, f"{name!r} does not match its checksum")


def _put(new: Path, path: Path, *, aside: Path) -> None:
    if not path.exists():
        new.rename(path)
        return
    path.rename(aside)
    try:
        new.rename(path)
    except OSError:
        aside.rename(path)
        raise


def _seal(path: Path, kind: Kind, settings: Mapping[str, Setting]) -> None:
    files = {}
    for file in sorted(file for file in path.rglob("*") if file.is_file()):
        name = file.relative_to(path).as_posix()
        files[name] = (file.stat().st_size, _digest_of(file))
        with file.open("rb") as opened:
            os.fsync(opened.fileno())
    index = {"kind": kind.name, "version": kind.version, "settings": settings, "files": files}
    body = json.dumps(index, ensure_ascii=False, sort_keys=True)
    digest = hashlib.sha256(body.encode()).hexdigest()
    with (path / _MANIFEST).open("w", encoding="utf-8") as opened:
        opened.write(f'{{"sha256": "{digest}", "index": {body}}}\n')
        opened.flush()
        os.fsync(opened.fileno())


def _digest_of(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while block := opened.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


class _Index(TypedDict):
    kind: str
    version: int
    settings: dict[str, Setting]
    files: dict[str, tuple[int, str]]


def _manifest(path: Path) -> _Index:
    try:
        text = (path / _MANIFEST).read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise SetupError(f"there is no index in {str(path)!r}; build one there") from error
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"the index {str(path)!r} cannot be read: {error}") from error
    head, found, rest = text.partition(', "index": ')
    body = rest.removesuffix("}\n")
    if (
        not found
        or body == rest
        or head != f'{{"sha256": "{hashlib.sha256(body.encode()).hexdigest()}"'
    ):
        raise _damaged(path, f"{_MANIFEST!r} does not match its checksum")
    index: _Index = json.loads(body)
    return index


def _damaged(path: Path, what: str) -> SetupError:
    return SetupError(f"the index {str(path)!r} is damaged: {what}; build it anew")
