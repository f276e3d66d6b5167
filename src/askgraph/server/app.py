"""Assemble the server as one ASGI application: routers, middleware and lifespan."""

import asyncio
import logging
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.types import ASGIApp

from askgraph.atomic_files import to_no_space_error
from askgraph.errors import AskgraphError, SetupError
from askgraph.server import sparql
from askgraph.server.auth import NotAllowedError
from askgraph.server.auth.access_tokens import (
    METADATA_PATH,
    build_challenge,
    build_resource_metadata,
)
from askgraph.server.auth.identify import ProxyHeaders, VisitorCookie, check_access_rules
from askgraph.server.hub import Hub, get_hub, open_hub
from askgraph.server.openai import routes as chat
from askgraph.server.openai import to_openai_response
from askgraph.server.page import build_docs_router, build_missing_page, build_page_router
from askgraph.server.problems import Problem, describe_faults, to_problem, to_problem_response
from askgraph.server.protection import protect
from askgraph.server.rest import boards, graphs, profile, queries, questions, server
from askgraph.server.runs import RunRequest
from askgraph.server.runs.worker_pool import QuestionJob, reduce_garbage_collection
from askgraph.server.settings import ServeSettings
from askgraph.server.store import Store
from askgraph.server.telemetry import Metrics, set_up_logs
from askgraph.trace import Question
from askgraph.workspace import SEARCH_METHOD, Workspace

_ROUTERS = (
    questions.router, questions.sessions_router, questions.feedback_router, server.methods_router,
    server.router, graphs.router, profile.router, queries.router, boards.router,
    graphs.glossary_router, sparql.router, server.health_router, chat.router,
)  # fmt: skip
_SUMMARY = "Ask knowledge graphs questions in your own words."


def create_app(settings: ServeSettings, workspace: Workspace) -> FastAPI:
    """Build the application; its parts open at startup and close at shutdown."""

    @asynccontextmanager
    async def run_lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            hub = await stack.enter_async_context(open_hub(settings, workspace))
            metrics: Metrics = app.state.metrics
            runs = hub.runs
            metrics.register_gauges(
                lambda: runs.running_count,
                lambda: runs.waiting_count,
                lambda: hub.answerer.count_unavailable_models(),
            )
            runs.add_observer(metrics.count_question)
            app.state.hub = hub
            yield

    app = FastAPI(
        title="askgraph",
        summary=_SUMMARY,
        version=version("askgraph"),
        lifespan=run_lifespan,
        root_path=settings.root_path,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        responses={"4XX": {"model": Problem}, "5XX": {"model": Problem}},
    )
    app.add_middleware(VisitorCookie)
    for router in _ROUTERS:
        app.include_router(router)
    # The server never sends unsolicited messages, so clients cannot open a stream (GET: 405).
    app.router.routes.append(
        Route("/mcp", endpoint=_handle_mcp, methods=["POST"], include_in_schema=False)
    )
    if settings.oauth_issuer:
        metadata = build_resource_metadata(settings.oauth_issuer, settings.oauth_resource)

        async def get_resource_metadata(request: Request) -> JSONResponse:
            return JSONResponse(metadata)

        route = Route(METADATA_PATH + "{path:path}", get_resource_metadata, include_in_schema=False)
        app.router.routes.append(route)
    app.include_router(sparql.text2sparql_router)
    app.include_router(build_page_router())
    app.include_router(build_docs_router(app))
    protect(app, settings)
    app.add_middleware(ProxyHeaders, settings=settings)
    app.add_exception_handler(AskgraphError, _handle_error)
    app.add_exception_handler(OSError, _handle_full_disk)
    app.add_exception_handler(RequestValidationError, _handle_invalid)
    app.add_exception_handler(HTTPException, _handle_http_error)
    return app


async def _handle_mcp(request: Request) -> ASGIApp:
    """Return the MCP endpoint, which is imported at the first request."""
    state = request.app.state
    if not hasattr(state, "mcp"):
        state.mcp = await asyncio.to_thread(_create_mcp_endpoint)
    endpoint: ASGIApp = state.mcp
    return endpoint


def _create_mcp_endpoint() -> ASGIApp:
    from askgraph.server.mcp import McpEndpoint

    return McpEndpoint()


async def _handle_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, AskgraphError)
    response = to_problem_response(to_problem(error))
    settings = get_hub(request).settings
    if settings.oauth_issuer and isinstance(error, NotAllowedError):
        has_token = "authorization" in request.headers
        challenge = build_challenge(settings.oauth_resource, error, has_token=has_token)
        response.headers["WWW-Authenticate"] = challenge
    return response


async def _handle_full_disk(request: Request, error: Exception) -> JSONResponse:
    """Respond to a full disk; re-raise any other system error as a bug."""
    disk_error = to_no_space_error("the server cannot store this", error)
    if disk_error is None:
        raise error
    return to_problem_response(to_problem(disk_error))


async def _handle_invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    body = getattr(request.scope.get("route"), "body_field", None)
    model = body.field_info.annotation if body is not None else None
    return to_problem_response(
        Problem(
            type="urn:askgraph:problem:request",
            title="Invalid request",
            status=422,
            detail=describe_faults(error, list(getattr(model, "model_fields", ()))),
        )
    )


