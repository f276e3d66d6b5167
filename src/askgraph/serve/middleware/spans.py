"""OpenTelemetry spans of requests and questions; see `askgraph.serve.middleware.telemetry`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.propagate import extract
from starlette.types import Scope

__all__ = ["Told", "of_question", "of_request"]

_TRACER = "askgraph.serve"


class Told:
    """The span of a request, which is told how it ended."""

    def __init__(self, span: trace.Span, method: str) -> None:
        self._span = span
        self._method = method

    def ended(self, status: int, route: str) -> None:
        """Say how the request ended, and which route took it."""
        self._span.update_name(f"{self._method} {route}")
        self._span.set_attribute("http.route", route)
        self._span.set_attribute("http.response.status_code", status)
        if status >= 500:
            self._span.set_status(trace.StatusCode.ERROR)


@contextmanager
def of_request(
    scope: Scope, *, tracer_provider: trace.TracerProvider | None = None
) -> Iterator[Told]:
    """Make a span of a request, within that of the caller where its headers name one."""
    headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
    method = str(scope.get("method", "WEBSOCKET"))
    tracer = trace.get_tracer(_TRACER, tracer_provider=tracer_provider)
    with tracer.start_as_current_span(
        method,
        context=extract(headers),
        kind=trace.SpanKind.SERVER,
        attributes={"http.request.method": method, "url.scheme": str(scope.get("scheme", ""))},
    ) as span:
        yield Told(span, method)


@contextmanager
def of_question(
    run: str,
    method: str,
    graphs: Sequence[str],
    *,
    tracer_provider: trace.TracerProvider | None = None,
) -> Iterator[None]:
    """Make a span of a question, around whatever is done for it."""
    attributes = {
        "askgraph.run": run,
        "askgraph.method": method,
        "askgraph.graphs": list(graphs),
    }
    tracer = trace.get_tracer(_TRACER, tracer_provider=tracer_provider)
    with tracer.start_as_current_span(f"ask {method}", attributes=attributes):
        yield
