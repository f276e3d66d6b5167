"""What people say of answers: right or wrong, and queries that they confirm."""

from typing import Annotated

from fastapi import APIRouter, Depends

from askgraph.serve.hub import HubDep, needs
from askgraph.serve.identity.principal import Principal
from askgraph.serve.runs.confirming import confirmed, withdrawn
from askgraph.serve.store import Feedback
from askgraph.serve.views.runs import ConfirmBody, FeedbackBody, FeedbackView, RunView

__all__ = ["router"]

router = APIRouter(prefix="/api/v1", tags=["feedback"])
Asker = Annotated[Principal, Depends(needs("ask"))]
Confirmer = Annotated[Principal, Depends(needs("confirm"))]


@router.post("/runs/{id}/feedback")
async def feedback(id: str, body: FeedbackBody, hub: HubDep, caller: Asker) -> FeedbackView:
    """Keep whether an answer is right; said again, it takes the place of what was said before."""
    await hub.kept.row(id, caller)
    await hub.store.put_feedback(Feedback(id, caller.id, body.verdict, body.comment))
    return FeedbackView(verdict=body.verdict, comment=body.comment)


@router.post("/runs/{id}/confirm")
async def confirm(id: str, body: ConfirmBody, hub: HubDep, caller: Confirmer) -> RunView:
    """Confirm that a query answers a question: from now on the same question gets it at once.

    The query is run again first; one that fails cannot be confirmed.
    """
    await confirmed(hub, id, body.query, caller)
    return await hub.kept.view(id, caller)


@router.delete("/runs/{id}/confirm")
async def withdraw(id: str, hub: HubDep, caller: Confirmer) -> RunView:
    """Withdraw what was confirmed for a question."""
    await withdrawn(hub, id, caller)
    return await hub.kept.view(id, caller)
