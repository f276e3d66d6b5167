"""What the server says of itself, and of who asks."""

from dataclasses import asdict
from importlib.metadata import version

from fastapi import APIRouter

from askgraph.serve.hub import Caller, HubDep
from askgraph.serve.views.server import LimitsView, MeView, ServerView

__all__ = ["router"]

router = APIRouter(prefix="/api/v1", tags=["server"])


@router.get("/server")
async def server(hub: HubDep) -> ServerView:
    """Return what a page has to know of the server; anybody may ask that."""
    settings = hub.settings
    return ServerView(
        version=version("askgraph"),
        timeout=settings.timeout,
        rows=settings.page_rows,
        upload_mb=settings.upload_mb,
        tiles=settings.tiles,
        images=settings.images,
    )


@router.get("/me")
async def me(caller: Caller) -> MeView:
    """Return who the caller is, and what they may do."""
    return MeView(
        id=caller.id,
        name=caller.name,
        scopes=sorted(caller.scopes),
        graphs=None if caller.graphs is None else sorted(caller.graphs),
        limits=LimitsView(**asdict(caller.limits)),
    )
