"""The server itself: its settings, methods and models, the caller, health and metrics."""

import asyncio
import inspect
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from askgraph import plugins
from askgraph.errors import SetupError
from askgraph.methods import PRESETS, can_follow_up, get_preset_settings, parse_setting_help
from askgraph.server.auth.identify import get_credentials
from askgraph.server.hub import Asker, Caller, Hub, HubDep, identify_caller
from askgraph.server.problems import NotFound, Problem, to_problem_response
from askgraph.server.runs import choose_default_method, list_method_names, list_open_settings
from askgraph.server.store.runs import AverageCost
from askgraph.server.telemetry import Metrics
from askgraph.workspace.models import is_model_required
from askgraph.workspace.settings import load_model_tables

_TYPE_NAMES = {bool: "boolean", int: "integer", float: "number", str: "text"}


class SettingView(BaseModel):
    """A setting of a method that callers may change."""

    name: str
    type: str = Field(description="boolean, integer, number or text.")
    default: bool | int | float | str
    paper: bool | int | float | str = Field(description="Its value with the setting preset=paper.")
    help: str = Field(description="What it does.")


class MethodView(BaseModel):
    """A method, and the average cost of a question."""

    name: str
    words: str = Field(description="What it does, in a sentence.")
    needs_model: bool
    converses: bool = Field(description="Whether it looks at earlier questions.")
    usable: bool = Field(description="Whether it is available with the current setup.")
    missing: str | None = Field(None, description="What is missing if it is not available.")
    settings: list[SettingView]
    questions: int = Field(description="Number of questions behind the averages below.")
    seconds: float | None = Field(None, description="Seconds per question, on average here.")
    tokens: float | None = Field(None, description="Tokens per question, on average here.")
    money: float | None = Field(None, description="Money per question, on average here.")


class ModelView(BaseModel):
    """A language model of the workspace."""

    name: str
    model: str
    provider: str


class MethodsView(BaseModel):
    """The methods and models that callers may choose."""

    default: str
    methods: list[MethodView]
    models: list[ModelView]


async def list_choices(hub: Hub) -> MethodsView:
    """Return the methods and language models that callers may choose."""
    costs = await hub.store.get_average_costs()
    names = list_method_names(hub.settings)
    views = [
        await asyncio.to_thread(_build_method_view, hub, name, costs.get(name)) for name in names
    ]
    models = [
        ModelView(
            name=name,
            model=str(table.get("model", "")),
            provider=str(table.get("provider", "openai")),
        )
        for name, table in load_model_tables(hub.workspace.folder).items()
    ]
    return MethodsView(default=choose_default_method(names), methods=views, models=models)


def _build_method_view(hub: Hub, name: str, cost: AverageCost | None) -> MethodView:
    missing, supports_follow_up = None, False
    plugin: Any = None
    needs_model = False
    try:
        plugin = plugins.load("method", name)
        called_name = hub.workspace.resolve_method(name)[0]
        needs_model = is_model_required(plugins.load("method", called_name))
        method = hub.workspace.method(name, models=hub.models)
        supports_follow_up, missing = can_follow_up(method), getattr(method, "missing", "") or None
    except SetupError as error:
        missing = " ".join(str(error).split())
    paper_settings: dict[str, Any] = {
        "preset": PRESETS[1],
        **get_preset_settings(plugin, PRESETS[1]),
    }
    help_texts = parse_setting_help(plugin) if plugin else {}
    settings = [
        SettingView(
            name=key,
            type=_TYPE_NAMES[type(value)],
            default=value,
            paper=paper_settings.get(key, value),
            help=help_texts.get(key, ""),
        )
        for key, value in (list_open_settings(plugin) if plugin else {}).items()
    ]
    first_sentence = " ".join((inspect.getdoc(plugin) or "").split()).partition(". ")[0]
    return MethodView(
        name=name,
        words=first_sentence.partition(";")[0].rstrip(".") + "." if first_sentence else "",
        needs_model=needs_model,
        converses=supports_follow_up,
        usable=missing is None,
        missing=missing,
        settings=settings,
        **(vars(cost) if cost else {"questions": 0}),
    )


