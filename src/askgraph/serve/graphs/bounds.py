"""How large uploaded files may be: counted as they unpack, for kilobytes may become terabytes."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, cast

from askgraph.errors import SetupError
from askgraph.serve.graphs.entities import check_entities
from askgraph.serve.problems import TooLarge

__all__ = ["check_files", "unpacked"]

_PART = 1 << 20


def check_files(files: Sequence[Path], *, most: int) -> None:
    """Raise `TooLarge` where files have more than so many bytes in all, unpacked.

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
    """Yield the content of a file in parts; `SetupError` where it cannot be unpacked."""
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
