"""Files that published data comes in: text, gzip, a folder, an archive; errors name the file."""

import gzip
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath

from askgraph.errors import SetupError

HEAD = 65_536  # characters; the first record of every published file is shorter
_ARCHIVES = (".tar", ".tgz", ".zip")
_BROKEN = (EOFError, zlib.error, tarfile.TarError, zipfile.BadZipFile)


def plain_name(path: Path) -> str:
    """Return the name of a file in lower case, without `.gz`."""
    return path.name.lower().removesuffix(".gz")


def is_bundle(path: Path) -> bool:
    """Return whether this is a folder or an archive of several files."""
    return path.is_dir() or plain_name(path).endswith(_ARCHIVES)


def text_of(path: Path) -> str:
    """Return the text of a UTF-8 file, gzip undone and without a byte order mark."""
    return decoded(_bytes(path, -1), str(path))


def decoded(content: bytes, place: str) -> str:
    """Return bytes as text; `SetupError`, naming the place, if they are not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SetupError(
            f"{place} is not UTF-8 text, from byte {error.start} on: save it as UTF-8"
        ) from error


def head_of(path: Path) -> str:
    """Return the first characters of a file, or the names in a folder or archive, a line each."""
    if is_bundle(path):
        return "\n".join(str(name) for name in islice(_names(path), 1000))
    # A character may be cut in two at the end of what is read.
    return _bytes(path, HEAD).decode("utf-8-sig", errors="replace")


def members(path: Path, suffix: str) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield the files of a folder or archive whose name ends so, sorted, gzip undone.

    Hidden files and folders are no part of a collection and are left out.
    """
    wanted = [
        name for name in _names(path) if name.name.lower().removesuffix(".gz").endswith(suffix)
    ]
    if path.is_dir():
        for name in wanted:
            yield name, _bytes(path / name, -1)
        return
    try:
        yield from _packed(path, wanted)
    except (OSError, RuntimeError, *_BROKEN) as error:  # an encrypted archive is a RuntimeError
        raise SetupError(f"cannot read the archive {path}: {error}") from error


def _bytes(path: Path, size: int) -> bytes:
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    try:
        with opened(path, "rb") as file:
            content: bytes = file.read(size)
            return content
    except (OSError, *_BROKEN) as error:
        reason = getattr(error, "strerror", None) or error
        raise SetupError(f"cannot read {path}: {reason}") from error


def _names(path: Path) -> list[PurePosixPath]:
    names = _names_in_folder(path) if path.is_dir() else _names_in_archive(path)
    return sorted(name for name in names if not any(part.startswith(".") for part in name.parts))


def _names_in_folder(path: Path) -> list[PurePosixPath]:
    return [
        PurePosixPath(file.relative_to(path).as_posix())
        for file in path.rglob("*")
        if file.is_file()
    ]


def _names_in_archive(path: Path) -> list[PurePosixPath]:
    try:
        if plain_name(path).endswith(".zip"):
            with zipfile.ZipFile(path) as packed:
                names = [entry.filename for entry in packed.infolist() if not entry.is_dir()]
        else:
            with tarfile.open(path) as archive:
                names = [entry.name for entry in archive if entry.isfile()]
    except (OSError, *_BROKEN) as error:
        raise SetupError(f"cannot read the archive {path}: {error}") from error
    return [PurePosixPath(name) for name in names]


def _packed(path: Path, wanted: list[PurePosixPath]) -> Iterator[tuple[PurePosixPath, bytes]]:
    if plain_name(path).endswith(".zip"):
        with zipfile.ZipFile(path) as packed:
            for name in wanted:
                yield name, _unzipped(name, packed.read(str(name)))
        return
    with tarfile.open(path) as archive:
        found = {PurePosixPath(entry.name): entry for entry in archive if entry.isfile()}
        for name in wanted:
            file = archive.extractfile(found[name])
            assert file is not None
            yield name, _unzipped(name, file.read())


def _unzipped(name: PurePosixPath, content: bytes) -> bytes:
    return gzip.decompress(content) if name.suffix.lower() == ".gz" else content
