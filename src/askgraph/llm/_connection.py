"""HTTP connections to one model server: one client an event loop, and a cap on every reply."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Generic, TypeVar

import httpx2

from askgraph.errors import MalformedReply, SetupError

__all__ = ["Connection", "checked_url"]

Library = TypeVar("Library")
MAX_BYTES = 8 * 2**20  # of one reply, as it comes over the wire


def checked_url(url: str) -> str:
    """Return a base URL; `SetupError` for what is none or holds a password or parameters."""
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL as problem:
        raise SetupError(f"base_url {url!r} is no URL: {problem}") from problem
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise SetupError(f"base_url {url!r} is no http or https URL")
    if parsed.userinfo or parsed.query:
        raise SetupError(
            f"the base_url of {parsed.host} holds a password or parameters: take them out and name"
            " the environment variable of the key with key_env"
        )
    return str(parsed).rstrip("/")


class Connection(Generic[Library]):
    """Lends the client library of the running event loop, made by `make` over an HTTP client.

    `transport` takes the network's place. `sent` is the file in which all requests are logged.
    """

    def __init__(
        self,
        make: Callable[[httpx2.AsyncClient], Library],
        *,
        connect_timeout: float,
        transport: httpx2.AsyncBaseTransport | None,
        sent: Path | None = None,
    ) -> None:
        self._make = make
        self._sent = SentLog(sent) if sent else None
        self._timeout = httpx2.Timeout(None, connect=connect_timeout)
        self._given = transport
        self._open: _Open[Library] | None = None

    def library(self) -> Library:
        """Return the client library; the same one as long as the event loop is the same."""
        loop = asyncio.get_running_loop()
        if self._open is None or self._open.loop is not loop:
            client = httpx2.AsyncClient(
                transport=self._given,
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100),
                timeout=self._timeout,
                headers={
                    "User-Agent": f"askgraph/{version('askgraph')}",
                    "Accept-Encoding": "identity",  # what is capped is what is read
                },
                event_hooks={
                    "request": [self._sent.note] if self._sent else [],
                    "response": [_bound],
                },
            )
            self._open = _Open(loop, client, self._make(client))
        return self._open.library

    async def close(self) -> None:
        """Close the connections that belong to the running event loop."""
        open_, self._open = self._open, None
        if open_ and open_.loop is asyncio.get_running_loop():
            await open_.client.aclose()


@dataclass(frozen=True)
class _Open(Generic[Library]):
    loop: asyncio.AbstractEventLoop
    client: httpx2.AsyncClient
    library: Library


async def _bound(response: httpx2.Response) -> None:
    """Let a reply that has more bytes than allowed end with `MalformedReply`."""
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    url = response.request.url
    address = f"{url.scheme}://{url.netloc.decode()}"
    response.stream = _BoundedStream(response.stream, MAX_BYTES, address)


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, most: int, address: str) -> None:
        self._inner = inner
        self._most = most
        self._address = address

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._parts()

    async def _parts(self) -> AsyncGenerator[bytes, None]:
        size = 0
        async for part in self._inner:
            size += len(part)
            if size > self._most:
                raise MalformedReply(
                    f"the reply of {self._address} is larger than {self._most / 2**20:g} MiB"
                )
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()


class SentLog:
    """Appends to a file that its owner alone can read.

    A line has the `time`, the `address` without parameters, the number of `bytes` and the `body` as
    text; no headers, as they hold the key. Making it raises `SetupError` if the file cannot be
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
