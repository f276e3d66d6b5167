"""Whether the server lives, whether it takes requests, and what it has counted."""

from fastapi import APIRouter, Request, Response

from askgraph.errors import AskgraphError
from askgraph.serve.hub import Hub, HubDep, caller_of
from askgraph.serve.identity.identify import asking_of
from askgraph.serve.middleware.metrics import Metrics
from askgraph.serve.problems import Missing

__all__ = ["router"]

router = APIRouter(tags=["operations"])
_LOOPBACK = frozenset({"127.0.0.1", "::1", "::ffff:127.0.0.1"})


@router.get("/healthz")
async def alive() -> dict[str, str]:
    """Say that the process answers."""
    return {"status": "alive"}


@router.get("/readyz", responses={503: {"description": "It starts, stops or has no store."}})
async def ready(request: Request, response: Response) -> dict[str, str]:
    """Say whether requests may be sent here: not while it starts or stops, nor without a store."""
    hub: Hub | None = getattr(request.app.state, "hub", None)
    status = "starting" if hub is None else "ready" if hub.ready else "stopping"
    if hub is not None and hub.ready:
        try:
            await hub.store.alive()
        except AskgraphError:
            status = "the store does not answer"
    if status != "ready":
        response.status_code = 503
    return {"status": status}


@router.get("/metrics", response_class=Response)
async def metrics(request: Request, hub: HubDep) -> Response:
    """Return metrics in Prometheus' text format, to whom the settings let read them."""
    match hub.settings.metrics:
        case "admin":
            (await caller_of(request, hub)).check("admin")
        case "loopback" if not _from_here(request):
            raise Missing("metrics are read on this machine only; see the setting 'metrics'")
        case "off":
            raise Missing("metrics are off; see the setting 'metrics'")
    counted: Metrics = request.app.state.metrics
    return Response(counted.text(), media_type=counted.content_type)


def _from_here(request: Request) -> bool:
    """Whether a request comes from this machine, and not for another one by way of a proxy here."""
    asking = asking_of(request)
    return asking.client in _LOOPBACK and not asking.by_proxy
