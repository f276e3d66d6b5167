"""The server itself: its settings and methods, the caller, health and metrics."""

from dataclasses import asdict
from importlib.metadata import version

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from askgraph.server.auth.identify import credentials_of
from askgraph.server.hub import Asker, Caller, Hub, HubDep, caller_of
from askgraph.server.middleware.telemetry import Metrics
from askgraph.server.problems import Missing, Problem, problem_response
from askgraph.server.runs.methods import MethodsView, choices

router = APIRouter(prefix="/api/v1", tags=["server"])
methods_router = APIRouter(prefix="/api/v1", tags=["methods"])
health_router = APIRouter(tags=["operations"])
_LOOPBACK_ADDRESSES = frozenset({"127.0.0.1", "::1", "::ffff:127.0.0.1"})


class ServerView(BaseModel):
    """What a page has to know of its server."""

    name: str = "askgraph"
    version: str
    timeout: float = Field(description="Seconds that a question may take.")
    rows: int = Field(description="Rows that are sent with an answer.")
    upload_mb: int
    tiles: str = Field(description="URL template of map tiles; empty: none.")
    images: bool = Field(description="Whether images of other hosts may be shown.")


class LimitsView(BaseModel):
    """What a caller may use; 0 is no limit."""

    requests_per_minute: int
    parallel: int
    tokens_per_day: int
    money_per_day: float
    graphs: int = Field(description="Graphs that they added over the web.")


class MeView(BaseModel):
    """Who asks, and what they may."""

    id: str
    name: str
    scopes: list[str]
    graphs: list[str] | None = Field(description="Graphs that may be asked; null: all.")
    limits: LimitsView


@router.get("/server")
async def server(hub: HubDep) -> ServerView:
    """Return the settings that a page needs; anybody may read them."""
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
    """Return the caller, with their scopes and limits."""
    return MeView(
        id=caller.id,
        name=caller.name,
        scopes=sorted(caller.scopes),
        graphs=None if caller.graphs is None else sorted(caller.graphs),
        limits=LimitsView(**asdict(caller.limits)),
    )


@methods_router.get("/methods")
async def methods(hub: HubDep, caller: Asker) -> MethodsView:
    """Return the methods and models, with what questions cost with them on this server so far."""
    return await choices(hub)


_PROBED = 1.5  # seconds for the store, below those that a probe waits


@health_router.get("/healthz")
async def alive() -> dict[str, str]:
    """Report that the process answers."""
    return {"status": "alive"}


@health_router.get("/readyz", responses={503: {"description": "It starts, stops or has no store."}})
async def ready(request: Request, response: Response) -> dict[str, str]:
    """Report whether to send requests here: not while it starts or stops, nor without a store."""
    hub: Hub | None = getattr(request.app.state, "hub", None)
    status = "starting" if hub is None else "ready" if hub.ready else "stopping"
    if hub is not None and hub.ready and not await hub.stored(_PROBED):
        status = "the store does not answer"
    if status != "ready":
        response.status_code = 503
    return {"status": status}


@router.get("/socket", include_in_schema=False)
@router.get("/sessions/{id}/socket", include_in_schema=False)
async def answer_websocket() -> Response:
    """Tell clients of the former WebSocket what takes its place."""
    return problem_response(
        Problem(
            type="urn:askgraph:problem:gone",
            title="There is no WebSocket any more",
            status=410,
            detail="ask with POST /api/v1/ask and the header 'Accept: text/event-stream', which "
            "gives the same events; /docs describes it",
        )
    )


@health_router.get("/metrics", response_class=Response)
async def metrics(request: Request, hub: HubDep) -> Response:
    """Return metrics in Prometheus' text format, to callers whom the settings allow."""
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
    credentials = credentials_of(request)
    return credentials.client in _LOOPBACK_ADDRESSES and not credentials.by_proxy
