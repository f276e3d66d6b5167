"""Protection of the server: the checks and headers around an application, in their order."""

from urllib.parse import urlsplit

from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askgraph.serve.middleware.checks import BodyLimit, HostCheck, NoNul, OriginCheck
from askgraph.serve.middleware.metrics import Metrics
from askgraph.serve.middleware.requests import Requests
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