async def _handle_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    page = build_missing_page(request) if error.status_code == 404 else None
    if page is not None:
        return page
    headers = error.headers or {}  # for example Allow, of a 405
    path, method, title = request.url.path, request.method, str(error.detail)
    match error.status_code:
        case 404:
            detail = f"there is nothing at {path}; /docs has all operations"
        case 405:
            detail = f"{path} accepts {headers.get('Allow') or 'another method'}, not {method}"
        case _:
            detail = f"{method} {path}: {title}"
    problem_type = "urn:askgraph:problem:http"
    problem = Problem(type=problem_type, title=title, status=error.status_code, detail=detail)
    as_openai = request.url.path.startswith("/v1/")
    response = to_openai_response(problem) if as_openai else to_problem_response(problem)
    response.headers.update(headers)
    return response


StartReport = Callable[[str, ServeSettings, Sequence[str]], None]
_MAX_WARM_GRAPHS = 3  # graphs that are opened ahead
# Maximum seconds for which checking a query in a thread may hold shared resources.
_SWITCH_INTERVAL_SECONDS = 0.001
_WARM_UP_TIMEOUT_SECONDS = 10.0  # seconds for the question to each
_log = logging.getLogger("askgraph.server")


def run(
    settings: ServeSettings,
    workspace: Workspace,
    *,
    report: StartReport,
    on_open: Callable[[str], object] | None = None,
) -> None:
    """Serve until SIGTERM or Ctrl-C; `report` receives the address once the server listens.

    On shutdown the server accepts no more connections, and running questions have
    `settings.grace` seconds.

    Args:
        on_open: called with the address after `report`, for example to open a browser.

    Raises:
        SetupError: the address cannot be used, or settings contradict each other. Errors of
            opening the database are also raised.
    """
    set_up_logs(settings)
    check_access_rules(settings)

    async def check_database() -> None:  # so that its errors are reported in plain words
        await (await Store.open(settings.resolve_database(workspace.folder))).close()

    asyncio.run(check_database())
    server, listening = build_server(settings, workspace, report=report, on_open=on_open)
    reduce_garbage_collection()
    sys.setswitchinterval(_SWITCH_INTERVAL_SECONDS)
    server.run(sockets=[listening])


def build_server(
    settings: ServeSettings,
    workspace: Workspace,
    *,
    report: StartReport,
    on_open: Callable[[str], object] | None = None,
) -> tuple[uvicorn.Server, socket.socket]:
    """Return a server that is ready to run, and the socket it listens on; see `run`."""
    listen_socket = _listen(settings)
    port = listen_socket.getsockname()[1]
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(settings.host, settings.host)
    address = f"http://{host}:{port}{settings.root_path}/"
    config = uvicorn.Config(
        create_app(settings, workspace),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=settings.grace + 5,
        proxy_headers=False,  # see `ProxyHeaders`, which also remembers who the proxy is
        ws="none",
        h11_max_incomplete_event_size=64 * 1024,
        timeout_keep_alive=30,
    )

    def report_started() -> None:
        report(address, settings, list(workspace.graphs()))
        if on_open is not None:
            on_open(address)

    return _UvicornServer(config, report_started), listen_socket


class _UvicornServer(uvicorn.Server):
    """A uvicorn server that reports its start, warms up graphs, and stops the hub at shutdown."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = on_start
        self._warm_up_task: asyncio.Task[None] | None = None

    @property
    def _hub(self) -> Hub | None:
        return getattr(self.config.app.state, "hub", None)  # type: ignore[union-attr]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_start()
            if self._hub is not None:
                self._warm_up_task = asyncio.create_task(warm_up(self._hub), name="warm up")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._warm_up_task is not None:
            self._warm_up_task.cancel()
            await asyncio.wait([self._warm_up_task])
        if self._hub is not None:
            await self._hub.stop()
        await super().shutdown(sockets)
        self._captured_signals.clear()  # the client asked for this end, so it is not a failure


def _listen(settings: ServeSettings) -> socket.socket:
    try:
        addresses = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, socket_type, protocol, _, address = addresses[0]
        listen_socket = socket.socket(family, socket_type, protocol)
        listen_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listen_socket.bind(address)
        listen_socket.set_inheritable(False)
    except OSError as error:
        raise SetupError(
            f"cannot listen on {settings.host}:{settings.port}: {error.strerror or error}; "
            "choose another --port (0 picks a free one) or --host"
        ) from error
    return listen_socket


async def warm_up(hub: Hub) -> None:
    """Open the first local graphs and ask each a question.

    Remote endpoints are skipped, results are discarded, and failures are only logged.
    """
    graphs = hub.workspace.graphs()
    local_names = [name for name, settings in graphs.items() if settings.url is None]
    for name in local_names[:_MAX_WARM_GRAPHS]:
        request = RunRequest(Question("What is there?"), (name,), SEARCH_METHOD)
        try:
            await hub.answerer.warm_up(QuestionJob(request, _WARM_UP_TIMEOUT_SECONDS))
        except AskgraphError as error:
            _log.info("could not open graph %r in advance: %s", name, error)
