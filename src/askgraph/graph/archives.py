"""Read published files: text, gzip, a folder, an archive; errors name the file."""

import gzip
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath

from askgraph.errors import SetupError

HEAD_CHARACTERS = 65_536  # characters; the first record of every published file is shorter
_ARCHIVE_SUFFIXES = (".tar", ".tgz", ".zip")
_BROKEN_FILE_ERRORS = (EOFError, zlib.error, tarfile.TarError, zipfile.BadZipFile)


def get_plain_name(path: Path) -> str:
    """Return the name of a file in lower case, without `.gz`."""
    return path.name.lower().removesuffix(".gz")


def is_bundle(path: Path) -> bool:
    """Return whether a path is a folder or an archive of several files."""
    return path.is_dir() or get_plain_name(path).endswith(_ARCHIVE_SUFFIXES)


def read_text(path: Path) -> str:
    """Read a UTF-8 file, decompressing gzip and removing a byte order mark."""
    return decode_text(_read_bytes(path, -1), str(path))


def decode_text(content: bytes, source: str) -> str:
    """Decode UTF-8 bytes; raises `SetupError`, naming the source, if they are not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SetupError(
            f"{source} is not UTF-8 text, from byte {error.start} on: save it as UTF-8"
        ) from error


def read_head(path: Path) -> str:
    """Return the first characters of a file, or the names in a folder or archive, one per line."""
    if is_bundle(path):
        return "\n".join(str(name) for name in islice(_list_names(path), 1000))
    # The last character may be incomplete.
    return _read_bytes(path, HEAD_CHARACTERS).decode("utf-8-sig", errors="replace")


def iterate_members(path: Path, suffix: str) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield the files of a folder or archive with a name suffix, sorted and decompressed.

    Hidden files and folders are skipped.
    """
    selected = [
        name for name in _list_names(path) if name.name.lower().removesuffix(".gz").endswith(suffix)
    ]
    if path.is_dir():
        for name in selected:
            yield name, _read_bytes(path / name, -1)
        return
    try:
        yield from _iterate_archive(path, selected)
    # An encrypted archive is a RuntimeError.
    except (OSError, RuntimeError, *_BROKEN_FILE_ERRORS) as error:
        raise SetupError(f"cannot read the archive {path}: {error}") from error


def _read_bytes(path: Path, size: int) -> bytes:
    open_file = gzip.open if path.name.lower().endswith(".gz") else open
    try:
        with open_file(path, "rb") as file:
            content: bytes = file.read(size)
            return content
    except (OSError, *_BROKEN_FILE_ERRORS) as error:
        reason = getattr(error, "strerror", None) or error
        raise SetupError(f"cannot read {path}: {reason}") from error


def _list_names(path: Path) -> list[PurePosixPath]:
    names = (
        [
            PurePosixPath(file.relative_to(path).as_posix())
            for file in path.rglob("*")
            if file.is_file()
        ]
        if path.is_dir()
        else _list_archive_names(path)
    )
    return sorted(name for name in names if not any(part.startswith(".") for part in name.parts))


def _list_archive_names(path: Path) -> list[PurePosixPath]:
    try:
        if get_plain_name(path).endswith(".zip"):
            with zipfile.ZipFile(path) as zip_file:
                names = [entry.filename for entry in zip_file.infolist() if not entry.is_dir()]
        else:
            with tarfile.open(path) as archive:
                names = [entry.name for entry in archive if entry.isfile()]
    except (OSError, *_BROKEN_FILE_ERRORS) as error:
        raise SetupError(f"cannot read the archive {path}: {error}") from error
    return [PurePosixPath(name) for name in names]


def _iterate_archive(
    path: Path, selected: list[PurePosixPath]
) -> Iterator[tuple[PurePosixPath, bytes]]:
    if get_plain_name(path).endswith(".zip"):
        with zipfile.ZipFile(path) as zip_file:
            for name in selected:
                yield name, _unpack_gzip(name, zip_file.read(str(name)))
        return
    with tarfile.open(path) as archive:
        entries = {PurePosixPath(entry.name): entry for entry in archive if entry.isfile()}
        for name in selected:
            file = archive.extractfile(entries[name])
            assert file is not None
            yield name, _unpack_gzip(name, file.read())


def _unpack_gzip(name: PurePosixPath, content: bytes) -> bytes:
    return gzip.decompress(content) if name.suffix.lower() == ".gz" else content
