"""Model servers: settings, connections and errors, a size limit of replies, a request log."""

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

from askgraph import errors
from askgraph.deadline import parse_retry_after
from askgraph.llm import Identity
from askgraph.llm._streams import ReplyAssembler, Stream, limit_time

Library = TypeVar("Library")
MAX_REPLY_BYTES = 8 * 2**20  # bytes of one reply as transferred


@dataclass(eq=False, repr=False)
class ModelServer(ABC, Generic[Library]):
    """Base class of models that a client library calls over HTTP.

    Times are in seconds: to connect, to the first part of a reply, and for all of it.
    """

    provider: ClassVar[str]
    url_parameters: ClassVar[frozenset[str]] = frozenset({"api-version"})

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
        try:
            parsed = httpx2.URL(self.base_url)
        except httpx2.InvalidURL as problem:
            raise errors.SetupError(
                f"base_url {self.base_url!r} is not a URL: {problem}"
            ) from problem
        if parsed.scheme not in ("http", "https") or not parsed.host:
            raise errors.SetupError(f"base_url {self.base_url!r} is not an http or https URL")
        if parsed.userinfo or set(parsed.params) - self.url_parameters:
            raise errors.SetupError(
                f"the base_url of {parsed.host} contains a password or parameters: remove them "
                "and name the environment variable of the key with key_env"
            )
        self._address = (
            str(parsed.copy_with(query=None)).rstrip("/").removesuffix("/chat/completions")
        )
        offline = getattr(self.transport, "offline", False)
        self._key = ApiKey.from_environment(None if offline else self.key_env)
        self.identity = Identity(
            self.provider, self.model, self._address, self._serialize_settings()
        )
        self._open: tuple[asyncio.AbstractEventLoop, httpx2.AsyncClient, Library] | None = None
        if self.sent:
            self._append_to_log(b"")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, base_url={self._address!r})"

    def get_library(self) -> Library:
        """Return the client library; the same one as long as the event loop is the same."""
        loop = asyncio.get_running_loop()
        if self._open is None or self._open[0] is not loop:
            client = httpx2.AsyncClient(
                transport=self.transport,
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100),
                timeout=httpx2.Timeout(None, connect=self.connect_timeout),
                headers={
                    "User-Agent": f"askgraph/{version('askgraph')}",
                    "Accept-Encoding": "identity",  # the cap applies to the bytes that are read
                },
                event_hooks={
                    "request": [self._log_request] if self.sent else [],
                    "response": [_limit_size],
                },
            )
            self._open = loop, client, self._create_library(client)
        return self._open[2]

    async def close(self) -> None:
        """Close the connections that belong to the running event loop."""
        connection, self._open = self._open, None
        if connection and connection[0] is asyncio.get_running_loop():
            await connection[1].aclose()

    async def _log_request(self, request: httpx2.Request) -> None:
        """Log a request before it is sent, without headers, since they contain the key."""
        body, url = await request.aread(), request.url
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "address": f"{url.scheme}://{url.netloc.decode()}{url.path}",
            "bytes": len(body),
            "body": body.decode(errors="backslashreplace"),
        }
        self._append_to_log(json.dumps(line, ensure_ascii=False).encode() + b"\n")

    def _append_to_log(self, line: bytes) -> None:
        """Add a line to the log; if that fails, the request is not sent."""
        assert self.sent is not None
        try:
            append_private_line(self.sent, line)
        except OSError as error:
            raise errors.SetupError(
                f"requests cannot be logged to {str(self.sent)!r}: {error.strerror}; name "
                "another file in the setting `sent`, or remove it"
            ) from error

    @abstractmethod
    def _create_library(self, client: httpx2.AsyncClient) -> Library:
        """Create the client library with an HTTP client."""

    def _serialize_settings(self) -> str:
        """Return the settings that influence a reply, as text for the identity."""
        return json.dumps(self.extra, sort_keys=True) if self.extra else ""

    def _limit_time(self, stream: Stream) -> Stream:
        return limit_time(
            stream,
            first_timeout=self.first_timeout,
            total_timeout=self.timeout,
            address=self._address,
        )

    def _build_status_error(
        self, status: int, body: object, headers: Mapping[str, str] | None = None
    ) -> errors.ServiceError:
        """Return our error for a reply with an error status, or with an error in the middle."""
        server_message = self._key.scrub(_extract_message(body))
        message = f"{self._address} answered with status {status}" + (
            f": {server_message[:_MAX_MESSAGE_CHARACTERS]}" if server_message else ""
        )
        full_text = f"{body} {server_message}".lower()
        if status in (401, 403):
            key_hint = (
                "it requires a key: set `key_env`, or ASKGRAPH_API_KEY for a base URL of your own"
            )
            hint = "it rejects the key" if self._key.value else key_hint
            return errors.Unauthorised(f"{message}; {hint}")
        if status in (400, 413) and any(phrase in full_text for phrase in _PROMPT_TOO_LONG_PHRASES):
            return errors.PromptTooLong(message)
        if status == 429 and any(phrase in full_text for phrase in _NO_CREDIT_PHRASES):
            return errors.ErrorReply(message)
        if status == 429:
            message += "; the model's settings `requests_per_minute` and `parallel` ask it less"
        if status in _BUSY_STATUS_CODES or (
            status == 200 and any(phrase in full_text for phrase in _BUSY_PHRASES)
        ):
            wait = parse_retry_after((headers or {}).get("retry-after", ""))
            return errors.Overloaded(message, retry_after=wait)
        if status in (408, 409):
            return errors.TimedOut(message)
        if status == 404:
            message += (
                "; look at the model's name, and at the base_url (--base-url), which mostly ends "
                "in /v1"
            )
        return errors.ErrorReply(message)

    def _build_connection_error(self, problem: BaseException) -> errors.AskgraphError:
        for cause in _list_causes(problem):
            message = self._key.scrub(str(cause)) or type(cause).__name__
            match cause:
                case errors.AskgraphError():
                    return cause
                case httpx2.ConnectTimeout() | httpx2.PoolTimeout():
                    return errors.Unreachable(f"no connection to {self._address} in time")
                case httpx2.TimeoutException():
                    return errors.TimedOut(f"{self._address} stopped sending")
                case httpx2.ConnectError() | httpx2.UnsupportedProtocol() | httpx2.ProxyError():
                    return errors.Unreachable(
                        f"{self._address} cannot be reached: {message}; does the server run?"
                    )
                case httpx2.NetworkError() | httpx2.RemoteProtocolError():
                    return errors.MalformedReply(
                        f"the reply of {self._address} is cut off: {message}"
                    )
                case httpx2.HTTPError():
                    return errors.MalformedReply(
                        f"the reply of {self._address} is broken: {message}"
                    )
        message = self._key.scrub(str(problem)) or type(problem).__name__
        return errors.MalformedReply(
            f"the reply of {self._address} cannot be used: {message[:_MAX_MESSAGE_CHARACTERS]}"
        )

    def _check_end(self, assembly: ReplyAssembler, kind: str) -> None:
        """Raise `MalformedReply` for a reply that ended before all of its choices did."""
        if not assembly.is_complete:
            raise errors.MalformedReply(
                f"the reply of {self._address} is cut off, or is not {kind}"
            )


