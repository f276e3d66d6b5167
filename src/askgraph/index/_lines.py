"""A file of lines, read one at a time at any place, by several threads."""

import os
import threading
import weakref
from pathlib import Path

__all__ = ["Lines"]

_AT_FIRST = 512


class Lines:
    """Stays open, so that lines are those of this file although another takes its name."""

    def __init__(self, path: Path) -> None:
        file = path.open("rb", buffering=0)
        self._file = file
        self._lock = threading.Lock()
        weakref.finalize(self, file.close)

    def line_at(self, start: int) -> bytes:
        """Return the line that starts at this byte, without its end."""
        size, line = _AT_FIRST, b""
        with self._lock:
            self._file.seek(start, os.SEEK_SET)
            while part := self._file.read(size):
                line += part
                if b"\n" in part:
                    break
                size *= 4
        return line.partition(b"\n")[0]
