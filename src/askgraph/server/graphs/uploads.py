"""Uploaded files on disk: under their names, with their formats, and within bounds unpacked.

The name that its sender gives a file is used in messages and as a hint at its format, never as a
path. The content decides whether it is packed, and its format if the name has none.
"""

import bz2
import contextlib
import gzip
import lzma
import re
import shutil
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import IO

from askgraph.atomic_files import lock_file
from askgraph.errors import SetupError
from askgraph.server.problems import TooLarge
from askgraph.sparql.rdf_files import FORMATS, check_elements
from askgraph.workspace import Workspace
from askgraph.workspace.settings import GraphSettings

_FOLDER = "uploads"
_PACKED = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz"}
_ARCHIVES = (b"PK\x03\x04", b"Rar!", b"7z\xbc\xaf")
_START = 4096
_LONGEST = 60  # characters of a name, of up to four bytes each
_FOUR_TERMS = re.compile(rb"^\s*(<[^>]*>|_:\S+)\s+<[^>]*>\s+.+?\s(<[^>]*>|_:\S+)\s*\.\s*$", re.M)
_THREE_TERMS = re.compile(rb"^\s*(<[^>]*>|_:\S+)\s+<[^>]*>\s+\S.*\.\s*$", re.M)


@dataclass(frozen=True)
class Sent:
    """A file as it was sent: its sender's name for it, and its content from the start."""

    name: str
    content: IO[bytes]


def upload_folder(workspace: Path, job: str) -> Path:
    """Return the folder in which the files of a job lie, and then stay."""
    return workspace / _FOLDER / job


def store_files(files: Sequence[Sent], folder: Path) -> tuple[Path, ...]:
    """Copy files into a new folder; `SetupError` for one that is no RDF by name and content."""
    if not files:
        raise SetupError("no file was sent: send one or more as 'files'")
    folder.mkdir(parents=True)
    return tuple(_store_file(sent, number, folder) for number, sent in enumerate(files, 1))


def uploads_of(workspace: Path, settings: GraphSettings) -> Path | None:
    """Return the folder of uploaded files that a graph was read from; None for other graphs."""
    places = {Path(source).parent for source in settings.sources}
    uploads = workspace / _FOLDER
    return next((place for place in places if place.parent == uploads), None)


def clear_orphans(
    workspace: Path,
    graphs: Iterable[GraphSettings],
    *,
    jobs: Collection[str] = (),
    before: float = 0.0,
) -> None:
    """Remove uploads of no graph, of these jobs or older than `before` (seconds of the clock)."""
    used = {uploads_of(workspace, settings) for settings in graphs}
    for folder in (workspace / _FOLDER).glob("*"):
        if folder in used or not folder.is_dir():
            continue
        if folder.name in jobs or folder.stat().st_mtime < before:
            shutil.rmtree(folder, ignore_errors=True)


def _store_file(sent: Sent, number: int, folder: Path) -> Path:
    start = sent.content.read(_START)
    sent.content.seek(0)
    if start.startswith(_ARCHIVES):
        raise SetupError(
            f"{_shown(sent.name)} is an archive: send the files in it, each packed by gzip, bzip2,"
            " xz or not at all"
        )
    packed = next((ending for magic, ending in _PACKED.items() if start.startswith(magic)), "")
    received = folder / f"{number:02}{packed}"
    with received.open("xb") as out:
        shutil.copyfileobj(sent.content, out, 1 << 20)
    if packed:
        start = next(unpack(received, part=_START), b"")
    stem, suffix = _split_name(sent.name)
    suffix = suffix or _guess_suffix(start)
    if not suffix:
        raise SetupError(
            f"{_shown(sent.name)} is of no known kind; known are {', '.join(FORMATS)}, each also"
            " packed by gzip, bzip2 or xz"
        )
    own = folder / f"{stem}{suffix}{packed}"
    other = folder / f"{number:02}-{stem}{suffix}{packed}"
    return received.rename(other if own.exists() else own)


def _split_name(name: str) -> tuple[str, str]:
    """The name of a file, in letters and digits, and its suffix if it is that of a format."""
    last = re.split(r"[/\\]", name)[-1]
    for ending in _PACKED.values():
        last = last.removesuffix(ending)
    stem, dot, suffix = last.rpartition(".")
    suffix = f".{suffix.lower()}" if dot else ""
    known = suffix if suffix in FORMATS else ""
    plain = re.sub(r"[^\w-]+", "-", stem if known else last).strip("-")[:_LONGEST]
    return plain or "file", known


def _guess_suffix(start: bytes) -> str:
    """The suffix of the format that a file begins like, empty if none."""
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith((b"<?xml", b"<!DOCTYPE", b"<rdf:RDF")):
        return ".rdf"
    if text.startswith((b"{", b"[")):
        return ".jsonld"
    if _FOUR_TERMS.search(text):
        return ".nq"
    if re.match(rb"(@prefix|@base|PREFIX\s|BASE\s)", text, re.I) or _THREE_TERMS.search(text):
        return ".ttl"
    return ""


def _shown(name: str) -> str:
    return repr(name[-80:])


def clear_graph(workspace: Workspace, name: str, job: str) -> None:
    """Remove the uploads of a job, with the graph if it was read from them already.

    A graph of this name that was read from elsewhere is another one, and stays.
    """
    folder, data = workspace.folder, workspace.data(name)
    uploads = upload_folder(folder, job)
    with lock_file(folder / "uploads" / ".locks" / name):
        there = workspace.graphs().get(name)
        if there is not None and uploads_of(folder, there) == uploads:
            workspace.remove(name)
            there = None
        shutil.rmtree(uploads, ignore_errors=True)
        if there is not None:
            return
        for left in data.parent.glob(f".{data.name}~*~*"):
            shutil.rmtree(left, ignore_errors=True)
        shutil.rmtree(data, ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            data.with_name(f".{name}.answers.jsonl").unlink()


_PART = 1 << 20
_UNPACKERS: dict[str, Callable[[Path], BufferedIOBase]] = {
    ".gz": gzip.GzipFile,
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
}


def check_files(files: Sequence[Path], *, most: int) -> None:
    """Raise `TooLarge` if files have more than so many bytes in all, unpacked.

    Raises `SetupError` for a file that cannot be unpacked, and for entities that grow.
    """
    left = most
    for file in files:
        for part in unpack(file):
            left -= len(part)
            if left < 0:
                raise TooLarge(
                    f"{file.name} makes it more than {most // 2**20:,} MB, unpacked: leave"
                    " something out, or ask the operator to raise upload_mb"
                )
        check_elements(file.name, unpack(file, part=1 << 16))


def unpack(file: Path, *, part: int = _PART) -> Iterator[bytes]:
    """Yield the content of a file in parts; `SetupError` if it cannot be unpacked."""
    try:
        unpacker = _UNPACKERS.get(file.suffix)
        with unpacker(file) if unpacker else file.open("rb") as stream:
            while data := stream.read(part):
                yield data
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as problem:
        raise SetupError(f"{file.name} cannot be unpacked: {problem}") from problem
