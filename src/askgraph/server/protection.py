"""Protection of the server: the checks and headers around an application, in their order.

Before any handler, a request's host, origin, address and size are checked. Without the check of the
host, a name that an attacker's server gives away could be pointed at this machine (DNS rebinding),
and the browser would take the server here for theirs. A browser says where a request comes from
(Origin, Sec-Fetch-Site); programs say nothing of it and are let through, since they have no one's
cookies.
"""

import logging
import re
import time
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit
from uuid import uuid4

import structlog
from fastapi import FastAPI
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askgraph.server.problems import Problem, problem_response
from askgraph.server.settings import ServeSettings
from askgraph.server.telemetry import Metrics, request_span

_FIXED = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_YEAR = "max-age=31536000"
_CORS_HEADERS = (
    "Accept",
    "Authorization",
    "Content-Type",
    "Last-Event-ID",
    "MCP-Protocol-Version",
    "X-API-Key",
    "X-Request-Id",
)


def protect(app: FastAPI, settings: ServeSettings) -> None:
    """Put the checks before an application; its metrics are at `app.state.metrics`."""
    metrics = app.state.metrics = Metrics()
    app.add_middleware(BodyLimit, settings=settings)  # the last one that a request passes
    app.add_middleware(Checks, checks=(origin_check(settings), nul_check))
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=[origin.rstrip("/") for origin in settings.cors_origins],
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=_CORS_HEADERS,
            expose_headers=["X-Request-Id", "Retry-After"],
            max_age=600,
        )
    app.add_middleware(Checks, checks=(host_check(settings),))
    app.add_middleware(SecurityHeaders, settings=settings)
    app.add_middleware(Requests, metrics=metrics)


def content_policy(settings: ServeSettings) -> str:
    """Return the content security policy: nothing from elsewhere, unless images are wanted."""
    images = ["'self'", "data:"]
    if settings.images:
        images.append("https:")
    if settings.tiles:
        tiles = urlsplit(settings.tiles)
        images.append(f"{tiles.scheme}://{tiles.netloc.replace('{s}', '*')}")
    return "; ".join(
        [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            f"img-src {' '.join(images)}",
            "connect-src 'self'",
            "font-src 'self'",
            "manifest-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'self'",
        ]
    )


