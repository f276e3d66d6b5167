"""Which methods and language models callers may choose, and what they cost."""

from typing import Annotated

from fastapi import APIRouter, Depends

from askgraph.serve.choices import choices
from askgraph.serve.hub import HubDep, needs
from askgraph.serve.identity.principal import Principal
from askgraph.serve.views.methods import MethodsView

__all__ = ["router"]

router = APIRouter(prefix="/api/v1", tags=["methods"])


@router.get("/methods")
async def methods(hub: HubDep, caller: Annotated[Principal, Depends(needs("ask"))]) -> MethodsView:
    """Return the methods and models, with what questions cost with them on this server so far."""
    return await choices(hub)
