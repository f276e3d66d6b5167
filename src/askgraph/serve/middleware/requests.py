"""Requests with an id, a line in the log and a count; a bug's details reach nobody."""

import logging
import re
import time
from uuid import uuid4

import structlog
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askgraph.serve.middleware.checks import route_path
from askgraph.serve.middleware.metrics import Metrics
from askgraph.serve.middleware.telemetry import request_span
from askgraph.serve.problems import Problem, problem_response

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
