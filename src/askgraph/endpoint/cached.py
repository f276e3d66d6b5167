"""An endpoint that stores the answers of another one on disk."""

import asyncio
import contextlib
import hashlib
import json
import os
import re
import time
from pathlib import Path

from askgraph.atomic_files import write_private
from askgraph.endpoint import Delegating, Endpoint, Kind, Run
from askgraph.sparql.judge import EndpointRequest
from askgraph.sparql.results import Result, from_json, to_json

__all__ = ["CachedEndpoint"]

_VERSION = "askgraph-1"
_MOODY = re.compile(r"\b(?:NOW|RAND|UUID|STRUUID)\s*\(", re.IGNORECASE)


class CachedEndpoint(Delegating):
    """Asks `inner` once, and returns the same answer for `max_age` seconds.

    One small file an answer, written whole or not at all, so that several processes may share the
    folder; a damaged file is asked for again. Beyond `max_bytes` those unused for longest go.
    Never kept are failures, what a server or the default row cap cut off, and queries whose answer
    changes by itself (NOW, RAND, UUID). `variant` tells apart endpoints of one address with
    different settings, such as the graphs that they read.
    """

    def __init__(
        self,
        inner: Endpoint,
        folder: Path | str,
        *,
        max_bytes: int = 200 * 1024 * 1024,
        max_age: float = 24 * 3600.0,
        variant: str = "",
    ) -> None:
        super().__init__(inner)
        self._folder = Path(folder)
        self._max_bytes = max_bytes
        self._max_age = max_age
        self._variant = variant
        self._size: int | None = None
        self.services: frozenset[str] = getattr(inner, "services", frozenset())

    async def _run(self, asked: EndpointRequest, kind: type[Kind], run: Run[Kind]) -> Kind:
        query, limit = asked.query, asked.limit
        key = json.dumps([_VERSION, self.address, self._variant, asked.form, query.strip(), limit])
        lasting = not _MOODY.search(query)
        found = await asyncio.to_thread(self._read, key) if lasting else None
        if isinstance(found, kind):
            return found
        result = await run(self._inner, query, asked.timeout)
        if lasting and _lasting(result, limit):
            with contextlib.suppress(OSError):  # a full disk costs speed, not the answer
                await asyncio.to_thread(self._write, key, result)
        return result

    def _file(self, key: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()
        return self._folder / name[:2] / f"{name}.json"

    def _read(self, key: str) -> Result | None:
        """Return the result stored under a key; None if there is none, or none sound."""
        file = self._file(key)
        try:
            head, _, body = file.read_bytes().partition(b"\n")
            known = json.loads(head)
            fresh = 0 <= time.time() - known["time"] <= self._max_age
            sound = known["key"] == key and known["sha256"] == hashlib.sha256(body).hexdigest()
            if not (fresh and sound):
                return None
            os.utime(file)
            return from_json(json.loads(body))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _write(self, key: str, result: Result) -> None:
        body = json.dumps(to_json(result), ensure_ascii=False).encode()
        known = {"key": key, "time": time.time(), "sha256": hashlib.sha256(body).hexdigest()}
        data = json.dumps(known).encode() + b"\n" + body
        if len(data) > self._max_bytes // 4:
            return
        write_private(self._file(key), data)
        added = len(data)
        if self._size is None or self._size + added > self._max_bytes:
            self._size = _trimmed(self._folder, self._max_bytes)
        else:
            self._size += added


def _lasting(result: Result, limit: int | None) -> bool:
    """Return whether a result is complete, or cut only because the caller wanted it."""
    if isinstance(result, bool) or result.truncated is None:
        return True
    return result.truncated.by == "askgraph" and limit is not None


def _trimmed(folder: Path, max_bytes: int) -> int:
    """Remove the files unused for longest until the rest takes 80 %; return the bytes left."""
    files = list[tuple[float, int, Path]]()
    for file in folder.glob("*/*"):
        with contextlib.suppress(OSError):  # another process took it away
            known = file.stat()
            files.append((known.st_mtime, known.st_size, file))
    size = sum(bytes_ for _, bytes_, _ in files)
    if size <= max_bytes:
        return size
    for _, bytes_, file in sorted(files):
        if size <= max_bytes * 0.8:
            break
        file.unlink(missing_ok=True)
        size -= bytes_
    return size
