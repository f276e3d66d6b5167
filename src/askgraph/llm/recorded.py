"""A language model whose HTTP traffic is recorded, or replayed without a server."""

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import httpx2

from askgraph.errors import SetupError
from askgraph.llm import LanguageModel, ModelWrapper
from askgraph.llm._connection import RelayedStream, append_private_line

__all__ = ["RecordedModel"]


class RecordedModel(ModelWrapper):
    """Records a model's HTTP traffic to a file, or replays it.

    `make` builds the model over a transport. With `record`, requests are sent and each exchange is
    added to the file, including failures and streams; without it, nothing is sent and no key is
    needed. The file never contains the key, whatever the server sends back.

        RecordedModel("moon.jsonl", lambda transport: OpenAIModel("m", transport=transport))
    """

    def __init__(
        self,
        path: Path | str,
        make: Callable[[httpx2.AsyncBaseTransport], LanguageModel],
        *,
        record: bool = False,
    ) -> None:
        super().__init__(
            make(RecordingTransport(Path(path)) if record else ReplayTransport(Path(path)))
        )


_SECRET_HEADERS = ("authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie")
_SECRET_PARAMETERS = ("key", "api_key", "api-key", "access_token")
_RECORDED_HEADERS = ("content-type", "retry-after")

_ERRORS: dict[str, type[httpx2.TransportError]] = {
    name: getattr(httpx2, name)
    for name in (
        "ConnectError", "ConnectTimeout", "ReadError", "ReadTimeout", "RemoteProtocolError",
        "WriteError", "WriteTimeout",
    )
}  # fmt: skip


class RecordingTransport(httpx2.AsyncBaseTransport):
    """Sends requests through `inner` and adds each exchange to the file once it is over.

    If the reader breaks off an exchange, the part until then is written.
    """

    offline = False

    def __init__(self, path: Path, inner: httpx2.AsyncBaseTransport | None = None) -> None:
        self._path = path
        self._inner = inner or httpx2.AsyncHTTPTransport(
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100)
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and begin to record its exchange."""
        body = await request.aread()
        values = [request.headers.get(name, "") for name in _SECRET_HEADERS]
        values += [request.url.params.get(name, "") for name in _SECRET_PARAMETERS]
        secret_values = {value for value in values if value}
        secret_values |= {
            value.split(" ", 1)[1] for value in secret_values if value.lower().startswith("bearer ")
        }
        secrets = sorted(secret_values, key=len, reverse=True)
        exchange: dict[str, Any] = {"request": _describe_request(request, body)}
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as problem:
            self._append_exchange(exchange | _describe_failure(problem), secrets)
            raise
        exchange["status"] = response.status_code
        exchange["headers"] = {
            name: response.headers[name] for name in _RECORDED_HEADERS if name in response.headers
        }
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        parts = self._record_body(response.stream, exchange, secrets)
        response.stream = RelayedStream(parts, response.stream)
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()

    async def _record_body(
        self, stream: httpx2.AsyncByteStream, exchange: dict[str, Any], secrets: list[str]
    ) -> AsyncGenerator[bytes, None]:
        """Relay a body, and write its exchange once it is complete or has broken off."""
        body = bytearray()
        try:
            async for part in stream:
                body += part
                yield part
        except httpx2.TransportError as problem:
            exchange |= _describe_failure(problem)
            raise
        finally:
            exchange["body"] = body.decode("utf-8", "surrogateescape")
            self._append_exchange(exchange, secrets)

    def _append_exchange(self, exchange: dict[str, Any], secrets: list[str]) -> None:
        line = json.dumps(exchange)
        for secret in secrets:
            line = line.replace(json.dumps(secret)[1:-1], "***")
        append_private_line(self._path, line.encode() + b"\n")


class ReplayTransport(httpx2.AsyncBaseTransport):
    """Answers requests from a file only, in recorded order; the last reply to each is repeated.

    Raises:
        SetupError: a request was not recorded, or the file cannot be read.
    """

    offline = True

    def __init__(self, path: Path) -> None:
        self._path = path
        exchanges: dict[str, list[dict[str, Any]]] = {}
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError) as problem:
            raise SetupError(f"the recording {path} cannot be read: {problem}") from problem
        for number, line in enumerate(lines, 1):
            try:
                exchange = json.loads(line)
                exchanges.setdefault(_compute_key(exchange["request"]), []).append(exchange)
            except (ValueError, KeyError, TypeError) as problem:
                raise SetupError(f"the recording is damaged: {path}, line {number}") from problem
        self._exchanges = exchanges

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Repeat the reply to a request."""
        request_data = _describe_request(request, await request.aread())
        exchanges = self._exchanges.get(_compute_key(request_data))
        if not exchanges:
            raise SetupError(
                f"the recording {self._path} has no reply to this request to"
                f" {request_data['url']}: record it again"
            )
        exchange = exchanges.pop(0) if len(exchanges) > 1 else exchanges[0]
        if "status" not in exchange:
            raise _ERRORS[exchange["error"]](exchange["message"])
        parts = _replay_body(exchange)
        return httpx2.Response(exchange["status"], headers=exchange["headers"], content=parts)


async def _replay_body(exchange: dict[str, Any]) -> AsyncGenerator[bytes, None]:
    """Yield a recorded body event by event, and break off where it did."""
    for part in exchange["body"].encode("utf-8", "surrogateescape").split(b"\n\n"):
        await asyncio.sleep(0)
        yield part + b"\n\n"
    if "error" in exchange:
        raise _ERRORS[exchange["error"]](exchange["message"])


def _describe_request(request: httpx2.Request, body: bytes) -> dict[str, Any]:
    url = request.url
    for name in _SECRET_PARAMETERS:
        if name in url.params:
            url = url.copy_remove_param(name)
    try:
        content = json.loads(body)
    except ValueError:
        content = body.decode("utf-8", "replace")
    return {"method": request.method, "url": str(url), "content": content}


def _describe_failure(problem: httpx2.TransportError) -> dict[str, str]:
    name = next(
        (name for name, error_type in _ERRORS.items() if type(problem) is error_type), "ReadError"
    )
    return {"error": name, "message": str(problem)}


def _compute_key(request_data: dict[str, Any]) -> str:
    text = json.dumps([request_data[part] for part in ("method", "url", "content")], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
