"""Browsers without an account: a cookie that nobody guesses makes their history theirs."""

import hashlib
import re
import secrets

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

VISITOR = "askgraph_visitor"
"""The name of the cookie; it is set HttpOnly and SameSite=Lax."""

_BYTES = 24
_TOKEN = re.compile(r"[\w-]{32}", re.ASCII)
_KEPT = 400 * 24 * 3600  # seconds; browsers keep no cookie longer


def new_visitor() -> str:
    """Return the cookie's value for a browser that has none."""
    return secrets.token_urlsafe(_BYTES)


def visitor_id(token: str) -> str | None:
    """Return the id of the visitor with this cookie, None if no such cookie is ever set.

    Who reads the id in a log or in a database cannot make the cookie of it.
    """
    if not _TOKEN.fullmatch(token):
        return None
    return f"visitor:{hashlib.sha256(token.encode()).hexdigest()[:32]}"


class VisitorCookie:
    """Sets the cookie with a document, for a browser that has none; programs get none."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on, and the response with the cookie if it is missing."""
        if scope["type"] != "http" or not _is_new(HTTPConnection(scope)):
            await self._app(scope, receive, send)
            return

        async def with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):
                    headers.append("set-cookie", _cookie(scope))
            await send(message)

        await self._app(scope, receive, with_cookie)


def _is_new(request: HTTPConnection) -> bool:
    headers: Headers = request.headers
    return "text/html" in headers.get("accept", "") and not visitor_id(
        request.cookies.get(VISITOR, "")
    )


def _cookie(scope: Scope) -> str:
    parts = [
        f"{VISITOR}={new_visitor()}",
        f"Path={scope.get('root_path') or '/'}",
        f"Max-Age={_KEPT}",
        "HttpOnly",
        "SameSite=Lax",
    ]
    if scope.get("scheme") == "https":
        parts.append("Secure")
    return "; ".join(parts)
