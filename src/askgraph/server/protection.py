"""Protect the server: the middleware around the application, in order.

Host, origin, address and size of a request are checked before any handler. Without the host check,
an attacker could point a DNS name at this machine (DNS rebinding), and the browser would take this
server for the attacker's. Browsers declare where a request comes from (Origin, Sec-Fetch-Site);
programs do not, and are let through, since they carry nobody's cookies.
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
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askgraph.server.problems import Problem, to_problem_response
from askgraph.server.settings import ServeSettings
from askgraph.server.telemetry import Metrics, start_request_span

_FIXED_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_FRAMED_PREFIX = "/embed/"  # of pages that other sites may show in a frame
_HSTS_ONE_YEAR = "max-age=31536000"
_CORS_HEADERS = (
    "Accept Authorization Content-Type Last-Event-ID MCP-Protocol-Version X-API-Key X-Request-Id"
).split()


def protect(app: FastAPI, settings: ServeSettings) -> None:
    """Add the middleware to an application; its metrics are at `app.state.metrics`."""
    metrics = app.state.metrics = Metrics()
    app.add_middleware(GZipMiddleware, compresslevel=5)  # the last one that a request passes
    app.add_middleware(BodyLimit, settings=settings)
    app.add_middleware(RequestChecks, checks=(build_origin_check(settings), check_nul))
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=[origin.rstrip("/") for origin in settings.cors_origins],
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=_CORS_HEADERS,
            expose_headers=["X-Request-Id", "Retry-After"],
            max_age=600,
        )
    app.add_middleware(RequestChecks, checks=(build_host_check(settings),))
    app.add_middleware(SecurityHeaders, settings=settings)
    app.add_middleware(RequestLog, metrics=metrics)


def build_content_policy(settings: ServeSettings, frames: str = "'none'") -> str:
    """Build the content security policy: own content, allowed images, and who may frame it."""
    images = ["'self'", "data:"]
    if settings.images:
        images.append("https:")
    if settings.tiles:
        tiles = urlsplit(settings.tiles)
        images.append(f"{tiles.scheme}://{tiles.netloc.replace('{s}', '*')}")
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        f"img-src {' '.join(images)}; font-src 'self'; manifest-src 'self'; "
        f"frame-ancestors {frames}; base-uri 'none'; form-action 'self'"
    )


class SecurityHeaders:
    """Middleware that adds security headers to every response, without replacing a handler's.

    API responses are not cached unless a handler allows it. Over TLS it adds HSTS.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app = app
        resource_policy = "cross-origin" if settings.cors_origins else "same-origin"
        self._headers = {
            **_FIXED_HEADERS,
            "Content-Security-Policy": build_content_policy(settings),
            "Cross-Origin-Resource-Policy": resource_policy,
        }
        policy = build_content_policy(settings, "*")
        self._framed_headers = {**self._headers, "Content-Security-Policy": policy}
        del self._framed_headers["X-Frame-Options"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, and add the headers to the response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        is_framed = get_route_path(scope).startswith(_FRAMED_PREFIX)
        added = self._framed_headers if is_framed else self._headers

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in added.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
                if scope.get("scheme") == "https":
                    headers.setdefault("Strict-Transport-Security", _HSTS_ONE_YEAR)
            await send(message)

        await self._app(scope, receive, send_with_headers)


_log = logging.getLogger("askgraph.server.requests")
_REQUEST_ID = re.compile(r"[\w-]{8,64}")
_UNLOGGED_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})
_STATUS_CLIENT_GONE = 499  # no status was sent because the client had disconnected


class RequestLog:
    """Middleware that assigns a request id (`X-Request-Id`), and logs and counts requests.

    The log contains neither query strings nor bodies. An unhandled exception becomes a problem
    with status 500 without details.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, then log and count it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        client_id = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
        id = client_id if _REQUEST_ID.fullmatch(client_id) else uuid4().hex
        status: int | None = None

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-Id"] = id
            await send(message)

        started_at = time.perf_counter()
        with (
            structlog.contextvars.bound_contextvars(request=id),
            start_request_span(scope) as end_span,
        ):
            try:
                await self._app(scope, receive, send_with_id)
            except ClientDisconnect:
                pass  # before its whole body arrived
            except Exception:  # noqa: BLE001 - a bug ends one request, not the server
                _log.exception("a request failed because of a bug")
                if status is None:
                    await to_problem_response(Problem.for_bug())(scope, receive, send_with_id)
            final_status = _STATUS_CLIENT_GONE if status is None else status
            # As its route has it, so that counts stay few.
            route = str(getattr(scope.get("route"), "path", "")) or "other"
            end_span(final_status, route)
            self._log_request(scope, final_status, route, time.perf_counter() - started_at)

    def _log_request(self, scope: Scope, status: int, route: str, seconds: float) -> None:
        method = scope["method"]
        self._metrics.count_request(method, route, status, seconds)
        if get_route_path(scope) in _UNLOGGED_PATHS and status < 400:
            return
        principal = scope.get("state", {}).get("principal")
        client = scope.get("client")
        _log.log(
            logging.ERROR if status >= 500 else logging.INFO,
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


MAX_BODY_BYTES = 2**20
"""Maximum size of the body of any request except an upload."""

_UPLOAD_PATH = "/api/v1/graphs/upload"
_FORM_OVERHEAD_BYTES = 64 * 1024  # bytes of a form around its files
_LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
_WILDCARD_HOSTS = frozenset({"0.0.0.0", "::", ""})
_PROBE_PATHS = frozenset({"/healthz", "/readyz"})  # probes use the bare address
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN_SITES = frozenset({"same-origin", "none"})


RequestCheck = Callable[[Scope], Problem | None]
"""Returns the problem why a request is refused; None if it may pass."""


class RequestChecks:
    """Middleware that forwards a request, or responds with the problem of a failed check."""

    def __init__(self, app: ASGIApp, checks: Sequence[RequestCheck]) -> None:
        self._app = app
        self._checks = checks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or refuse it."""
        checks = self._checks if scope["type"] == "http" else ()
        problem = next(filter(None, (check(scope) for check in checks)), None)
        if problem is None:
            await self._app(scope, receive, send)
        else:
            await to_problem_response(problem)(scope, receive, send)


