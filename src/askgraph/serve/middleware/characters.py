"""Addresses that hold a NUL (U+0000): nothing here has such a name, and PostgreSQL fails at it."""

from starlette.types import ASGIApp, Receive, Scope, Send

from askgraph.serve.middleware.refusal import refused

__all__ = ["NoNul"]


class NoNul:
    """Refuses (422) requests with a NUL in their path or query."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] in ("http", "websocket") and _holds_nul(scope):
            detail = "the address holds a NUL (%00), which nothing here has: leave it out"
            await refused(scope, receive, send, 422, "request", detail)
            return
        await self._app(scope, receive, send)


def _holds_nul(scope: Scope) -> bool:
    return "\0" in scope["path"] or b"%00" in scope["query_string"]
