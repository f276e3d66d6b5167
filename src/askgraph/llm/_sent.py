"""A log of what is sent to model servers: a line of JSON a request, written before it goes out."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import httpx2

from askgraph.errors import SetupError

__all__ = ["SentLog"]


class SentLog:
    """Appends to a file that its owner alone can read.

    A line has the `time`, the `address` without parameters, the number of `bytes` and the `body` as
    text; no headers, as they hold the key. Making it raises `SetupError` where the file cannot be
    written, and so does a request then: what cannot be logged is not sent.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._append(b"")

    async def note(self, request: httpx2.Request) -> None:
        """Write down a request that is about to be sent."""
        body, url = await request.aread(), request.url
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "address": f"{url.scheme}://{url.netloc.decode()}{url.path}",
            "bytes": len(body),
            "body": body.decode(errors="backslashreplace"),
        }
        self._append(json.dumps(line, ensure_ascii=False).encode() + b"\n")

    def _append(self, line: bytes) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.fchmod(file, 0o600)
                left = memoryview(line)
                while left:
                    left = left[os.write(file, left) :]
            finally:
                os.close(file)
        except OSError as error:
            raise SetupError(
                f"what is sent cannot be logged in {str(self._path)!r}: {error.strerror}; name "
                "another file in `sent`, or none"
            ) from error
