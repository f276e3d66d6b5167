"""Bounds on uploaded files, counted as they unpack: kilobytes may become terabytes."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, cast
from xml.parsers import expat

from askgraph.errors import SetupError
from askgraph.serve.problems import TooLarge

_PART = 1 << 20
_ENTITIES = 1000  # that a document may define
_LONGEST_ENTITY = 1000  # characters of one
_PREDEFINED = ("&#", "&amp;", "&lt;", "&gt;", "&quot;", "&apos;")


def check_files(files: Sequence[Path], *, most: int) -> None:
    """Raise `TooLarge` if files have more than so many bytes in all, unpacked.

    Raises `SetupError` for a file that cannot be unpacked, and for entities that grow.
    """
    left = most
    for file in files:
        for part in unpacked(file):
            left -= len(part)
            if left < 0:
                raise TooLarge(
                    f"{file.name} makes it more than {most // 2**20:,} MB, unpacked: leave"
                    " something out, or ask the operator to raise upload_mb"
                )
        check_entities(file.name, unpacked(file, part=1 << 16))


def unpacked(file: Path, *, part: int = _PART) -> Iterator[bytes]:
    """Yield the content of a file in parts; `SetupError` if it cannot be unpacked."""
    try:
        with ExitStack() as stack:
            stream = stack.enter_context(_opened(file))
            while data := stream.read(part):
                yield data
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as problem:
        raise SetupError(f"{file.name} cannot be unpacked: {problem}") from problem


def _opened(file: Path) -> IO[bytes]:
    match file.suffix:
        case ".gz":
            return cast("IO[bytes]", gzip.open(file))
        case ".bz2":
            return bz2.BZ2File(file)
        case ".xz":
            return lzma.LZMAFile(file)
        case _:
            return file.open("rb")


def check_entities(name: str, parts: Iterator[bytes]) -> None:
    """Raise `SetupError` if a document of XML defines entities by others, by files or at length.

    Only what stands before its first element is looked at. What is no XML, or broken, passes: that
    is for the reader of RDF to say.
    """
    first = next(parts, b"")
    if b"<" not in first[:1024]:
        return
    definitions = _Definitions(name)
    parser = expat.ParserCreate()
    parser.EntityDeclHandler = definitions.entity
    parser.StartElementHandler = definitions.begun
    try:
        parser.Parse(first, False)
        for part in parts:
            parser.Parse(part, False)
    except (_Begun, expat.ExpatError):
        return


class _Begun(Exception):
    """The document itself begins: no more definitions come."""


class _Definitions:
    """Looks at each definition of an entity."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._seen = 0

    def entity(self, name: str, parameter: bool, value: str | None, *_: object) -> None:
        self._seen += 1
        if self._seen > _ENTITIES:
            raise SetupError(f"{self._name} defines more than {_ENTITIES:,} entities")
        if parameter or value is None or _grows(value):
            raise SetupError(
                f"{self._name} defines the entity {name[:40]!r} by others, by a file or at great"
                " length, which may grow beyond bounds: write it out"
            )

    def begun(self, *_: object) -> None:
        raise _Begun


def _grows(value: str) -> bool:
    for known in _PREDEFINED:
        value = value.replace(known, "")
    return "&" in value or len(value) > _LONGEST_ENTITY
