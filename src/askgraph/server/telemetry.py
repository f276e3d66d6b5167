"""Logs without secrets, and spans and metrics of requests and questions.

Logs are JSON or text lines on standard error. Spans need the OpenTelemetry API and go to the tracer
provider of the process. All of them contain names, numbers and the status of a request: never the
text of a question or answer, and never a key.
"""

import json
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, TextIO

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.types import Scope

from askgraph.errors import COOLDOWN_PHRASE, WITHOUT_MODEL_PREFIX
from askgraph.server.runs import RunView
from askgraph.server.settings import ServeSettings
from askgraph.workspace.settings import load_graph_settings, load_model_tables

_QUIETED_LOGGERS = ("alembic", "httpcore2", "httpx2", "mcp", "openai", "sqlalchemy", "uvicorn")


def set_up_logs(settings: ServeSettings) -> None:
    """Configure the root logger from the settings; existing handlers are removed."""
    root = logging.getLogger()
    root.handlers = [build_log_handler(settings, sys.stderr)]
    root.setLevel(settings.log_level.upper())
    for name in _QUIETED_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)


def build_log_handler(settings: ServeSettings, out: TextIO) -> logging.Handler:
    """Build a handler whose lines have time, level and request id, and no secrets."""
    is_terminal, log_format = out.isatty(), settings.log_format
    renderer: structlog.typing.Processor = structlog.processors.JSONRenderer(ensure_ascii=False)
    if log_format == "text" or (log_format == "auto" and is_terminal):
        renderer = structlog.dev.ConsoleRenderer(colors=is_terminal)
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[
                structlog.contextvars.merge_contextvars,
                structlog.stdlib.add_logger_name,
                structlog.stdlib.add_log_level,
                structlog.stdlib.ExtraAdder(),
                structlog.processors.TimeStamper(fmt="iso", utc=True),
            ],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                _mask_event,
                renderer,
            ],
        )
    )
    return handler


def _mask_event(
    logger: Any, name: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    return {
        key: mask_value(
            value
            if isinstance(value, str | int | float | Mapping | list | tuple | None)
            else str(value)
        )
        for key, value in event.items()
        if key != "color_message"  # uvicorn's coloured copy of the message
    }


MASK = "***"

_SECRET_NAME = (
    r"(?:[\w-]*(?:api[-_]?key|access[-_]?key|secret|passwd|password|passphrase|private[-_]?key"
    r"|(?:access|refresh|id|auth|session|bearer|csrf)[-_]?token)[\w-]*|token|pwd|sig|signature)"
)
_SECRET_PARAMETER = re.compile(rf"([?&;]{_SECRET_NAME}=)[^&#;]+", re.IGNORECASE)


_SECRET_NAME_HINTS = ("key", "secret", "passw", "passphrase", "token", "pwd", "sig")
_MaskRule = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]


def _build_rule(pattern: str, replacement: str | Callable[[re.Match[str]], str]) -> _MaskRule:
    return re.compile(pattern, re.IGNORECASE), replacement


