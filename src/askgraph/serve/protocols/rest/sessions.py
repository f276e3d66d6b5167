"""Sessions: questions that belong together."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from askgraph.serve.hub import Asker, HubDep
from askgraph.serve.protocols.rest.questions import stop_runs
from askgraph.serve.runs.views import Body, RunSummary
from askgraph.serve.store import SessionRow, new_id

router = APIRouter(prefix="/api/v1", tags=["sessions"])
_QUESTIONS = 200


class SessionBody(Body):
    """The title of a session."""

    title: str = Field("", max_length=200)


class SessionSummary(BaseModel):
    """A conversation."""

    id: str
    title: str
    created: str = Field(description="A time in UTC (ISO 8601).")
    changed: str = Field(description="When something was asked in it last.")
    runs: int = Field(description="How many questions it has.")


class SessionsView(BaseModel):
    """The caller's sessions, the one changed last first."""

    sessions: list[SessionSummary]


class SessionView(SessionSummary):
    """A conversation with its questions, the latest first."""

    questions: list[RunSummary]


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
    row = await hub.records.session(id, caller)
    runs = await hub.store.runs(caller.id, session=id, limit=_QUESTIONS)
    questions = await hub.records.summaries(runs, caller)
    return SessionView(**_summary(row).model_dump(), questions=questions)


@router.patch("/sessions/{id}")
async def rename(id: str, body: SessionBody, hub: HubDep, caller: Asker) -> SessionSummary:
    """Give a session another title."""
    await hub.records.session(id, caller)
    await hub.store.change_session(id, title=body.title)
    return _summary(await hub.records.session(id, caller))


@router.delete("/sessions/{id}", status_code=204)
async def forget(id: str, hub: HubDep, caller: Asker) -> None:
    """Delete a session with its questions."""
    await hub.records.session(id, caller)
    await stop_runs(hub, caller.id, session=id)
    await hub.store.delete_session(id)


def _summary(row: SessionRow) -> SessionSummary:
    return SessionSummary.model_validate(vars(row))