router = APIRouter(prefix="/api/v1", tags=["server"])
methods_router = APIRouter(prefix="/api/v1", tags=["methods"])
health_router = APIRouter(tags=["operations"])
_LOOPBACK_ADDRESSES = frozenset({"127.0.0.1", "::1", "::ffff:127.0.0.1"})


class ServerView(BaseModel):
    """The settings that the page needs."""

    name: str = "askgraph"
    version: str
    timeout: float = Field(description="Seconds that a question may take.")
    rows: int = Field(description="Rows that are sent with an answer.")
    upload_mb: int
    tiles: str = Field(description="URL template of map tiles; empty: none.")
    images: bool = Field(description="Whether images of other hosts may be shown.")


class LimitsView(BaseModel):
    """The limits of a caller; 0 means no limit."""

    requests_per_minute: int
    parallel: int
    tokens_per_day: int
    money_per_day: float
    graphs: int = Field(description="Graphs that they added over the web.")


class MeView(BaseModel):
    """The caller, with scopes and limits."""

    id: str
    name: str
    scopes: list[str]
    graphs: list[str] | None = Field(description="Graphs that may be asked; null: all.")
    limits: LimitsView


@router.get("/server")
async def get_server(hub: HubDep) -> ServerView:
    """Return the settings that the page needs; anybody may read them."""
    overrides = {"version": version("askgraph"), "rows": hub.settings.page_rows}
    return ServerView.model_validate({**vars(hub.settings), **overrides})


@router.get("/me")
async def get_caller(caller: Caller) -> MeView:
    """Return the caller, with scopes and limits."""
    graphs = None if caller.graphs is None else sorted(caller.graphs)
    overrides = {"scopes": sorted(caller.scopes), "graphs": graphs, "limits": vars(caller.limits)}
    return MeView.model_validate({**vars(caller), **overrides})


@methods_router.get("/methods")
async def list_methods(hub: HubDep, caller: Asker) -> MethodsView:
    """Return the methods and models, with the average costs of questions on this server."""
    return await list_choices(hub)


_PROBE_TIMEOUT_SECONDS = 1.5  # seconds for the store, less than a probe waits


@health_router.get("/healthz")
async def check_alive() -> dict[str, str]:
    """Report that the process responds."""
    return {"status": "alive"}


@health_router.get("/readyz", responses={503: {"description": "It starts, stops or has no store."}})
async def check_ready(request: Request, response: Response) -> dict[str, str]:
    """Report whether to route requests here: not at startup, at shutdown or without a store."""
    hub: Hub | None = getattr(request.app.state, "hub", None)
    status = "starting" if hub is None else "ready" if hub.ready else "stopping"
    if hub is not None and hub.ready and not await hub.check_store(_PROBE_TIMEOUT_SECONDS):
        status = "the store does not answer"
    if status != "ready":
        response.status_code = 503
    return {"status": status}


@router.get("/socket", include_in_schema=False)
@router.get("/sessions/{id}/socket", include_in_schema=False)
async def answer_websocket() -> Response:
    """Tell clients of the former WebSocket what replaces it."""
    return to_problem_response(
        Problem(
            type="urn:askgraph:problem:gone",
            title="WebSocket is no longer supported",
            status=410,
            detail="ask with POST /api/v1/ask and the header 'Accept: text/event-stream', which "
            "gives the same events; /docs describes it",
        )
    )


@health_router.get("/metrics", response_class=Response)
async def get_metrics(request: Request, hub: HubDep) -> Response:
    """Return metrics in Prometheus' text format, to callers that the settings allow."""
    match hub.settings.metrics:
        case "admin":
            (await identify_caller(request, hub)).require_scope("admin")
        case "loopback":
            # Bypass proxies, which may answer for another machine.
            credentials = get_credentials(request)
            if credentials.client not in _LOOPBACK_ADDRESSES or credentials.is_forwarded:
                raise NotFound("metrics are read on this machine only; see the setting 'metrics'")
        case "off":
            raise NotFound("metrics are off; see the setting 'metrics'")
    server_metrics: Metrics = request.app.state.metrics
    return Response(server_metrics.render(), media_type=server_metrics.content_type)
