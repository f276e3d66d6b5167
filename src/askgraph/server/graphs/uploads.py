"""Uploaded files: stored under safe names, identified by content, and limited when unpacked.

The sender's file name appears in messages and hints at the format, but is never used as a path. The
content decides whether a file is compressed, and its format if the name has no known suffix.
"""

import bz2
import contextlib
import gzip
import lzma
import re
import shutil
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import IO, Any

from askgraph.atomic_files import lock_file
from askgraph.errors import SetupError
from askgraph.server.problems import TooLarge
from askgraph.sparql.rdf_files import READABLE_SUFFIXES, check_xml_elements
from askgraph.workspace import Workspace
from askgraph.workspace.settings import GraphSettings

_UPLOADS_FOLDER = "uploads"
_SUFFIX_BY_MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz"}
_ARCHIVE_MAGIC = (b"Rar!", b"7z\xbc\xaf")
_SNIFFED_BYTES = 4096
_MAX_NAME_CHARACTERS = 60  # characters of a name, of up to four bytes each
_FOUR_TERMS = re.compile(rb"^\s*(<[^>]*>|_:\S+)\s+<[^>]*>\s+.+?\s(<[^>]*>|_:\S+)\s*\.\s*$", re.M)
_THREE_TERMS = re.compile(rb"^\s*(<[^>]*>|_:\S+)\s+<[^>]*>\s+\S.*\.\s*$", re.M)


@dataclass(frozen=True)
class ReceivedFile:
    """A file as it was sent: the sender's name for it, and its content from the start."""

    name: str
    content: IO[bytes]


def get_upload_folder(workspace: Path, job: str) -> Path:
    """Return the folder for the files of a job."""
    return workspace / _UPLOADS_FOLDER / job


def store_files(files: Sequence[ReceivedFile], folder: Path) -> tuple[Path, ...]:
    """Copy files into a new folder and return their paths.

    Raises:
        SetupError: a file is not RDF by name and content, or there are no files.
    """
    if not files:
        raise SetupError("no file was sent: send one or more as 'files'")
    folder.mkdir(parents=True)
    return tuple(_store_file(file, number, folder) for number, file in enumerate(files, 1))


def find_uploads(workspace: Path, settings: GraphSettings) -> Path | None:
    """Return the folder of uploads that a graph was read from; None for other graphs."""
    folders = {Path(source).parent for source in settings.sources}
    uploads = workspace / _UPLOADS_FOLDER
    return next((folder for folder in folders if folder.parent == uploads), None)


def remove_orphans(
    workspace: Path,
    graphs: Iterable[GraphSettings],
    *,
    jobs: Collection[str] = (),
    before: float = 0.0,
) -> None:
    """Remove uploads of no graph that belong to these jobs or are older than `before`.

    Args:
        before: seconds since the epoch.
    """
    used_folders = {find_uploads(workspace, settings) for settings in graphs}
    for folder in (workspace / _UPLOADS_FOLDER).glob("*"):
        if folder in used_folders or not folder.is_dir():
            continue
        if folder.name in jobs or folder.stat().st_mtime < before:
            shutil.rmtree(folder, ignore_errors=True)


def _store_file(file: ReceivedFile, number: int, folder: Path) -> Path:
    head = file.content.read(_SNIFFED_BYTES)
    file.content.seek(0)
    if head.startswith(_ARCHIVE_MAGIC):
        raise SetupError(
            f"{_clip_name(file.name)} is an archive: send the files in it, each compressed "
            "with gzip, bzip2 or xz, or in a ZIP archive"
        )
    compressions = (suffix for magic, suffix in _SUFFIX_BY_MAGIC.items() if head.startswith(magic))
    compression = next(compressions, "")
    path = folder / f"{number:02}{compression}"
    with path.open("xb") as out:
        shutil.copyfileobj(file.content, out, 1 << 20)
    if compression:
        head = next(read_unpacked(path, chunk_bytes=_SNIFFED_BYTES), b"")
    stem, suffix = _split_name(file.name)
    suffix = ".zip" if head.startswith(b"PK\x03\x04") else suffix or _guess_suffix(head)
    if not suffix:
        raise SetupError(
            f"{_clip_name(file.name)} has an unknown file type; supported: "
            f"{', '.join(READABLE_SUFFIXES)}, each also compressed with gzip, bzip2 or xz"
        )
    target = folder / f"{stem}{suffix}{compression}"
    numbered_target = folder / f"{number:02}-{stem}{suffix}{compression}"
    return path.rename(numbered_target if target.exists() else target)


