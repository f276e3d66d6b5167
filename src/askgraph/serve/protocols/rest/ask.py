"""Ask a question, and hear of it: at once as JSON, or step by step as server-sent events."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from askgraph.serve.hub import HubDep, needs
from askgraph.serve.identity.principal import Principal
from askgraph.serve.protocols.disconnect import unless_left
from askgraph.serve.protocols.streams import event_stream
from askgraph.serve.views.runs import AskBody, RunView

__all__ = ["router"]

router = APIRouter(prefix="/api/v1", tags=["questions"])
Asker = Annotated[Principal, Depends(needs("ask"))]
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
    return await unless_left(request, hub.runs.outcome(run))
