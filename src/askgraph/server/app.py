"""The server as one ASGI application: its routers, its middleware, and its life."""

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

from askgraph.atomic_files import to_no_space_error
from askgraph.errors import AskgraphError, SetupError
from askgraph.server import sparql
from askgraph.server.auth.identify import BehindProxy, VisitorCookie, check_rules
from askgraph.server.hub import Hub, open_hub
from askgraph.server.mcp.http import mcp_route, mcp_running
from askgraph.server.openai import openai_problem
from askgraph.server.openai import routes as chat
from askgraph.server.page import description_router, missing_page, page_router
from askgraph.server.problems import Problem, faults_in_words, problem_of, problem_response
from askgraph.server.protection import protect
from askgraph.server.rest import boards, graphs, profile, queries, questions, server
from askgraph.server.runs import RunRequest
from askgraph.server.runs.workers import Job, collect_rarely
from askgraph.server.settings import ServeSettings
from askgraph.server.store import Store
from askgraph.server.telemetry import set_up_logs
from askgraph.trace import Question
from askgraph.workspace import DEFAULT_METHOD, Workspace

_ROUTERS = (
    questions.router,
    questions.sessions_router,
    questions.feedback_router,
    server.methods_router,
    server.router,
    graphs.router,
    profile.router,
    queries.router,
    boards.router,
    graphs.glossary_router,
    sparql.router,
    server.health_router,
    chat.router,
)
_WORDS = "Ask knowledge graphs questions in your own words."


def create_app(settings: ServeSettings, workspace: Workspace) -> FastAPI:
    """Return the application; it opens its parts when it starts and closes them when it stops."""

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            hub = await stack.enter_async_context(open_hub(settings, workspace))
            metrics, runs = app.state.metrics, hub.runs
            metrics.watch(
                lambda: runs.running, lambda: runs.waiting, lambda: hub.answering.left_alone()
            )
            runs.observe(metrics.question)
            app.state.hub = hub
            await stack.enter_async_context(mcp_running(app.state))
            yield

    app = FastAPI(
        title="askgraph",
        summary=_WORDS,
        version=version("askgraph"),
        lifespan=life,
        root_path=settings.root_path,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        responses={"4XX": {"model": Problem}, "5XX": {"model": Problem}},
    )
    app.add_middleware(VisitorCookie)
    for router in _ROUTERS:
        app.include_router(router)
    app.router.routes.append(mcp_route())
    app.include_router(sparql.text2sparql_router)
    app.include_router(page_router())
    app.include_router(description_router(app))
    protect(app, settings)
    app.add_middleware(BehindProxy, settings=settings)
    app.add_exception_handler(AskgraphError, _handle_error)
    app.add_exception_handler(OSError, _handle_full_disk)
    app.add_exception_handler(RequestValidationError, _handle_invalid)
    app.add_exception_handler(HTTPException, _handle_refused)
    return app


async def _handle_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, AskgraphError)
    return problem_response(problem_of(error))


async def _handle_full_disk(request: Request, error: Exception) -> JSONResponse:
    """Answer for a disk that is full; other errors of the system are bugs."""
    full = to_no_space_error("the server cannot keep this", error)
    if full is None:
        raise error
    return problem_response(problem_of(full))


async def _handle_invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    body = getattr(request.scope.get("route"), "body_field", None)
    model = body.field_info.annotation if body is not None else None
    return problem_response(
        Problem(
            type="urn:askgraph:problem:request",
            title="The request is wrong",
            status=422,
            detail=faults_in_words(error, list(getattr(model, "model_fields", ()))),
        )
    )


async def _handle_refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    page = missing_page(request) if error.status_code == 404 else None
    if page is not None:
        return page
    headers = error.headers or {}  # as Allow, of 405
    path, method, title = request.url.path, request.method, str(error.detail)
    match error.status_code:
        case 404:
            detail = f"there is nothing at {path}; /docs has the operations that there are"
        case 405:
            detail = f"{path} takes {headers.get('Allow') or 'another method'}, not {method}"
        case _:
            detail = f"{method} {path}: {title}"
    kind = "urn:askgraph:problem:http"
    problem = Problem(type=kind, title=title, status=error.status_code, detail=detail)
    as_openai = request.url.path.startswith("/v1/")
    response = openai_problem(problem) if as_openai else problem_response(problem)
    response.headers.update(headers)
    return response


