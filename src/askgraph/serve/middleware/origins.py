"""Requests that pages of other sites make in somebody's browser: refused unless their site may.

A browser says where a request comes from (Origin, Sec-Fetch-Site). Programs say nothing of it and
are let through: they have no one's cookies.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from askgraph.serve.middleware.refusal import refused
from askgraph.serve.settings import ServeSettings

__all__ = ["OriginCheck"]

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN = frozenset({"same-origin", "none"})


class OriginCheck:
    """Refuses (403) what a page of another site may not do here.

    That is every request that is not safe, every WebSocket, and safe requests other than following
    a link: they would be work without a purpose, for CORS keeps their answers from the page.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app = app
        self._allowed = {origin.lower().rstrip("/") for origin in settings.cors_origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] in ("http", "websocket") and not self._admits(scope):
            detail = (
                "a page of another site may not do this: an operator can allow its origin with"
                " cors_origins"
            )
            await refused(scope, receive, send, 403, "origin", detail)
            return
        await self._app(scope, receive, send)

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


def _follows_link(headers: Mapping[str, str]) -> bool:
    """Whether a browser opens the address as a page of its own."""
    return (
        headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest", "document") == "document"
    )