# The rules by hints: a lower-case text that matches a rule contains one of its hints. Most texts
# contain none, and searching for hints takes a tenth of the time.
_RULES_BY_HINTS: dict[tuple[str, ...], tuple[_MaskRule, ...]] = {
    _SECRET_NAME_HINTS: (
        _build_rule(
            r"(?:https?://|/)[^\s\"'<>\\]*\?[^\s\"'<>\\]*",
            lambda found: _SECRET_PARAMETER.sub(rf"\1{MASK}", found[0]),
        ),
        _build_rule(rf"(\"{_SECRET_NAME}\"\s*:\s*)\"(?:[^\"\\]|\\.)*\"", rf'\1"{MASK}"'),
        _build_rule(rf"('{_SECRET_NAME}'\s*:\s*)'(?:[^'\\]|\\.)*'", rf"\1'{MASK}'"),
        _build_rule(rf"(\\\"{_SECRET_NAME}\\\"\s*:\s*\\\")[^\"\\]+", rf"\1{MASK}"),
        # An assignment, but not the comparison of a query's variable.
        _build_rule(rf"(?<![?$\w-])({_SECRET_NAME}\s*=\s*)[^\s,;&\"'\\<>?()]{{4,}}", rf"\1{MASK}"),
    ),
    ("authorization", "cookie", "x-api-key"): (
        # The value of a header, to the end of its line or of the quotes around it.
        _build_rule(
            r"\b((?:proxy-)?authorization|(?:set-)?cookie|x-api-key)(\\*[\"']?)(\s*[:=]\s*)"
            r"(\\*[\"'])?[^\"'\\\r\n]+",
            rf"\1\2\3\4{MASK}",
        ),
    ),
    ("bearer", "basic"): (
        _build_rule(r"\b(bearer|basic)(\s+)(?=\S*[\d=_+])[\w.~+/=-]{8,}", rf"\1\2{MASK}"),
    ),
    ("@",): (_build_rule(r"([a-z][a-z0-9+.-]*://)[^\s/?#@\"'<>\\]+@", rf"\1{MASK}@"),),
    # Keys with known prefixes: ours, and those of model providers.
    ("askgraph_",): (_build_rule(r"askgraph_[A-Za-z0-9_-]{12,}", f"askgraph_{MASK}"),),
    ("sk-", "pk-", "rk-"): (_build_rule(r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}", f"sk-{MASK}"),),
    ("ghp", "gho", "ghu", "ghs", "ghr", "github_pat", "glpat", "hf_", "hf-", "xox"): (
        _build_rule(r"\b(?:gh[pousr]|github_pat|glpat|hf|xox[abprs])[_-][A-Za-z0-9_-]{16,}", MASK),
    ),
    ("aiza",): (_build_rule(r"\bAIza[A-Za-z0-9_-]{30,}", MASK),),
    ("eyj",): (_build_rule(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*", MASK),),
}
_SECRET_FIELD = re.compile(
    rf"(?:{_SECRET_NAME}|authorization|proxy-authorization|cookie|set-cookie|x-api-key)",
    re.IGNORECASE,
)
_SECRET_VARIABLES = ("ASKGRAPH_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY")
_GRAPH_SECRET_SETTINGS = ("user_env", "password_env", "token_env", "header_env")
_MAX_CACHED_CHARACTERS = 64  # longer texts are not cached
_MIN_SECRET_CHARACTERS = 6  # shorter strings occur in texts by chance


def mask_text(text: str, secrets: Sequence[str] = ()) -> str:
    """Return a text without the given `secrets` and without text that looks like a secret."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, MASK)
    for pattern, replacement in (
        _select_rules_cached(text) if len(text) <= _MAX_CACHED_CHARACTERS else _select_rules(text)
    ):
        text = pattern.sub(replacement, text)
    return text


def _select_rules(text: str) -> tuple[_MaskRule, ...]:
    folded_text = text.lower() if text.isascii() else text.casefold()  # as re.IGNORECASE compares
    return tuple(
        pattern
        for hints, patterns in _RULES_BY_HINTS.items()
        if any(hint in folded_text for hint in hints)
        for pattern in patterns
    )


_select_rules_cached = lru_cache(1 << 13)(_select_rules)
"""Cached for short texts, which recur in traces."""


def mask_value(value: object, secrets: Sequence[str] = ()) -> object:
    """Mask secrets in a JSON value; fields with the name of a secret are masked entirely."""
    match value:
        case str():
            return mask_text(value, secrets)
        case Mapping():
            return mask_fields(value, secrets)
        case list() | tuple():
            return [mask_value(item, secrets) for item in value]
        case _:
            return value


def mask_fields(fields: Mapping[str, object], secrets: Sequence[str] = ()) -> dict[str, object]:
    """Mask the fields of a JSON object as `mask_value` does."""
    return {
        mask_text(key, secrets): MASK
        # A model's token with its probability is no secret.
        if item
        and isinstance(item, str)
        and "logprob" not in fields
        and (len(key) > _MAX_CACHED_CHARACTERS or _select_rules_cached(key))
        and _SECRET_FIELD.fullmatch(key)
        else mask_value(item, secrets)
        for key, item in fields.items()
    }


def remove_secrets(value: object, secrets: Sequence[str]) -> object:
    """Replace the given secrets in a JSON value; text that only looks like a secret stays."""
    match value:
        case str():
            for secret in secrets:
                value = value.replace(secret, MASK) if secret else value
            return value
        case Mapping():
            return {
                remove_secrets(key, secrets): remove_secrets(item, secrets)
                for key, item in value.items()
            }
        case list() | tuple():
            return [remove_secrets(item, secrets) for item in value]
        case _:
            return value


def collect_secrets(folder: Path) -> tuple[str, ...]:
    """Return the values of all environment variables with credentials of models or endpoints."""
    names = {*_SECRET_VARIABLES}
    names |= {
        str(table["key_env"]) for table in load_model_tables(folder).values() if "key_env" in table
    }
    for settings in load_graph_settings(folder).values():
        names |= {name for key in _GRAPH_SECRET_SETTINGS if (name := getattr(settings, key))}
    values = (os.environ.get(name, "") for name in sorted(names))
    return tuple(dict.fromkeys(value for value in values if len(value) >= _MIN_SECRET_CHARACTERS))


try:
    from opentelemetry import trace
    from opentelemetry.context import attach, detach
    from opentelemetry.propagate import extract, inject
except ImportError:
    _INSTALLED = False
else:
    _INSTALLED = True

_TRACER_NAME = "askgraph.server"


EndSpan = Callable[[int, str], None]
"""Records the status of the response and the matched route in a span."""


@contextmanager
def start_request_span(
    scope: Scope, *, tracer_provider: "trace.TracerProvider | None" = None
) -> Iterator[EndSpan]:
    """Start a span for a request, as a child of the span that its headers name."""
    if not _INSTALLED:
        yield lambda _status, _route: None
        return
    headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
    method = str(scope["method"])
    attributes = {"http.request.method": method, "url.scheme": str(scope.get("scheme", ""))}
    tracer = trace.get_tracer(_TRACER_NAME, tracer_provider=tracer_provider)
    with tracer.start_as_current_span(
        method, context=extract(headers), kind=trace.SpanKind.SERVER, attributes=attributes
    ) as span:

        def end_span(status: int, route: str) -> None:
            span.update_name(f"{method} {route}")
            span.set_attribute("http.route", route)
            span.set_attribute("http.response.status_code", status)
            if status >= 500:
                span.set_status(trace.StatusCode.ERROR)

        yield end_span


@contextmanager
def start_question_span(
    run: str,
    method: str,
    graphs: Sequence[str],
    *,
    tracer_provider: "trace.TracerProvider | None" = None,
) -> Iterator[None]:
    """Start a span around all the work on a question."""
    if not _INSTALLED:
        yield
        return
    attributes: Mapping[str, Any] = {
        "askgraph.run": run,
        "askgraph.method": method,
        "askgraph.graphs": list(graphs),
    }
    tracer = trace.get_tracer(_TRACER_NAME, tracer_provider=tracer_provider)
    with tracer.start_as_current_span(f"ask {method}", attributes=attributes):
        yield


def export_span_headers() -> Mapping[str, str]:
    """Return headers that pass the current span to another process."""
    carrier: dict[str, str] = {}
    if _INSTALLED:
        inject(carrier)
    return carrier


@contextmanager
def use_parent_span(headers: Mapping[str, str]) -> Iterator[None]:
    """Make the span that some headers name the parent of spans in this context."""
    if not (_INSTALLED and headers):
        yield
        return
    token = attach(extract(headers))
    try:
        yield
    finally:
        detach(token)


_BUCKET_SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
_KNOWN_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


_METRICS = json.loads(Path(__file__).with_name("metrics.json").read_text("utf-8"))
_COUNTERS: dict[str, list[str]] = _METRICS["counters"]
_HISTOGRAMS: dict[str, list[str]] = _METRICS["histograms"]
_GAUGES: dict[str, str] = _METRICS["gauges"]
"""Metrics by name, each with its words, and the names of its labels."""


class Metrics:
    """Counts the questions and requests of this process, in the Prometheus format."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._counters = {
            name: Counter(f"askgraph_{name}", description, labels, registry=registry)
            for name, (description, *labels) in _COUNTERS.items()
        }
        self._histograms = {
            name: Histogram(
                f"askgraph_{name}", description, labels, buckets=_BUCKET_SECONDS, registry=registry
            )
            for name, (description, *labels) in _HISTOGRAMS.items()
        }

    def register_gauges(self, *gauges: Callable[[], int]) -> None:
        """Register functions that return the gauges' values, in the order of `_GAUGES`."""
        for (name, description), read_value in zip(_GAUGES.items(), gauges, strict=True):
            Gauge(f"askgraph_{name}", description, registry=self._registry).set_function(read_value)

    def count_question(self, run: RunView) -> None:
        """Count a question that ended; several graphs count as `several`."""
        graph = run.graphs[0] if len(run.graphs) == 1 else "several"
        status = run.answer.status if run.answer else run.state
        self._increment("questions", run.method, graph, status)
        self._histograms["question_seconds"].labels(run.method).observe(run.seconds or 0.0)
        if run.answer:
            usage = run.answer.usage
            self._increment("tokens", run.method, amount=usage.input_tokens + usage.output_tokens)
            self._increment("money", run.method, amount=usage.money)
        message = (
            (run.answer and run.answer.cut_short) or (run.problem and run.problem.detail) or ""
        )
        if COOLDOWN_PHRASE in message:
            self._increment("questions_without_model", run.method, "left alone")
        elif message.startswith(WITHOUT_MODEL_PREFIX):
            self._increment("questions_without_model", run.method, "failed")

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request by the path of its route."""
        self._increment(
            "requests", method if method in _KNOWN_METHODS else "other", route, str(status)
        )
        self._histograms["request_seconds"].labels(route).observe(seconds)
        if status in (400, 401, 403, 413, 429):
            self._increment("rejected", str(status))

    def render(self) -> bytes:
        """Return all metrics in the text format."""
        return generate_latest(self._registry)

    def _increment(self, name: str, *labels: str, amount: float = 1) -> None:
        self._counters[name].labels(*labels).inc(amount)
