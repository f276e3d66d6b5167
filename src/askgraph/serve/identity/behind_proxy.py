"""Takes a trusted proxy's word for whose request it hands on, and by which scheme it came."""

from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from askgraph.serve.identity.addresses import client_address, is_trusted, networks
from askgraph.serve.identity.asking import PEER
from askgraph.serve.settings import ServeSettings

__all__ = ["BehindProxy"]


class BehindProxy:
    """Makes `client` and `scheme` of a request those that its proxy was asked by.

    Whoever is no trusted proxy is taken to be the caller, whatever their headers say. Who is
    connected to this server stands in the scope as `PEER`.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app = app
        self._trusted = networks(settings.trusted_proxies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on, with its caller."""
        if scope["type"] in ("http", "websocket"):
            scope = {**scope, **self._asked_by(scope)}
        await self._app(scope, receive, send)

    def _asked_by(self, scope: Scope) -> dict[str, Any]:
        peer, port = scope["client"] or ("", 0)
        if not is_trusted(peer, self._trusted):
            return {PEER: peer}
        headers = Headers(scope=scope)
        # Some proxies write a line of their own below what the caller sent.
        forwarded = ",".join(headers.getlist("x-forwarded-for"))
        caller = client_address(peer, forwarded, self._trusted)
        found: dict[str, Any] = {PEER: peer, "client": (caller, port if caller == peer else 0)}
        if headers.get("x-forwarded-proto", "").strip().lower() == "https":
            found["scheme"] = "wss" if scope["type"] == "websocket" else "https"
        return found
