"""Verified answers of a graph: what everybody is answered with, also when its run is forgotten."""

from typing import Annotated

from fastapi import APIRouter, Depends

from askgraph.serve.hub import HubDep, needs
from askgraph.serve.identity.principal import NotAllowed, Principal
from askgraph.serve.problems import Missing
from askgraph.serve.store import Verified
from askgraph.serve.views.verified import VerifiedList, VerifiedOne

__all__ = ["router"]

router = APIRouter(prefix="/api/v1", tags=["feedback"])
Confirmer = Annotated[Principal, Depends(needs("confirm"))]


@router.get("/graphs/{graph}/verified")
async def listed(graph: str, hub: HubDep, caller: Confirmer) -> VerifiedList:
    """Return what the questions of a graph are answered with, the latest first."""
    hub.graphs.settings(graph, caller)
    found = await hub.store.verified(graph)
    return VerifiedList(verified=[_view(one, caller) for one in reversed(found)])


@router.delete("/graphs/{graph}/verified/{id}", status_code=204)
async def withdraw(graph: str, id: str, hub: HubDep, caller: Confirmer) -> None:
    """Withdraw a verified answer: the caller's own or, of an `admin`, anybody's."""
    hub.graphs.settings(graph, caller)
    one = next((one for one in await hub.store.verified(graph) if one.id == id), None)
    if one is None:
        raise Missing(f"there is no verified answer {id!r} of {graph!r}")
    if one.owner != caller.id and not caller.may("admin"):
        raise NotAllowed("somebody else confirmed this: they withdraw it, or an administrator")
    await hub.store.withdraw(id)


def _view(one: Verified, caller: Principal) -> VerifiedOne:
    return VerifiedOne(
        id=one.id,
        question=one.question,
        query=one.query,
        language=one.language,
        rows=one.rows,
        when=one.when,
        by=one.by,
        run=one.run,
        mine=one.owner == caller.id,
    )
