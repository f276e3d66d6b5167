"""OpenTelemetry spans and Prometheus metrics of requests and questions.

There are no spans if the API of OpenTelemetry is not installed; else they go to whatever tracer
provider the process has set up. They hold names, numbers and the end of a request: no text of a
question or answer, and no key. The calls of language models are spans within.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.types import Scope

from askgraph.errors import LEFT_ALONE, WITHOUT_MODEL
from askgraph.server.runs.views import RunView

try:
    from opentelemetry import trace
    from opentelemetry.context import attach, detach
    from opentelemetry.propagate import extract, inject
except ImportError:
    _INSTALLED = False
else:
    _INSTALLED = True

_TRACER = "askgraph.server"


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
    method = str(scope["method"])
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


def span_headers() -> Mapping[str, str]:
    """Return the headers that name the present span to another process."""
    carrier: dict[str, str] = {}
    if _INSTALLED:
        inject(carrier)
    return carrier


@contextmanager
def within_span(headers: Mapping[str, str]) -> Iterator[None]:
    """Let spans of this process belong to the span that some headers name."""
    if not (_INSTALLED and headers):
        yield
        return
    token = attach(extract(headers))
    try:
        yield
    finally:
        detach(token)


_SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    """Counts questions and requests of this process, in Prometheus' format."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._questions = self._counter(
            "questions", "Questions that ended.", "method", "graph", "status"
        )
        self._seconds = self._histogram(
            "question_seconds", "Seconds from a question to its end.", "method"
        )
        self._tokens = self._counter("tokens", "Tokens of language models.", "method")
        self._money = self._counter(
            "money", "What language models cost, in the currency of their prices.", "method"
        )
        self._without_model = self._counter(
            "questions_without_model",
            "Questions whose language model failed, or was left alone as it had just failed.",
            "method",
            "model",
        )
        self._requests = self._counter(
            "requests", "Requests by route.", "method", "route", "status"
        )
        self._request_seconds = self._histogram(
            "request_seconds", "Seconds from a request to the end of its response.", "route"
        )
        self._rejected = self._counter("rejected", "Requests that were refused.", "status")

    def watch(
        self,
        running: Callable[[], int],
        waiting: Callable[[], int],
        left_alone: Callable[[], int],
    ) -> None:
        """Report at each reading how many questions run and wait, and models are left alone."""
        self._gauge(
            "models_left_alone", "Language models whose servers have just failed.", left_alone
        )
        self._gauge("questions_running", "Questions that are worked on.", running)
        self._gauge("questions_waiting", "Questions that wait for their turn.", waiting)

    def question(self, run: RunView) -> None:
        """Count a question that ended; several graphs are counted as `several`."""
        graph = run.graphs[0] if len(run.graphs) == 1 else "several"
        status = run.answer.status if run.answer else run.state
        self._questions.labels(run.method, graph, status).inc()
        self._seconds.labels(run.method).observe(run.seconds or 0.0)
        if run.answer:
            usage = run.answer.usage
            self._tokens.labels(run.method).inc(usage.input_tokens + usage.output_tokens)
            self._money.labels(run.method).inc(usage.money)
        said = (run.answer and run.answer.cut_short) or (run.problem and run.problem.detail) or ""
        if LEFT_ALONE in said:
            self._without_model.labels(run.method, "left alone").inc()
        elif said.startswith(WITHOUT_MODEL):
            self._without_model.labels(run.method, "failed").inc()

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request, by the path of its route."""
        method = method if method in _METHODS else "other"
        self._requests.labels(method, route, str(status)).inc()
        self._request_seconds.labels(route).observe(seconds)
        if status in (400, 401, 403, 413, 429):
            self._rejected.labels(str(status)).inc()

    def text(self) -> bytes:
        """Return all metrics in the text format."""
        return generate_latest(self._registry)

    def _counter(self, name: str, words: str, *labels: str) -> Counter:
        return Counter(f"askgraph_{name}", words, labels, registry=self._registry)

    def _gauge(self, name: str, words: str, read: Callable[[], int]) -> None:
        Gauge(f"askgraph_{name}", words, registry=self._registry).set_function(read)

    def _histogram(self, name: str, words: str, *labels: str) -> Histogram:
        return Histogram(
            f"askgraph_{name}", words, labels, buckets=_SECONDS, registry=self._registry
        )