Report = Callable[[str, ServeSettings, Sequence[str]], None]
_WARMED = 3  # graphs that are opened ahead
_SWITCH = 0.001  # seconds for which a query that is judged in a thread holds what others wait for
_WARMING = 10.0  # seconds for the question to each
_log = logging.getLogger("askgraph.server")


def run(
    settings: ServeSettings,
    workspace: Workspace,
    *,
    report: Report,
    opened: Callable[[str], None] | None = None,
) -> None:
    """Serve until SIGTERM or Ctrl-C; `report` gets the address once it listens.

    Then no more connections are taken, and questions under way have `settings.grace` seconds.
    Raises `SetupError` if the address cannot be used or the settings do not go together, and
    the errors of opening the database.
    """
    set_up_logs(settings)
    check_rules(settings)

    async def check_database() -> None:  # so that its errors are reported in plain words
        store = await Store.open(settings.database_in(workspace.folder))
        await store.close()

    asyncio.run(check_database())
    server, listening = server_of(settings, workspace, report=report, opened=opened)
    collect_rarely()
    sys.setswitchinterval(_SWITCH)
    server.run(sockets=[listening])


def server_of(
    settings: ServeSettings,
    workspace: Workspace,
    *,
    report: Report,
    opened: Callable[[str], None] | None = None,
) -> tuple[uvicorn.Server, socket.socket]:
    """Return a server that is ready to run, and the socket that it is to listen on; see `run`."""
    listening = _listen(settings)
    port = listening.getsockname()[1]
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(settings.host, settings.host)
    address = f"http://{host}:{port}{settings.root_path}/"
    config = uvicorn.Config(
        create_app(settings, workspace),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=settings.grace + 5,
        proxy_headers=False,  # see `BehindProxy`, which also remembers who the proxy is
        ws="none",
        h11_max_incomplete_event_size=64 * 1024,
        timeout_keep_alive=30,
    )

    def started() -> None:
        report(address, settings, list(workspace.graphs()))
        if opened is not None:
            opened(address)

    return _Server(config, started), listening


class _Server(uvicorn.Server):
    """Reports that it takes requests; hands questions back before it waits for connections."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._started = started
        self._warming: asyncio.Task[None] | None = None

    @property
    def _hub(self) -> Hub | None:
        return getattr(self.config.app.state, "hub", None)  # type: ignore[union-attr]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._started()
            if self._hub is not None:
                self._warming = asyncio.create_task(warm_up(self._hub), name="warm up")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.wait([self._warming])
        if self._hub is not None:
            await self._hub.stop()
        await super().shutdown(sockets)
        self._captured_signals.clear()  # they asked for this end, which is none of a failure


def _listen(settings: ServeSettings) -> socket.socket:
    try:
        found = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, kind, protocol, _, address = found[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.set_inheritable(False)
    except OSError as error:
        raise SetupError(
            f"cannot listen on {settings.host}:{settings.port}: {error.strerror or error}; choose "
            "another --port (0 takes a free one) or --host"
        ) from error
    return listening


async def warm_up(hub: Hub) -> None:
    """Open the first graphs that lie here, and ask each something; failures are left for later.

    Endpoints elsewhere are left alone, and nothing is kept of it.
    """
    graphs = hub.workspace.graphs()
    here = [name for name, settings in graphs.items() if settings.url is None]
    for name in here[:_WARMED]:
        asked = RunRequest(Question("What is there?"), (name,), DEFAULT_METHOD)
        try:
            await hub.answering.each(Job(asked, _WARMING))
        except AskgraphError as error:
            _log.info("graph %r was not opened ahead: %s", name, error)
