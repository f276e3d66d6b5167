"""Sessions: questions that belong together."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from askgraph.serve.hub import Hub, HubDep, needs
from askgraph.serve.identity.principal import Principal
from askgraph.serve.problems import Missing
from askgraph.serve.runs.forgetting import stopped
from askgraph.serve.store import SessionRow, new_id
from askgraph.serve.views.sessions import SessionBody, SessionSummary, SessionsView, SessionView

__all__ = ["router"]

router = APIRouter(prefix="/api/v1", tags=["sessions"])
Asker = Annotated[Principal, Depends(needs("ask"))]
_QUESTIONS = 200


@router.get("/sessions")
async def sessions(
    hub: HubDep, caller: Asker, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> SessionsView:
    """Return the caller's sessions, the one changed last first; none without key and cookie."""
    rows = await hub.store.sessions(caller.id, limit=limit) if caller.has_history else []
    return SessionsView(sessions=[_summary(row) for row in rows])


@router.post("/sessions", status_code=201)
async def begin(body: SessionBody, hub: HubDep, caller: Asker) -> SessionSummary:
    """Begin a session."""
    row = SessionRow(new_id(), caller.id, body.title)
    await hub.store.add_session(row)
    return _summary(row)


@router.get("/sessions/{id}")
async def one(id: str, hub: HubDep, caller: Asker) -> SessionView:
    """Return a session with its questions, the latest first."""
    row = await _own(hub, id, caller)
    runs = await hub.store.runs(caller.id, session=id, limit=_QUESTIONS)
    questions = await hub.kept.summaries(runs, caller)
    return SessionView(**_summary(row).model_dump(), questions=questions)


@router.patch("/sessions/{id}")
async def rename(id: str, body: SessionBody, hub: HubDep, caller: Asker) -> SessionSummary:
    """Give a session another title."""
    await _own(hub, id, caller)
    await hub.store.change_session(id, title=body.title)
    return _summary(await _own(hub, id, caller))


@router.delete("/sessions/{id}", status_code=204)
async def forget(id: str, hub: HubDep, caller: Asker) -> None:
    """Delete a session with its questions."""
    await _own(hub, id, caller)
    await stopped(hub, caller.id, session=id)
    await hub.store.delete_session(id)


async def _own(hub: Hub, id: str, caller: Principal) -> SessionRow:
    row = await hub.store.session(id)
    if row is None or row.owner != caller.id:
        raise Missing(f"there is no session {id!r}, or it is not yours")
    return row


def _summary(row: SessionRow) -> SessionSummary:
    values = asdict(row)
    return SessionSummary(**{name: values[name] for name in SessionSummary.model_fields})