class RelayedStream(httpx2.AsyncByteStream):
    """A body that a generator relays from an inner stream, which is closed after it."""

    def __init__(self, parts: AsyncGenerator[bytes, None], inner: httpx2.AsyncByteStream) -> None:
        self._parts = parts
        self._inner = inner

    def __aiter__(self) -> AsyncGenerator[bytes, None]:
        return self._parts

    async def aclose(self) -> None:
        await self._parts.aclose()
        await self._inner.aclose()


async def _limit_size(response: httpx2.Response) -> None:
    """Let a reply end with `MalformedReply` once it exceeds the allowed number of bytes."""
    inner, url = response.stream, response.request.url
    assert isinstance(inner, httpx2.AsyncByteStream)

    async def limit_parts() -> AsyncGenerator[bytes, None]:
        size = 0
        async for part in inner:
            size += len(part)
            if size > MAX_REPLY_BYTES:
                address = f"{url.scheme}://{url.netloc.decode()}"
                limit = f"{MAX_REPLY_BYTES / 2**20:g} MiB"
                raise errors.MalformedReply(f"the reply of {address} is larger than {limit}")
            yield part

    response.stream = RelayedStream(limit_parts(), inner)


def append_private_line(path: Path, line: bytes) -> None:
    """Add a line to a file that only its owner can read; create it and its folder if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(line)


@dataclass(frozen=True)
class ApiKey:
    """A key that its repr hides; empty if the server needs none."""

    value: str = field(default="", repr=False)

    @classmethod
    def from_environment(cls, variable: str | None) -> "ApiKey":
        """Read a variable; raise `SetupError` if it is not set or cannot be in a header."""
        if variable is None:
            return cls()
        value = os.environ.get(variable, "").strip()
        if not value:
            raise errors.SetupError(
                f"the environment variable {variable} (setting `key_env`) is not set: put "
                "the server's key there, or remove the setting if the server needs no key"
            )
        if not value.isascii() or not value.isprintable():
            raise errors.SetupError(
                f"the environment variable {variable} does not contain a valid key: it has "
                "characters that a header cannot have"
            )
        return cls(value)

    def scrub(self, text: str) -> str:
        """Return a text without the key, which a server may include in an error."""
        return text.replace(self.value, "***") if self.value else text


_BUSY_STATUS_CODES = (429, 500, 502, 503, 504, 529)
_MAX_MESSAGE_CHARACTERS = 500  # characters of a server's message
_PROMPT_TOO_LONG_PHRASES = (
    "context_length", "context length", "context window", "prompt is too long", "maximum context",
    "input token count", "too many tokens", "exceed_context_size", "available context size",
    "maximum model length", "reduce the length", "input is too long", "exceeds the model's context",
)  # fmt: skip
_BUSY_PHRASES = ("overloaded", "rate limit", "rate_limit")  # an error in a stream has no status
_NO_CREDIT_PHRASES = ("insufficient_quota", "billing", "credit balance")


def _list_causes(problem: BaseException | None) -> list[BaseException]:
    causes: list[BaseException] = []
    while problem is not None and problem not in causes:
        causes.append(problem)
        problem = problem.__cause__ or problem.__context__
    return causes


def _extract_message(body: object) -> str:
    """Return the message of an error body, in any of the formats that servers use."""
    match body:
        case (
            {"error": {"message": str(text)} | str(text)}
            | {"message": str(text)}
            | {"detail": str(text)}
        ):
            return text
        case str():
            return " ".join(body.split())
        case None:
            return ""
        case _:
            return json.dumps(body, default=str)
