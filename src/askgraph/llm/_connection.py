"""Model servers: their settings, connections and failures, a cap on replies, a log of requests."""

import asyncio
import json
import os
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

import httpx2

from askgraph.deadline import parse_retry_after
from askgraph.errors import (
    AskgraphError,
    ErrorReply,
    MalformedReply,
    Overloaded,
    PromptTooLong,
    ServiceError,
    SetupError,
    TimedOut,
    Unauthorised,
    Unreachable,
)
from askgraph.llm import Identity
from askgraph.llm._streams import Assembly, Stream, timed

Library = TypeVar("Library")
MAX_BYTES = 8 * 2**20  # of one reply, as it comes over the wire


@dataclass(eq=False, repr=False)
class ModelServer(ABC, Generic[Library]):
    """The part that all models share that are asked over HTTP through a client library.

    Times are in seconds: to connect, to the first piece of a reply, and for all of it.
    """

    provider: ClassVar[str]

    model: str
    _: KW_ONLY
    base_url: str
    key_env: str | None = None
    extra: Mapping[str, object] = field(default_factory=dict)
    connect_timeout: float = 10.0
    first_timeout: float = 120.0
    timeout: float = 600.0
    sent: Path | None = None
    transport: httpx2.AsyncBaseTransport | None = None

    def __post_init__(self) -> None:
        self._address = checked_url(self.base_url)
        offline = getattr(self.transport, "offline", False)
        self._key = Key.of(None if offline else self.key_env)
        self._identity = Identity(self.provider, self.model, self._address, self._settings())
        self._open: tuple[asyncio.AbstractEventLoop, httpx2.AsyncClient, Library] | None = None
        if self.sent:
            self._log(b"")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, base_url={self._address!r})"

    @property
    def identity(self) -> Identity:
        """The model that answers."""
        return self._identity

    def library(self) -> Library:
        """Return the client library; the same one as long as the event loop is the same."""
        loop = asyncio.get_running_loop()
        if self._open is None or self._open[0] is not loop:
            client = httpx2.AsyncClient(
                transport=self.transport,
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100),
                timeout=httpx2.Timeout(None, connect=self.connect_timeout),
                headers={
                    "User-Agent": f"askgraph/{version('askgraph')}",
                    "Accept-Encoding": "identity",  # what is capped is what is read
                },
                event_hooks={
                    "request": [self._log_request] if self.sent else [],
                    "response": [_limit_size],
                },
            )
            self._open = loop, client, self._library(client)
        return self._open[2]

    async def close(self) -> None:
        """Close the connections that belong to the running event loop."""
        open_, self._open = self._open, None
        if open_ and open_[0] is asyncio.get_running_loop():
            await open_[1].aclose()

    async def _log_request(self, request: httpx2.Request) -> None:
        """Write down a request that is about to be sent; no headers, as they hold the key."""
        body, url = await request.aread(), request.url
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "address": f"{url.scheme}://{url.netloc.decode()}{url.path}",
            "bytes": len(body),
            "body": body.decode(errors="backslashreplace"),
        }
        self._log(json.dumps(line, ensure_ascii=False).encode() + b"\n")

    def _log(self, line: bytes) -> None:
        """Add a line to the log; what cannot be logged is not sent."""
        assert self.sent is not None
        try:
            append_private(self.sent, line)
        except OSError as error:
            raise SetupError(
                f"what is sent cannot be logged in {str(self.sent)!r}: {error.strerror}; name "
                "another file in `sent`, or none"
            ) from error

    @abstractmethod
    def _library(self, client: httpx2.AsyncClient) -> Library:
        """Make the client library over an HTTP client."""

    def _settings(self) -> str:
        """Return the settings that change a reply, as the identity holds them."""
        return json.dumps(self.extra, sort_keys=True) if self.extra else ""

    def _timed(self, stream: Stream) -> Stream:
        return timed(stream, first=self.first_timeout, total=self.timeout, address=self._address)

    def _status_failure(
        self, status: int, body: object, headers: Mapping[str, str] | None = None
    ) -> ServiceError:
        return status_failure(status, body, headers or {}, address=self._address, key=self._key)

    def _connection_failure(self, problem: BaseException) -> AskgraphError:
        return connection_failure(problem, self._address, self._key)

    def _check_end(self, assembly: Assembly, kind: str) -> None:
        """Raise `MalformedReply` for a reply that ended before all of its choices did."""
        if not assembly.ended:
            raise MalformedReply(f"the reply of {self._address} is cut off, or is no {kind}")


def checked_url(url: str) -> str:
    """Return a base URL; `SetupError` if it is none or holds a password or parameters."""
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


class RelayedStream(httpx2.AsyncByteStream):
    """A body that a generator passes on from another one, which is closed after it."""

    def __init__(self, parts: AsyncGenerator[bytes, None], inner: httpx2.AsyncByteStream) -> None:
        self._parts = parts
        self._inner = inner

    def __aiter__(self) -> AsyncGenerator[bytes, None]:
        return self._parts

    async def aclose(self) -> None:
        await self._parts.aclose()
        await self._inner.aclose()


