"""The file of the pointer writer's weights: a header, then arrays of the shapes that it says."""

import json
import lzma
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import IO, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from askgraph.writing.pointer.network import Settings, shapes

UNREADABLE = (
    OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError, SyntaxError, struct.error,
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, tokenize.TokenError,
)  # fmt: skip
"""What reading a file raises that is damaged or something else."""

_HEADER = "header"
_VERSION = 1
_MOST = 4_096
_LONGEST = 1_000_000
Floats = NDArray[np.float32]


def stored(path: Path | str) -> tuple[dict[str, Floats], Settings, dict[str, object]]:
    """Read weights, their sizes, and what is said about them; raises one of `UNREADABLE`.

    What a file declares is judged before memory is taken for it.
    """
    with zipfile.ZipFile(path) as archive:
        header = _header(archive)
        settings = _settings(header["settings"])
        expected = shapes(settings)
        if {name.removesuffix(".npy") for name in archive.namelist()} != {_HEADER, *expected}:
            raise ValueError("its arrays have other names")
        weights = {name: _array(archive, name, shape) for name, shape in expected.items()}
    about = header.get("about", {})
    if not isinstance(about, dict):
        raise ValueError("its header is of another kind")
    return weights, settings, about


def saved(
    file: BinaryIO, weights: Mapping[str, Floats], settings: Settings, about: Mapping[str, object]
) -> None:
    """Write weights with their header, as `stored` reads them."""
    sizes = {one.name: getattr(settings, one.name) for one in fields(Settings)}
    header = json.dumps({"version": _VERSION, "settings": sizes, "about": dict(about)})
    arrays = {
        name: np.ascontiguousarray(value, dtype=np.float32) for name, value in weights.items()
    }
    np.savez_compressed(file, allow_pickle=False, **{_HEADER: np.array(header)}, **arrays)


def _header(archive: zipfile.ZipFile) -> dict[str, object]:
    with archive.open(f"{_HEADER}.npy") as file:
        shape, kind = _declared(file)
        if shape != () or kind.kind != "U" or kind.itemsize > _LONGEST:
            raise ValueError("its header is of another kind")
        text = file.read(kind.itemsize + 1)
    if len(text) != kind.itemsize:
        raise ValueError("its header is cut off")
    found = json.loads(str(np.frombuffer(text, kind)[0]))
    if not isinstance(found, dict) or found.get("version") != _VERSION:
        raise ValueError(f"it is not of version {_VERSION}")
    return found


def _settings(sizes: object) -> Settings:
    """The sizes that a header says; no larger than any sound one."""
    names = {one.name for one in fields(Settings)}
    if not isinstance(sizes, dict) or sizes.keys() != names:
        raise ValueError("its header names other sizes")
    if not all(type(size) is int and 1 <= size <= _MOST for size in sizes.values()):
        raise ValueError(f"its sizes are not numbers from 1 to {_MOST:,}")
    settings = Settings(**sizes)
    if settings.width % settings.heads:
        raise ValueError("its width cannot be parted among its heads")
    return settings


def _array(archive: zipfile.ZipFile, name: str, shape: tuple[int, ...]) -> Floats:
    with archive.open(f"{name}.npy") as file:
        declared, kind = _declared(file)
        if declared != shape or kind != np.float32:
            raise ValueError(f"its array {name!r} is of another shape or type")
        size = int(np.prod(shape)) * kind.itemsize
        content = file.read(size + 1)
    if len(content) != size:
        raise ValueError(f"its array {name!r} is cut off")
    found: Floats = np.frombuffer(content, kind).reshape(shape).copy()
    if not np.isfinite(found).all():
        raise ValueError(f"its array {name!r} holds what is no number")
    return found


def _declared(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[np.generic]]:
    """The shape and type of an array, from the head of its file."""
    version = npy.read_magic(file)
    if version != (1, 0):
        raise ValueError("its arrays are of another format")
    shape, in_columns, kind = npy.read_array_header_1_0(file)
    if in_columns and len(shape) > 1:
        raise ValueError("its arrays are in another order")
    return shape, kind
