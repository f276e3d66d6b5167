"""A file of RDF that describes a graph, packed or not, read into statements."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

from askgraph.errors import SetupError
from askgraph.rdf.formats import FORMATS
from askgraph.rdf.statements import Statements

__all__ = ["read_statements"]

_PACKED: Mapping[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
}


def read_statements(path: Path) -> Statements:
    """Read an RDF file, packed or not; `SetupError` where it is missing, unknown or wrong."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    unpacked = _PACKED.get(suffixes[-1] if suffixes else "")
    kind = FORMATS.get("".join((suffixes[:-1] if unpacked else suffixes)[-1:]))
    if kind is None:
        raise SetupError(f"{str(path)!r} is of no known kind: {', '.join(FORMATS)}, or packed")
    try:
        text = path.read_bytes()
        text = unpacked(text) if unpacked else text
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise SetupError(f"{str(path)!r} cannot be read: {error}") from error
    return Statements.parsed(text, kind, base=path.absolute().as_uri())
