"""Protection of the server: the checks and headers around an application, in their order."""

import logging
import re
import time
from urllib.parse import urlsplit
from uuid import uuid4

import structlog
from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askgraph.serve.middleware.checks import BodyLimit, HostCheck, NoNul, OriginCheck, route_path
from askgraph.serve.middleware.telemetry import Metrics, request_span
from askgraph.serve.problems import Problem, problem_response
from askgraph.serve.settings import ServeSettings

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
    app.add_middleware(NoNul)
    app.add_middleware(OriginCheck, settings=settings)
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=[origin.rstrip("/") for origin in settings.cors_origins],
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=_CORS_HEADERS,
            expose_headers=["X-Request-Id", "Retry-After"],
            max_age=600,
        )
    app.add_middleware(HostCheck, settings=settings)
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


_log = logging.getLogger("askgraph.serve.requests")
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
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        given = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
        id = given if _ID.fullmatch(given) else uuid4().hex
        with structlog.contextvars.bound_contextvars(request=id):
            await self._told(scope, receive, send, id)

    async def _told(self, scope: Scope, receive: Receive, send: Send, id: str) -> None:
        status: int | None = None

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-Id"] = id
            elif message["type"] == "websocket.accept":
                status = 101
            elif message["type"] == "websocket.close" and status is None:
                status = 403
            await send(message)

        began = time.perf_counter()
        with request_span(scope) as span:
            try:
                await self._app(scope, receive, sent)
            except Exception:  # noqa: BLE001 - a bug ends one request, not the server
                _log.exception("a request failed by a bug")
                if status is None and scope["type"] == "http":
                    await problem_response(Problem.unexpected())(scope, receive, sent)
            final = _CLIENT_GONE if status is None else status
            span.ended(final, route := _route(scope))
        self._log(scope, final, route, time.perf_counter() - began)

    def _log(self, scope: Scope, status: int, route: str, seconds: float) -> None:
        method = scope.get("method", "WEBSOCKET")
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


def _route(scope: Scope) -> str:
    """The path of a request as its route has it, so that counts stay few."""
    route = scope.get("route")
    return str(getattr(route, "path", "")) or "other"
