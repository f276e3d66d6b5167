"""Feedback: answers found right or wrong, and queries that people confirm for everybody."""

from fastapi import APIRouter
from pydantic import BaseModel, Field

from askgraph.serve.hub import Asker, Confirmer, HubDep
from askgraph.serve.identity.principal import NotAllowed, Principal
from askgraph.serve.problems import Missing
from askgraph.serve.runs.replies import confirmed, withdrawn
from askgraph.serve.runs.views import ConfirmBody, FeedbackBody, FeedbackView, RunView
from askgraph.serve.store import Feedback, Verified

router = APIRouter(prefix="/api/v1", tags=["feedback"])


class VerifiedOne(BaseModel):
    """A question and the query that everybody who asks it is answered with."""

    id: str
    question: str
    query: str
    language: str | None = None
    rows: int = Field(description="How many rows the query gave when it was confirmed.")
    when: str = Field(description="When it was confirmed (ISO 8601, UTC).")
    by: str | None = Field(None, description="Who confirmed it.")
    run: str | None = Field(None, description="The run that it was confirmed of.")
    mine: bool = Field(description="Whether the caller confirmed it.")


class VerifiedList(BaseModel):
    """The verified answers of a graph, the latest first."""

    verified: list[VerifiedOne]


@router.post("/runs/{id}/feedback")
async def feedback(id: str, body: FeedbackBody, hub: HubDep, caller: Asker) -> FeedbackView:
    """Keep whether an answer is right; a second verdict replaces the first."""
    await hub.records.row(id, caller)
    await hub.store.put_feedback(Feedback(id, caller.id, body.verdict, body.comment))
    return FeedbackView(verdict=body.verdict, comment=body.comment)


@router.post("/runs/{id}/confirm")
async def confirm(id: str, body: ConfirmBody, hub: HubDep, caller: Confirmer) -> RunView:
    """Confirm that a query answers a question: from now on the same question gets it at once.

    The query is run again first; one that fails cannot be confirmed.
    """
    await confirmed(hub, id, body.query, caller)
    return await hub.records.view(id, caller)


@router.delete("/runs/{id}/confirm")
async def withdraw(id: str, hub: HubDep, caller: Confirmer) -> RunView:
    """Withdraw the query that was confirmed for a question."""
    await withdrawn(hub, id, caller)
    return await hub.records.view(id, caller)


@router.get("/graphs/{graph}/verified")
async def listed(graph: str, hub: HubDep, caller: Confirmer) -> VerifiedList:
    """Return the verified answers of a graph, the latest first."""
    hub.graphs.settings(graph, caller)
    found = await hub.store.verified(graph)
    return VerifiedList(verified=[_view(one, caller) for one in reversed(found)])


@router.delete("/graphs/{graph}/verified/{id}", status_code=204, name="withdraw")
async def withdraw_verified(graph: str, id: str, hub: HubDep, caller: Confirmer) -> None:
    """Withdraw a verified answer: the caller's own or, of an `admin`, anybody's."""
    hub.graphs.settings(graph, caller)
    one = next((one for one in await hub.store.verified(graph) if one.id == id), None)
    if one is None:
        raise Missing(f"there is no verified answer {id!r} of {graph!r}")
    if one.owner != caller.id and not caller.may("admin"):
        raise NotAllowed("somebody else confirmed this: they withdraw it, or an administrator")
    await hub.store.withdraw(id)


def _view(one: Verified, caller: Principal) -> VerifiedOne:
    return VerifiedOne.model_validate({**vars(one), "mine": one.owner == caller.id})
