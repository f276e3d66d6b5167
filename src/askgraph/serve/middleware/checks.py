"""Checks of a request before any handler: host, origin, address and size.

Without the check of the host, a name that an attacker's server gives away could be pointed at this
machine (DNS rebinding), and the browser would take the server here for theirs. A browser says where
a request comes from (Origin, Sec-Fetch-Site); programs say nothing of it and are let through, since
they have no one's cookies.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askgraph.serve.problems import Problem, problem_response
from askgraph.serve.settings import ServeSettings

LARGEST = 2**20
"""Bytes of the body of any request but an upload."""

_UPLOAD = "/api/v1/graphs/upload"
_FORM = 64 * 1024  # bytes of a form around its files
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_ANYWHERE = frozenset({"0.0.0.0", "::", ""})
_OPEN = frozenset({"/healthz", "/readyz"})  # probes come by address, and learn nothing
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN = frozenset({"same-origin", "none"})


@dataclass(frozen=True)
class _Refusal:
    """Why a request is refused, as the parts of a `Problem`."""

    status: int
    kind: str
    title: str
    detail: str


class _Check(ABC):
    """ASGI middleware that passes a request on, or answers it with a problem."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        checked = scope["type"] in ("http", "websocket")
        refusal = self._refusal(scope) if checked else None
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await _refuse(refusal, scope, receive, send)

    @abstractmethod
    def _refusal(self, scope: Scope) -> _Refusal | None:
        """Return why a request or WebSocket is refused; None if it may pass."""


class HostCheck(_Check):
    """Refuses (400) requests whose Host header names another server.

    Admitted are the names of this machine, the `host` that is listened on and `allowed_hosts`, in
    which `*.example.org` stands for all names below and `*` for any.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        super().__init__(app)
        own = {settings.host.lower()} - _ANYWHERE
        allowed = {host.lower() for host in settings.allowed_hosts}
        self._names = _LOOPBACK | own | allowed
        self._below = tuple(name[1:] for name in allowed if name.startswith("*."))

    def _refusal(self, scope: Scope) -> _Refusal | None:
        if route_path(scope) in _OPEN or self._admits(host := _host_of(scope)):
            return None
        detail = (
            f"this server is not called {host!r}: ask it under a name of its own, or let its"
            " operator add this one to allowed_hosts"
        )
        return _Refusal(400, "host", "Another server is meant", detail)

    def _admits(self, host: str) -> bool:
        return host in self._names or "*" in self._names or host.endswith(self._below or (" ",))


class OriginCheck(_Check):
    """Refuses (403) requests that a page of another site may not make here.

    Those are every request that is not safe, every WebSocket, and safe requests other than
    following a link: they would be work without a purpose, since CORS keeps their answers from the
    page.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        super().__init__(app)
        self._allowed = {origin.lower().rstrip("/") for origin in settings.cors_origins}

    def _refusal(self, scope: Scope) -> _Refusal | None:
        if self._admits(scope):
            return None
        detail = (
            "a page of another site may not do this: an operator can allow its origin with"
            " cors_origins"
        )
        return _Refusal(403, "origin", "Not from that page", detail)

    def _admits(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None and self._is_allowed(origin, headers):
            return True
        safe = scope["type"] == "http" and scope["method"] in _SAFE
        if origin is not None and not safe:
            return False
        if site is None or site in _OWN:
            return True
        return safe and _follows_link(headers)

    def _is_allowed(self, origin: str, headers: Mapping[str, str]) -> bool:
        origin = origin.lower()
        # A proxy may have taken TLS off, so that the scheme here says nothing.
        own = urlsplit(origin).netloc == headers.get("host", "").lower() != ""
        return own or origin in self._allowed or "*" in self._allowed


class NoNul(_Check):
    """Refuses (422) a NUL (U+0000) in an address: nothing has such a name, and PostgreSQL fails."""

    def _refusal(self, scope: Scope) -> _Refusal | None:
        if "\0" not in scope["path"] and b"%00" not in scope["query_string"]:
            return None
        detail = "the address holds a NUL (%00), which nothing here has: leave it out"
        return _Refusal(422, "request", "The request is wrong", detail)


class BodyLimit(_Check):
    """Refuses (413) bodies larger than `LARGEST`, or than `upload_mb` for an upload.

    They are counted as they arrive, whatever the request says of its length.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        async def counting(scope: Scope, receive: Receive, send: Send) -> None:
            counted = self._counted(scope, receive) if scope["type"] == "http" else receive
            await app(scope, counted, send)

        super().__init__(counting)
        self._upload = settings.upload_mb * 2**20 + _FORM

    def _refusal(self, scope: Scope) -> _Refusal | None:
        if scope["type"] != "http":
            return None
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if declared.isdigit() and int(declared) <= self._most(scope):
            return None
        return _Refusal(413, "too-large", "Too large", self._detail(scope))

    def _counted(self, scope: Scope, receive: Receive) -> Receive:
        size, most = 0, self._most(scope)

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > most:
                raise HTTPException(413, self._detail(scope))
            return message

        return counted

    def _most(self, scope: Scope) -> int:
        return self._upload if route_path(scope) == _UPLOAD else LARGEST

    def _detail(self, scope: Scope) -> str:
        return f"the request is larger than the {self._most(scope):,} bytes that are taken"


def route_path(scope: Scope) -> str:
    """Return the path as the routes know it, without the prefix under which a proxy serves it."""
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    inside = root and (path == root or path.startswith(f"{root}/"))
    return path.removeprefix(root) if inside else path


def _host_of(scope: Scope) -> str:
    """Return the name in the Host header in lower case, without port and brackets."""
    named = Headers(scope=scope).getlist("host")
    if len(named) != 1:
        return ""
    host = named[0].strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].rstrip(".")


def _follows_link(headers: Mapping[str, str]) -> bool:
    """Whether a browser opens the address as a page of its own."""
    return (
        headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest", "document") == "document"
    )


async def _refuse(refusal: _Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request with a problem; a WebSocket is closed before it opens (HTTP 403)."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": refusal.detail[:120]})
        return
    problem = Problem(
        type=f"urn:askgraph:problem:{refusal.kind}",
        title=refusal.title,
        status=refusal.status,
        detail=refusal.detail,
    )
    await problem_response(problem)(scope, receive, send)
