"""An endpoint that caches the answers of another one on disk."""

import asyncio
import contextlib
import hashlib
import json
import os
import re
import time
from pathlib import Path

from askgraph.atomic_files import write_private
from askgraph.endpoint import Endpoint, EndpointWrapper, Kind, RunOnEndpoint
from askgraph.sparql.judge import EndpointRequest
from askgraph.sparql.results import Result, from_json, to_json

__all__ = ["CachedEndpoint"]

_CACHE_VERSION = "askgraph-1"
_VOLATILE_PATTERN = re.compile(r"\b(?:NOW|RAND|UUID|STRUUID)\s*\(", re.IGNORECASE)


class CachedEndpoint(EndpointWrapper):
    """Caches each answer of `inner` for `max_age` seconds.

    There is one small file for each answer, written completely or not at all, so that several
    processes can share the folder; a damaged file is ignored. Beyond `max_bytes` the least
    recently used files are removed. Failures are never cached, nor are results truncated by a
    server or by the default row limit, nor queries with volatile answers (NOW, RAND, UUID).
    `variant` distinguishes endpoints of one address with different settings, such as their graphs.
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

    async def _run_request(
        self, request: EndpointRequest, kind: type[Kind], run: RunOnEndpoint[Kind]
    ) -> Kind:
        query, limit = request.query, request.limit
        key = json.dumps(
            [_CACHE_VERSION, self.address, self._variant, request.form, query.strip(), limit]
        )
        is_cacheable = not _VOLATILE_PATTERN.search(query)
        cached = await asyncio.to_thread(self._read, key) if is_cacheable else None
        if isinstance(cached, kind):
            return cached
        result = await run(self._inner, query, request.timeout)
        if is_cacheable and _is_cacheable(result, limit):
            with contextlib.suppress(OSError):  # a full disk costs speed, not the answer
                await asyncio.to_thread(self._write, key, result)
        return result

    def _build_path(self, key: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()
        return self._folder / name[:2] / f"{name}.json"

    def _read(self, key: str) -> Result | None:
        """Return the cached result of a key; None if it is missing, expired or damaged."""
        file = self._build_path(key)
        try:
            head, _, body = file.read_bytes().partition(b"\n")
            header = json.loads(head)
            is_fresh = 0 <= time.time() - header["time"] <= self._max_age
            is_intact = (
                header["key"] == key and header["sha256"] == hashlib.sha256(body).hexdigest()
            )
            if not (is_fresh and is_intact):
                return None
            os.utime(file)
            return from_json(json.loads(body))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _write(self, key: str, result: Result) -> None:
        body = json.dumps(to_json(result), ensure_ascii=False).encode()
        header = {"key": key, "time": time.time(), "sha256": hashlib.sha256(body).hexdigest()}
        data = json.dumps(header).encode() + b"\n" + body
        if len(data) > self._max_bytes // 4:
            return
        write_private(self._build_path(key), data)
        if self._size is not None and self._size + len(data) <= self._max_bytes:
            self._size += len(data)
            return
        files = list[tuple[float, int, Path]]()
        for file in self._folder.glob("*/*"):
            with contextlib.suppress(OSError):  # another process may have removed it
                stats = file.stat()
                files.append((stats.st_mtime, stats.st_size, file))
        self._size = sum(bytes_ for _, bytes_, _ in files)
        limit = self._max_bytes if self._size <= self._max_bytes else 0.8 * self._max_bytes
        for _, bytes_, file in sorted(files):
            if self._size <= limit:
                break
            file.unlink(missing_ok=True)
            self._size -= bytes_


def _is_cacheable(result: Result, limit: int | None) -> bool:
    """Return whether a result is complete, or truncated only at the caller's limit."""
    if isinstance(result, bool) or result.truncated is None:
        return True
    return result.truncated.by == "askgraph" and limit is not None