def _split_name(name: str) -> tuple[str, str]:
    """Return the sanitized stem of a file name, and its suffix if it names a format."""
    file_name = re.split(r"[/\\]", name)[-1]
    for packed_suffix in _SUFFIX_BY_MAGIC.values():
        file_name = file_name.removesuffix(packed_suffix)
    stem, dot, suffix = file_name.rpartition(".")
    suffix = f".{suffix.lower()}" if dot else ""
    format_suffix = suffix if suffix in (*READABLE_SUFFIXES, ".zip") else ""
    safe_stem = re.sub(r"[^\w-]+", "-", stem if format_suffix else file_name).strip("-")[
        :_MAX_NAME_CHARACTERS
    ]
    return safe_stem or "file", format_suffix


def _guess_suffix(head: bytes) -> str:
    """Return the suffix of the format that the content starts like, or ""."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith((b"<?xml", b"<!DOCTYPE", b"<rdf:RDF")):
        return ".rdf"
    if text.startswith((b"{", b"[")):
        return ".jsonld"
    if _FOUR_TERMS.search(text):
        return ".nq"
    if re.match(rb"(@prefix|@base|PREFIX\s|BASE\s)", text, re.I) or _THREE_TERMS.search(text):
        return ".ttl"
    return ""


def _clip_name(name: str) -> str:
    return repr(name[-80:])


def remove_graph(workspace: Workspace, name: str, job: str) -> None:
    """Remove the uploads of a job, and the graph if it was read from them.

    A graph of this name from another source stays.
    """
    folder, data = workspace.folder, workspace.get_data_folder(name)
    uploads = get_upload_folder(folder, job)
    with lock_file(folder / "uploads" / ".locks" / name):
        settings = workspace.graphs().get(name)
        if settings is not None and find_uploads(folder, settings) == uploads:
            workspace.remove(name)
            settings = None
        shutil.rmtree(uploads, ignore_errors=True)
        if settings is not None:
            return
        for temporary_folder in data.parent.glob(f".{data.name}~*~*"):
            shutil.rmtree(temporary_folder, ignore_errors=True)
        shutil.rmtree(data, ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            data.with_name(f".{name}.answers.jsonl").unlink()


_CHUNK_BYTES = 1 << 20
_UNPACK_ERRORS = (zlib.error, lzma.LZMAError, zipfile.BadZipFile, RuntimeError)
_UNPACKERS: dict[str, Callable[[Any], BufferedIOBase]] = {
    ".gz": gzip.open,
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
}


def check_files(files: Sequence[Path], *, max_bytes: int) -> None:
    """Check that files can be unpacked and are within `max_bytes` in total.

    Raises:
        TooLarge: the unpacked files have more bytes.
        SetupError: a file cannot be unpacked, or has entities that expand.
    """
    remaining_bytes = max_bytes
    for file in files:
        for chunk in read_unpacked(file):
            remaining_bytes -= len(chunk)
            if remaining_bytes < 0:
                raise TooLarge(
                    f"{file.name} makes the upload larger than {max_bytes // 2**20:,} MB, "
                    "unpacked: remove some files, or ask the operator to raise upload_mb"
                )
        check_xml_elements(file.name, read_unpacked(file, chunk_bytes=1 << 16))


def read_unpacked(file: Path, *, chunk_bytes: int = _CHUNK_BYTES) -> Iterator[bytes]:
    """Yield the unpacked content of a file, or of all files in a ZIP archive, in chunks."""
    try:
        for packed in _open_packed(file):
            unpacker = _UNPACKERS.get(Path(packed.name).suffix.lower())
            with packed, unpacker(packed) if unpacker else packed as stream:
                while data := stream.read(chunk_bytes):
                    yield data
    except (*_UNPACK_ERRORS, OSError, EOFError) as problem:
        raise SetupError(f"{file.name} cannot be unpacked: {problem}") from problem


def _open_packed(file: Path) -> Iterator[IO[bytes]]:
    if file.suffix != ".zip":
        yield file.open("rb")
        return
    with zipfile.ZipFile(file) as archive:
        yield from map(archive.open, archive.namelist())
