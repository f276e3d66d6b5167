"""All that stands before the handlers of an application, in the order in which it is passed."""

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from askgraph.serve.middleware.bodies import BodyLimit
from askgraph.serve.middleware.characters import NoNul
from askgraph.serve.middleware.headers import SecurityHeaders
from askgraph.serve.middleware.hosts import HostCheck
from askgraph.serve.middleware.metrics import Metrics
from askgraph.serve.middleware.origins import OriginCheck
from askgraph.serve.middleware.requests import Requests
from askgraph.serve.settings import ServeSettings

__all__ = ["protect"]

_HEADERS = (
    "Accept",
    "Authorization",
    "Content-Type",
    "Last-Event-ID",
    "MCP-Protocol-Version",
    "X-API-Key",
    "X-Request-Id",
)


def protect(app: FastAPI, settings: ServeSettings) -> None:
    """Put the checks before an application; its metrics are at `app.state.metrics`."""
    metrics = app.state.metrics = Metrics()
    app.add_middleware(BodyLimit, settings=settings)  # the last one that a request passes
    app.add_middleware(NoNul)
    app.add_middleware(OriginCheck, settings=settings)
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=[origin.rstrip("/") for origin in settings.cors_origins],
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=_HEADERS,
            expose_headers=["X-Request-Id", "Retry-After"],
            max_age=600,
        )
    app.add_middleware(HostCheck, settings=settings)
    app.add_middleware(SecurityHeaders, settings=settings)
    app.add_middleware(Requests, metrics=metrics)
