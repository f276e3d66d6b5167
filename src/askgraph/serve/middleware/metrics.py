"""Prometheus metrics of one server process: questions, requests, queues and costs.

Labels have few values: methods, graphs of the workspace, states, routes. Nothing of a caller or a
question is among them. Several processes are scraped one by one.
"""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from askgraph.serve.runs.lifecycle import Runs
from askgraph.serve.runs.views import RunView

_SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "WEBSOCKET"})


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
        self._requests = self._counter(
            "requests", "Requests by route.", "method", "route", "status"
        )
        self._request_seconds = self._histogram(
            "request_seconds", "Seconds from a request to the end of its response.", "route"
        )
        self._rejected = self._counter("rejected", "Requests that were refused.", "status")

    def watch(self, runs: Runs) -> None:
        """Count the questions that end, and report at each reading how many run and wait."""
        self._registry.register(_Lengths(runs))
        runs.observe(self.question)

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

    def _histogram(self, name: str, words: str, *labels: str) -> Histogram:
        return Histogram(
            f"askgraph_{name}", words, labels, buckets=_SECONDS, registry=self._registry
        )


class _Lengths(Collector):
    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def collect(self) -> Iterator[Metric]:
        running = "Questions that are worked on."
        yield GaugeMetricFamily("askgraph_questions_running", running, self._runs.running)
        waiting = "Questions that wait for their turn."
        yield GaugeMetricFamily("askgraph_questions_waiting", waiting, self._runs.waiting)
