"""Ask a question, and hear of it: at once as JSON, or step by step as server-sent events."""

import asyncio
from collections.abc import Awaitable
from typing import Annotated, TypeVar

from fastapi import APIRouter, Depends, Request, Response

from askgraph.serve.accounts.principal import Principal
from askgraph.serve.depends import HubDep, needs
from askgraph.serve.streams import event_stream
from askgraph.serve.views.runs import AskBody, RunView

__all__ = ["router"]

router = APIRouter(prefix="/api/v1", tags=["questions"])
Asker = Annotated[Principal, Depends(needs("ask"))]
Value = TypeVar("Value")
_STREAM = "text/event-stream"


@router.post(
    "/ask",
    response_model=RunView,
    responses={200: {"content": {_STREAM: {}}, "description": "The answer, or events up to it."}},
)
async def ask(body: AskBody, request: Request, hub: HubDep, caller: Asker) -> RunView | Response:
    """Ask a question of one graph or several.

    With `Accept: text/event-stream` the steps come as they are taken; the last event is `outcome`,
    `problem`, `cancelled` or `handed_back`. A question that nobody listens to any more is stopped.
    """
    run = await hub.ask(body, caller)
    if _STREAM in request.headers.get("accept", ""):
        return event_stream(hub.runs.read(run))
    return await _unless_left(request, hub.runs.outcome(run))


async def _unless_left(request: Request, work: Awaitable[Value]) -> Value:
    """Do work that is given up where the caller closes the connection."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
        return await task
    finally:
        gone.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
