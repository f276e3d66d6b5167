"""Failures between us and a model server, as the error classes of askgraph."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx2

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
        return Overloaded(told, retry_after=_retry_after(headers))
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


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that `Retry-After` asks for, given as such or as a date."""
    value = headers.get("retry-after", "").strip()
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