def _build_problem(status: int, kind: str, title: str, detail: str) -> Problem:
    return Problem(type=f"urn:askgraph:problem:{kind}", title=title, status=status, detail=detail)


def build_host_check(settings: ServeSettings) -> RequestCheck:
    """Return a check that refuses (400) requests whose Host header names another server.

    Accepted are loopback names, `host`, and `allowed_hosts`, where `*.example.org` matches all
    subdomains and `*` any host.
    """
    allowed = {host.lower() for host in settings.allowed_hosts}
    names = _LOOPBACK_HOSTS | ({settings.host.lower()} - _WILDCARD_HOSTS) | allowed
    parent_suffixes = tuple(name[1:] for name in allowed if name.startswith("*.")) or (" ",)

    def check(scope: Scope) -> Problem | None:
        host = _get_host(scope)
        is_known = host in names or "*" in names or host.endswith(parent_suffixes)
        if is_known or get_route_path(scope) in _PROBE_PATHS:
            return None
        return _build_problem(
            400,
            "host",
            "Unknown host name",
            f"this server does not answer to the name {host!r}: use one of its own names, or ask"
            " its operator to add this one to allowed_hosts",
        )

    return check


def build_origin_check(settings: ServeSettings) -> RequestCheck:
    """Return a check that refuses (403) cross-site requests from a browser."""
    # These are all unsafe requests, and safe ones that do not follow a link: CORS would hide their
    # responses from the page, so they would be useless work.
    allowed = {origin.lower().rstrip("/") for origin in settings.cors_origins}

    def is_allowed(scope: Scope) -> bool:
        headers = Headers(scope=scope)
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        is_safe = scope["method"] in _SAFE_METHODS
        if origin is not None:
            origin = origin.lower()
            # Ignore the scheme: a proxy may have terminated TLS.
            is_own_origin = urlsplit(origin).netloc == headers.get("host", "").lower() != ""
            if is_own_origin or origin in allowed or "*" in allowed:
                return True
            if not is_safe:
                return False
        follows_link = headers.get("sec-fetch-mode") == "navigate" and (
            headers.get("sec-fetch-dest", "document") == "document"
            or get_route_path(scope).startswith(_FRAMED_PREFIX)
        )
        return site is None or site in _OWN_SITES or (is_safe and follows_link)

    detail = "pages of other sites may not do this: cors_origins allows their origin"
    problem = _build_problem(403, "origin", "Cross-site request refused", detail)
    return lambda scope: None if is_allowed(scope) else problem


def check_nul(scope: Scope) -> Problem | None:
    """Refuse (422) a NUL (U+0000) in an address: no name contains one, and PostgreSQL fails."""
    if "\0" not in scope["path"] and b"%00" not in scope["query_string"]:
        return None
    detail = "the address contains a NUL (%00): remove it"
    return _build_problem(422, "request", "Invalid request", detail)


class BodyLimit:
    """Middleware that refuses (413) bodies over `MAX_BODY_BYTES`, or over `upload_mb` for uploads.

    Bytes are counted as they arrive, whatever the declared length.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app = app
        self._max_upload_bytes = settings.upload_mb * 2**20 + _FORM_OVERHEAD_BYTES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request while counting its body, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        size = 0
        max_bytes = (
            self._max_upload_bytes if get_route_path(scope) == _UPLOAD_PATH else MAX_BODY_BYTES
        )
        detail = f"the request is larger than the limit of {max_bytes:,} bytes"
        declared_length = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared_length.isdigit() or int(declared_length) > max_bytes:
            refusal = to_problem_response(_build_problem(413, "too-large", "Too large", detail))
            await refusal(scope, receive, send)
            return

        async def receive_and_count() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > max_bytes:
                raise HTTPException(413, detail)
            return message

        await self._app(scope, receive_and_count, send)


def get_route_path(scope: Scope) -> str:
    """Return the path that routes match, without the prefix under which a proxy serves it."""
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    has_prefix = root and (path == root or path.startswith(f"{root}/"))
    return path.removeprefix(root) if has_prefix else path


def _get_host(scope: Scope) -> str:
    """Return the name in the Host header in lower case, without port and brackets."""
    hosts = Headers(scope=scope).getlist("host")
    if len(hosts) != 1:
        return ""
    host = hosts[0].strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].rstrip(".")
