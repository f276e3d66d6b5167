"""How large a request may be: counted as it arrives, whatever it says of its length."""

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askgraph.serve.middleware.paths import route_path
from askgraph.serve.middleware.refusal import refused
from askgraph.serve.settings import ServeSettings

__all__ = ["LARGEST", "UPLOAD", "BodyLimit"]

LARGEST = 2**20
"""Bytes of the body of any request but an upload."""

UPLOAD = "/api/v1/graphs/upload"
"""The path to which files are sent."""

_FORM = 64 * 1024  # bytes of a form around its files


class BodyLimit:
    """Refuses (413) bodies that are larger than `LARGEST`, of an upload than `upload_mb`."""

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app = app
        self._upload = settings.upload_mb * 2**20 + _FORM

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = self._upload if route_path(scope) == UPLOAD else LARGEST
        detail = f"the request is larger than the {most:,} bytes that are taken"
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared.isdigit() or int(declared) > most:
            await refused(scope, receive, send, 413, "too-large", detail)
            return
        size = 0

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > most:
                raise HTTPException(413, detail)
            return message

        await self._app(scope, counted, send)
