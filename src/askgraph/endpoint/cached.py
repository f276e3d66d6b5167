"""An endpoint that remembers on disk what another one answered."""

import asyncio
import contextlib
import hashlib
import json
import os
import re
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

from askgraph.endpoint import Endpoint
from askgraph.sparql.result_formats import Result, from_json, to_json
from askgraph.sparql.results import GraphResult, SelectResult

__all__ = ["CachedEndpoint"]

Kind = TypeVar("Kind", SelectResult, GraphResult, bool)

_VERSION = "askgraph-1"
_MOODY = re.compile(r"\b(?:NOW|RAND|UUID|STRUUID)\s*\(", re.IGNORECASE)


class CachedEndpoint:
    """Asks `inner` once, and gives the same answer for `max_age` seconds.

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
        self._inner = inner
        self._folder = Path(folder)
        self._max_bytes = max_bytes
        self._max_age = max_age
        self._variant = variant
        self._size: int | None = None

    @property
    def address(self) -> str:
        """The address of the endpoint that is asked."""
        return self._inner.address

    async def select(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> SelectResult:
        """Run a SELECT query, or remember its answer."""
        found, key = await self._found("SELECT", query, limit)
        if isinstance(found, SelectResult):
            return found
        return await self._kept(key, self._inner.select(query, timeout=timeout, limit=limit), limit)

    async def ask(self, query: str, *, timeout: float | None = None) -> bool:
        """Run an ASK query, or remember its answer."""
        found, key = await self._found("ASK", query, None)
        if isinstance(found, bool):
            return found
        return await self._kept(key, self._inner.ask(query, timeout=timeout), None)

    async def construct(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> GraphResult:
        """Run a CONSTRUCT query, or remember its answer."""
        found, key = await self._found("CONSTRUCT", query, limit)
        if isinstance(found, GraphResult):
            return found
        asked = self._inner.construct(query, timeout=timeout, limit=limit)
        return await self._kept(key, asked, limit)

    async def describe(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> GraphResult:
        """Run a DESCRIBE query, or remember its answer."""
        found, key = await self._found("DESCRIBE", query, limit)
        if isinstance(found, GraphResult):
            return found
        asked = self._inner.describe(query, timeout=timeout, limit=limit)
        return await self._kept(key, asked, limit)

    async def close(self) -> None:
        """Close the endpoint that is asked; the answers stay."""
        await self._inner.close()

    async def _found(self, form: str, query: str, limit: int | None) -> tuple[Result | None, str]:
        key = json.dumps([_VERSION, self.address, self._variant, form, query.strip(), limit])
        if _MOODY.search(query):
            return None, ""
        return await asyncio.to_thread(self._read, key), key

    async def _kept(self, key: str, asked: Awaitable[Kind], limit: int | None) -> Kind:
        result = await asked
        if key and _lasting(result, limit):
            with contextlib.suppress(OSError):  # a full disk costs speed, not the answer
                await asyncio.to_thread(self._write, key, result)
        return result

    def _file(self, key: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()
        return self._folder / name[:2] / f"{name}.json"

    def _read(self, key: str) -> Result | None:
        """Return what is kept under a key; None if there is nothing, or nothing sound."""
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
        file = self._file(key)
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, suffix=".partial")
        try:
            with os.fdopen(handle, "wb") as to:
                to.write(data)
            Path(name).replace(file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        self._make_room(len(data))

    def _make_room(self, added: int) -> None:
        if self._size is None or self._size + added > self._max_bytes:
            self._size = _trimmed(self._folder, self._max_bytes)
        else:
            self._size += added


def _lasting(result: Result, limit: int | None) -> bool:
    """Tell whether a result is complete, or cut only if the caller wanted it cut."""
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