class SecurityHeaders:
    """Adds the headers to every response; headers that a handler sets itself stay.

    Answers of the interfaces are not kept by caches unless they say so. Over TLS the browser is
    asked to stay with it.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app = app
        sharing = "cross-origin" if settings.cors_origins else "same-origin"
        self._headers = {
            **_FIXED,
            "Content-Security-Policy": content_policy(settings),
            "Cross-Origin-Resource-Policy": sharing,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and the response back with the headers."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
                if scope.get("scheme") == "https":
                    headers.setdefault("Strict-Transport-Security", _YEAR)
            await send(message)

        await self._app(scope, receive, with_headers)


_log = logging.getLogger("askgraph.server.requests")
_ID = re.compile(r"[\w-]{8,64}")
_QUIET = frozenset({"/healthz", "/readyz", "/metrics"})
_CLIENT_GONE = 499  # no status was sent, for nobody was there any more


class Requests:
    """Gives a request its id (`X-Request-Id`, the caller's or a new one), logs and counts it.

    The log has neither the query part of an address nor anything of a body. An exception that no
    handler knew becomes a problem with status 500 that says nothing of it.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, then log and count it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
        id = given if _ID.fullmatch(given) else uuid4().hex
        status: int | None = None

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-Id"] = id
            await send(message)

        began = time.perf_counter()
        with structlog.contextvars.bound_contextvars(request=id), request_span(scope) as end_span:
            try:
                await self._app(scope, receive, sent)
            except Exception:  # noqa: BLE001 - a bug ends one request, not the server
                _log.exception("a request failed by a bug")
                if status is None:
                    await problem_response(Problem.unexpected())(scope, receive, sent)
            final = _CLIENT_GONE if status is None else status
            # As its route has it, so that counts stay few.
            route = str(getattr(scope.get("route"), "path", "")) or "other"
            end_span(final, route)
            self._log(scope, final, route, time.perf_counter() - began)

    def _log(self, scope: Scope, status: int, route: str, seconds: float) -> None:
        method = scope["method"]
        self._metrics.request(method, route, status, seconds)
        if route_path(scope) in _QUIET and status < 400:
            return
        principal = scope.get("state", {}).get("principal")
        client = scope.get("client")
        level = logging.ERROR if status >= 500 else logging.INFO
        _log.log(
            level,
            "request",
            extra={
                "method": method,
                "path": scope["path"][:200],
                "status": status,
                "seconds": round(seconds, 4),
                "client": client[0] if client else None,
                "caller": getattr(principal, "id", None),
            },
        )


LARGEST = 2**20
"""Bytes of the body of any request but an upload."""

_UPLOAD = "/api/v1/graphs/upload"
_FORM = 64 * 1024  # bytes of a form around its files
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_ANYWHERE = frozenset({"0.0.0.0", "::", ""})
_OPEN = frozenset({"/healthz", "/readyz"})  # probes come by address, and learn nothing
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN = frozenset({"same-origin", "none"})


Check = Callable[[Scope], Problem | None]
"""Gives why a request is refused; None if it may pass."""


class Checks:
    """ASGI middleware that passes a request on, or answers it with the problem of a check."""

    def __init__(self, app: ASGIApp, checks: Sequence[Check]) -> None:
        self._app = app
        self._checks = checks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        checks = self._checks if scope["type"] == "http" else ()
        problem = next(filter(None, (check(scope) for check in checks)), None)
        if problem is None:
            await self._app(scope, receive, send)
        else:
            await problem_response(problem)(scope, receive, send)


def _problem(status: int, kind: str, title: str, detail: str) -> Problem:
    return Problem(type=f"urn:askgraph:problem:{kind}", title=title, status=status, detail=detail)


def host_check(settings: ServeSettings) -> Check:
    """Return a check that refuses (400) requests whose Host header names another server.

    Admitted are the names of this machine, the `host` that is listened on and `allowed_hosts`, in
    which `*.example.org` stands for all names below and `*` for any.
    """
    allowed = {host.lower() for host in settings.allowed_hosts}
    names = _LOOPBACK | ({settings.host.lower()} - _ANYWHERE) | allowed
    below = tuple(name[1:] for name in allowed if name.startswith("*.")) or (" ",)

    def check(scope: Scope) -> Problem | None:
        host = _host_of(scope)
        admitted = host in names or "*" in names or host.endswith(below)
        if admitted or route_path(scope) in _OPEN:
            return None
        return _problem(
            400,
            "host",
            "Another server is meant",
            f"this server is not called {host!r}: ask it under a name of its own, or let its"
            " operator add this one to allowed_hosts",
        )

    return check


def origin_check(settings: ServeSettings) -> Check:
    """Return a check that refuses (403) requests that a page of another site may not make here.

    Those are every request that is not safe, and safe requests other than following a link: they
    would be work without a purpose, since CORS keeps their answers from the page.
    """
    allowed = {origin.lower().rstrip("/") for origin in settings.cors_origins}

    def admits(scope: Scope) -> bool:
        headers = Headers(scope=scope)
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        safe = scope["method"] in _SAFE
        if origin is not None:
            origin = origin.lower()
            # A proxy may have taken TLS off, so that the scheme here says nothing.
            own = urlsplit(origin).netloc == headers.get("host", "").lower() != ""
            if own or origin in allowed or "*" in allowed:
                return True
            if not safe:
                return False
        follows_link = (
            headers.get("sec-fetch-mode") == "navigate"
            and headers.get("sec-fetch-dest", "document") == "document"
        )
        return site is None or site in _OWN or (safe and follows_link)

    def check(scope: Scope) -> Problem | None:
        detail = (
            "a page of another site may not do this: an operator can allow its origin with"
            " cors_origins"
        )
        return None if admits(scope) else _problem(403, "origin", "Not from that page", detail)

    return check


def nul_check(scope: Scope) -> Problem | None:
    """Refuse (422) a NUL (U+0000) in an address: nothing has such a name, and PostgreSQL fails."""
    if "\0" not in scope["path"] and b"%00" not in scope["query_string"]:
        return None
    detail = "the address holds a NUL (%00), which nothing here has: leave it out"
    return _problem(422, "request", "The request is wrong", detail)


class BodyLimit:
    """Refuses (413) bodies larger than `LARGEST`, or than `upload_mb` for an upload.

    They are counted as they arrive, whatever the request says of its length.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app = app
        self._upload = settings.upload_mb * 2**20 + _FORM

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its body counted, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        size, most = 0, self._upload if route_path(scope) == _UPLOAD else LARGEST
        detail = f"the request is larger than the {most:,} bytes that are taken"
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared.isdigit() or int(declared) > most:
            refusal = problem_response(_problem(413, "too-large", "Too large", detail))
            await refusal(scope, receive, send)
            return

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > most:
                raise HTTPException(413, detail)
            return message

        await self._app(scope, counted, send)


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
