"""Parts of an array on disk, mapped into memory only while they are used."""

import mmap
import weakref
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Window"]


class Window:
    """An array of which slices are taken: what was searched before does not stay in memory."""

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
