"""OpenTelemetry spans of requests and questions; nothing if its API is not installed.

Spans go to whatever tracer provider the process has set up. They hold names, numbers and the end of
a request: no text of a question or answer, and no key. The calls of language models are spans
within.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from starlette.types import Scope

try:
    from opentelemetry import trace
    from opentelemetry.propagate import extract
except ImportError:
    _INSTALLED = False
else:
    _INSTALLED = True

_TRACER = "askgraph.serve"


class RequestSpan:
    """The span of a request; without a `span` it records nothing."""

    def __init__(self, span: "trace.Span | None" = None, method: str = "") -> None:
        self._span = span
        self._method = method

    def ended(self, status: int, route: str) -> None:
        """Record the status of the response, and the route that took the request."""
        if self._span is None:
            return
        self._span.update_name(f"{self._method} {route}")
        self._span.set_attribute("http.route", route)
        self._span.set_attribute("http.response.status_code", status)
        if status >= 500:
            self._span.set_status(trace.StatusCode.ERROR)


@contextmanager
def request_span(
    scope: Scope, *, tracer_provider: "trace.TracerProvider | None" = None
) -> Iterator[RequestSpan]:
    """Make a span of a request, within that of the caller if its headers name one."""
    if not _INSTALLED:
        yield RequestSpan()
        return
    headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
    method = str(scope.get("method", "WEBSOCKET"))
    attributes = {"http.request.method": method, "url.scheme": str(scope.get("scheme", ""))}
    tracer = trace.get_tracer(_TRACER, tracer_provider=tracer_provider)
    with tracer.start_as_current_span(
        method, context=extract(headers), kind=trace.SpanKind.SERVER, attributes=attributes
    ) as span:
        yield RequestSpan(span, method)


@contextmanager
def question_span(
    run: str,
    method: str,
    graphs: Sequence[str],
    *,
    tracer_provider: "trace.TracerProvider | None" = None,
) -> Iterator[None]:
    """Make a span of a question, around whatever is done for it."""
    if not _INSTALLED:
        yield
        return
    attributes: Mapping[str, Any] = {
        "askgraph.run": run,
        "askgraph.method": method,
        "askgraph.graphs": list(graphs),
    }
    tracer = trace.get_tracer(_TRACER, tracer_provider=tracer_provider)
    with tracer.start_as_current_span(f"ask {method}", attributes=attributes):
        yield
