"""The server as one ASGI application: its routers, its middleware, and its life."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI, Request
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from askgraph.errors import AskgraphError
from askgraph.serve.hub import open_hub
from askgraph.serve.identity.proxies import BehindProxy
from askgraph.serve.identity.visitors import VisitorCookie
from askgraph.serve.middleware.protection import protect
from askgraph.serve.page import page_router
from askgraph.serve.problems import Problem, problem_of, problem_response
from askgraph.serve.protocols import text2sparql, websocket
from askgraph.serve.protocols.mcp.http import mcp_route, mcp_running
from askgraph.serve.protocols.openai import routes as chat
from askgraph.serve.protocols.rest import (
    feedback,
    graphs,
    jobs,
    parts,
    profile,
    query,
    questions,
    search,
    server,
    sessions,
)
from askgraph.serve.protocols.sparql import endpoint
from askgraph.serve.settings import ServeSettings
from askgraph.workspace import Workspace

__all__ = ["create_app", "problem_response"]

_ROUTERS = (
    questions.router,
    sessions.router,
    feedback.router,
    server.methods_router,
    server.router,
    graphs.router,
    profile.router,
    search.router,
    query.router,
    parts.router,
    endpoint.router,
    websocket.router,
    server.health_router,
    jobs.router,
    chat.router,
)
_WORDS = "Ask knowledge graphs questions in your own words."


def create_app(settings: ServeSettings, workspace: Workspace) -> FastAPI:
    """Return the application; it opens its parts when it starts and closes them when it stops."""

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            hub = await stack.enter_async_context(open_hub(settings, workspace))
            app.state.metrics.watch(hub.runs)
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
    app.include_router(text2sparql.router)
    app.include_router(page_router())
    protect(app, settings)
    app.add_middleware(BehindProxy, settings=settings)
    app.add_exception_handler(AskgraphError, _failed)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    return app


async def _failed(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, AskgraphError)
    return problem_response(problem_of(error))


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    told = "; ".join(
        f"{'.'.join(map(str, one['loc']))}: {one['msg']}"
        for one in jsonable_encoder(error.errors())
    )
    return problem_response(
        Problem(
            type="urn:askgraph:problem:request",
            title="The request is wrong",
            status=422,
            detail=told[:2000],
        )
    )


async def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    response = problem_response(
        Problem(
            type="urn:askgraph:problem:http",
            title=str(error.detail),
            status=error.status_code,
            detail=f"{request.method} {request.url.path}: {error.detail}",
        )
    )
    response.headers.update(error.headers or {})  # as Allow, of 405
    return response