async def _limit_size(response: httpx2.Response) -> None:
    """Let a reply that has more bytes than allowed end with `MalformedReply`."""
    inner, url = response.stream, response.request.url
    assert isinstance(inner, httpx2.AsyncByteStream)

    async def limit_parts() -> AsyncGenerator[bytes, None]:
        size = 0
        async for part in inner:
            size += len(part)
            if size > MAX_BYTES:
                address = f"{url.scheme}://{url.netloc.decode()}"
                limit = f"{MAX_BYTES / 2**20:g} MiB"
                raise MalformedReply(f"the reply of {address} is larger than {limit}")
            yield part

    response.stream = RelayedStream(limit_parts(), inner)


def append_private(path: Path, line: bytes) -> None:
    """Add a line to a file that its owner alone can read; make it and its folder if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(line)


@dataclass(frozen=True)
class Key:
    """A key that no repr shows; empty if the server wants none."""

    value: str = field(default="", repr=False)

    @classmethod
    def of(cls, variable: str | None) -> "Key":
        """Read the environment variable; `SetupError` if it is not set or breaks a header."""
        if variable is None:
            return cls()
        value = os.environ.get(variable, "").strip()
        if not value:
            raise SetupError(
                f"the environment variable {variable} (setting `key_env`) is not set: put the"
                " server's key there, or leave the setting out for a server without keys"
            )
        if not value.isascii() or not value.isprintable():
            raise SetupError(f"the environment variable {variable} holds no key: odd characters")
        return cls(value)

    def scrubbed(self, text: str) -> str:
        """Return a text without the key, as a server may send it back in an error."""
        return text.replace(self.value, "***") if self.value else text


_BUSY = (429, 500, 502, 503, 504, 529)
_SHOWN = 500  # characters of a server's message
_TOO_LONG = (
    "context_length", "context length", "context window", "prompt is too long", "maximum context",
    "input token count", "too many tokens", "exceed_context_size",
)  # fmt: skip
_BUSY_WORDS = ("overloaded", "rate limit", "rate_limit")  # an error in a stream has no status
_NO_CREDIT = ("insufficient_quota", "billing", "credit balance")


def connection_failure(problem: BaseException, address: str, key: Key) -> AskgraphError:
    """Return our error for an exception of a client library, or for one of its causes."""
    for cause in _causes(problem):
        told = key.scrubbed(str(cause)) or type(cause).__name__
        match cause:
            case AskgraphError():
                return cause
            case httpx2.ConnectTimeout() | httpx2.PoolTimeout():
                return Unreachable(f"no connection to {address} in time")
            case httpx2.TimeoutException():
                return TimedOut(f"{address} stopped sending")
            case httpx2.ConnectError() | httpx2.UnsupportedProtocol() | httpx2.ProxyError():
                return Unreachable(f"{address} cannot be reached: {told}; does the server run?")
            case httpx2.NetworkError() | httpx2.RemoteProtocolError():
                return MalformedReply(f"the reply of {address} is cut off: {told}")
            case httpx2.HTTPError():
                return MalformedReply(f"the reply of {address} is broken: {told}")
    told = key.scrubbed(str(problem)) or type(problem).__name__
    return MalformedReply(f"the reply of {address} cannot be used: {told[:_SHOWN]}")


def status_failure(
    status: int, body: object, headers: Mapping[str, str], *, address: str, key: Key
) -> ServiceError:
    """Return our error for a reply with a bad status, or with an error in the middle."""
    said = key.scrubbed(_message(body))
    told = f"{address} answered with status {status}" + (f": {said[:_SHOWN]}" if said else "")
    whole = f"{body} {said}".lower()
    if status in (401, 403):
        wanted = "it wants a key: set `key_env`, or ASKGRAPH_API_KEY for a base URL of your own"
        hint = "it does not take the key" if key.value else wanted
        return Unauthorised(f"{told}; {hint}")
    if status in (400, 413) and any(mark in whole for mark in _TOO_LONG):
        return PromptTooLong(told)
    if status == 429 and any(mark in whole for mark in _NO_CREDIT):
        return ErrorReply(told)
    if status == 429:
        told += "; the model's settings `requests_per_minute` and `parallel` ask it less"
    if status in _BUSY or (status == 200 and any(mark in whole for mark in _BUSY_WORDS)):
        wait = parse_retry_after(headers.get("retry-after", ""))
        return Overloaded(told, retry_after=wait)
    if status in (408, 409):
        return TimedOut(told)
    if status == 404:
        told += "; look at the model's name and at the base_url, which mostly ends in /v1"
    return ErrorReply(told)


def _causes(problem: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while problem is not None and problem not in found:
        found.append(problem)
        problem = problem.__cause__ or problem.__context__
    return found


def _message(body: object) -> str:
    """Return the words in an error's body, wherever the many servers put them."""
    match body:
        case {"error": {"message": str(text)}} | {"error": str(text)} | {"message": str(text)}:
            return text
        case {"detail": str(text)}:
            return text
        case str():
            return " ".join(body.split())
        case None:
            return ""
        case _:
            return json.dumps(body, default=str)
