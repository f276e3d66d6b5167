"""A request refused before it reaches a handler, as problem JSON; a WebSocket likewise."""

from starlette.types import Receive, Scope, Send

from askgraph.serve.problem_response import problem_response
from askgraph.serve.problems import Problem

__all__ = ["refused"]

_TITLES = {
    "request": "The request is wrong",
    "host": "Another server is meant",
    "origin": "Not from that page",
    "too-large": "Too large",
}


async def refused(
    scope: Scope, receive: Receive, send: Send, status: int, kind: str, detail: str
) -> None:
    """Answer a request with a problem; a WebSocket is closed before it opens (HTTP 403)."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": detail[:120]})
        return
    problem = Problem(
        type=f"urn:askgraph:problem:{kind}", title=_TITLES[kind], status=status, detail=detail
    )
    await problem_response(problem)(scope, receive, send)
