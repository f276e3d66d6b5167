"""What became of questions: the history, one question, its steps; stop it, share it, forget it."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from askgraph.serve.hub import Caller, HubDep, needs
from askgraph.serve.identity.principal import Principal
from askgraph.serve.protocols.streams import event_stream
from askgraph.serve.runs.choosing import chosen
from askgraph.serve.runs.forgetting import forgotten, stopped
from askgraph.serve.views.runs import ChooseBody, RunsView, RunView, ShareBody

__all__ = ["router"]

router = APIRouter(prefix="/api/v1", tags=["questions"])
Asker = Annotated[Principal, Depends(needs("ask"))]


@router.get("/runs")
async def history(
    hub: HubDep,
    caller: Asker,
    session: Annotated[str | None, Query(max_length=64)] = None,
    search: Annotated[str, Query(max_length=200)] = "",
    before: datetime | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> RunsView:
    """Return the caller's questions, the latest first; `before` a time, for older ones.

    Callers without key and cookie have none: who they are, nobody can tell.
    """
    if not caller.has_history:
        return RunsView(runs=[], more=False)
    rows = await hub.store.runs(
        caller.id, session=session, limit=limit + 1, before=before, search=search
    )
    return RunsView(runs=await hub.kept.summaries(rows[:limit], caller), more=len(rows) > limit)


@router.delete("/runs")
async def forget_all(hub: HubDep, caller: Asker) -> dict[str, int]:
    """Delete the caller's whole history."""
    if not caller.has_history:
        return {"deleted": 0}
    return {"deleted": await forgotten(hub, caller.id)}


@router.get("/runs/{id}")
async def one(id: str, hub: HubDep, caller: Caller) -> RunView:
    """Return a question and what came of it."""
    return await hub.kept.view(id, caller)


@router.delete("/runs/{id}", status_code=204)
async def forget(id: str, hub: HubDep, caller: Asker) -> None:
    """Delete one question of the caller's."""
    await hub.kept.own(id, caller)
    await stopped(hub, caller.id, run=id)
    await hub.store.delete_run(id)


@router.get("/runs/{id}/events", response_class=Response)
async def events(
    id: str, hub: HubDep, caller: Caller, after: Annotated[int, Query(ge=-1)] = -1
) -> Response:
    """Return the events of a question after the one with the number `after`, as they come."""
    await hub.kept.row(id, caller)
    return event_stream(hub.runs.follow(id, caller, after))


@router.get("/runs/{id}/trace", response_class=Response)
async def trace(id: str, hub: HubDep, caller: Caller) -> Response:
    """Return all steps of a question, a line each, as `askgraph trace` reads them."""
    text = await hub.kept.steps(id, caller)
    name = f'attachment; filename="{id}.jsonl"'
    return Response(text, media_type="application/x-ndjson", headers={"Content-Disposition": name})


@router.post("/runs/{id}/cancel")
async def cancel(id: str, hub: HubDep, caller: Asker) -> RunView:
    """Stop a question that is under way."""
    await hub.kept.own(id, caller)
    await hub.runs.cancel(id)
    return await hub.kept.view(id, caller)


@router.post("/runs/{id}/choose")
async def choose(id: str, body: ChooseBody, hub: HubDep, caller: Asker) -> RunView:
    """Answer a question back by one of its readings; returns a new run with the answer."""
    return await chosen(hub, id, body.option, caller)


@router.post("/runs/{id}/share")
async def share(id: str, body: ShareBody, hub: HubDep, caller: Asker) -> RunView:
    """Let others who may ask the same graphs read a question by its address, or no longer."""
    await hub.kept.own(id, caller)
    await hub.store.share(id, body.shared)
    return await hub.kept.view(id, caller)
