"""Logs without secrets, and spans and metrics of requests and questions.

Logs are lines of JSON or of text on standard error. There are no spans if the API of OpenTelemetry
is not installed; else they go to whatever tracer provider the process has set up. They hold names,
numbers and the end of a request: no text of a question or answer, and no key.
"""

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
from askgraph.workspace.settings import graph_settings, model_tables

_LOUD = ("alembic", "httpcore2", "httpx2", "mcp", "openai", "sqlalchemy", "uvicorn")


def set_up_logs(settings: ServeSettings) -> None:
    """Let all loggers of the process write as the settings say; earlier handlers are removed."""
    root = logging.getLogger()
    root.handlers = [log_handler(settings, sys.stderr)]
    root.setLevel(settings.log_level.upper())
    for name in _LOUD:
        logging.getLogger(name).setLevel(logging.WARNING)


def log_handler(settings: ServeSettings, out: TextIO) -> logging.Handler:
    """Return a handler of log lines: with time, level, request, and without secrets."""
    terminal, wanted = out.isatty(), settings.log_format
    renderer: structlog.typing.Processor = structlog.processors.JSONRenderer(ensure_ascii=False)
    if wanted == "text" or (wanted == "auto" and terminal):
        renderer = structlog.dev.ConsoleRenderer(colors=terminal)
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
                _without_secrets,
                renderer,
            ],
        )
    )
    return handler


def _without_secrets(
    logger: Any, name: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Mask the fields of a line, whoever wrote it."""
    return {
        key: mask_value(
            value
            if isinstance(value, str | int | float | Mapping | list | tuple | None)
            else str(value)
        )
        for key, value in event.items()
        if key != "color_message"  # what uvicorn says again, in colours
    }


MASK = "***"

_NAME = (
    r"(?:[\w-]*(?:api[-_]?key|access[-_]?key|secret|passwd|password|passphrase|private[-_]?key"
    r"|(?:access|refresh|id|auth|session|bearer|csrf)[-_]?token)[\w-]*|token|pwd|sig|signature)"
)
_PARAMETER = re.compile(rf"([?&;]{_NAME}=)[^&#;]+", re.IGNORECASE)


_NAMED = ("key", "secret", "passw", "passphrase", "token", "pwd", "sig")
_Pattern = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]


def _pattern(pattern: str, by: str | Callable[[re.Match[str]], str]) -> _Pattern:
    return re.compile(pattern, re.IGNORECASE), by


# Under words, one of which a text has in lower case if a pattern is in it. Most texts have none,
# and looking for words takes a tenth of the time.
_RULES: dict[tuple[str, ...], tuple[_Pattern, ...]] = {
    _NAMED: (
        _pattern(
            r"(?:https?://|/)[^\s\"'<>\\]*\?[^\s\"'<>\\]*",
            lambda found: _PARAMETER.sub(rf"\1{MASK}", found[0]),
        ),
        _pattern(rf"(\"{_NAME}\"\s*:\s*)\"(?:[^\"\\]|\\.)*\"", rf'\1"{MASK}"'),
        _pattern(rf"('{_NAME}'\s*:\s*)'(?:[^'\\]|\\.)*'", rf"\1'{MASK}'"),
        _pattern(rf"(\\\"{_NAME}\\\"\s*:\s*\\\")[^\"\\]+", rf"\1{MASK}"),
        # An assignment, but not the comparison of a query's variable.
        _pattern(rf"(?<![?$\w-])({_NAME}\s*=\s*)[^\s,;&\"'\\<>?()]{{4,}}", rf"\1{MASK}"),
    ),
    ("authorization", "cookie", "x-api-key"): (
        # The value of a header, to the end of its line or of the quotes around it.
        _pattern(
            r"\b((?:proxy-)?authorization|(?:set-)?cookie|x-api-key)(\\*[\"']?)(\s*[:=]\s*)"
            r"(\\*[\"'])?[^\"'\\\r\n]+",
            rf"\1\2\3\4{MASK}",
        ),
    ),
    ("bearer", "basic"): (
        _pattern(r"\b(bearer|basic)(\s+)(?=\S*[\d=_+])[\w.~+/=-]{8,}", rf"\1\2{MASK}"),
    ),
    ("@",): (_pattern(r"([a-z][a-z0-9+.-]*://)[^\s/?#@\"'<>\\]+@", rf"\1{MASK}@"),),
    # Keys that are known by how they begin: ours, and those of services of models.
    ("askgraph_",): (_pattern(r"askgraph_[A-Za-z0-9_-]{12,}", f"askgraph_{MASK}"),),
    ("sk-", "pk-", "rk-"): (_pattern(r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}", f"sk-{MASK}"),),
    ("ghp", "gho", "ghu", "ghs", "ghr", "github_pat", "glpat", "hf_", "hf-", "xox"): (
        _pattern(r"\b(?:gh[pousr]|github_pat|glpat|hf|xox[abprs])[_-][A-Za-z0-9_-]{16,}", MASK),
    ),
    ("aiza",): (_pattern(r"\bAIza[A-Za-z0-9_-]{30,}", MASK),),
    ("eyj",): (_pattern(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*", MASK),),
}
_SECRET_FIELD = re.compile(
    rf"(?:{_NAME}|authorization|proxy-authorization|cookie|set-cookie|x-api-key)", re.IGNORECASE
)
_ALWAYS = ("ASKGRAPH_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY")
_GRAPH = ("user_env", "password_env", "token_env", "header_env")
_SHORT = 64  # characters up to which it is remembered what may be in a text
_SHORTEST = 6  # what is shorter stands in texts by chance


def mask(text: str, secrets: Sequence[str] = ()) -> str:
    """Return a text without secrets: those that are `secrets`, and those that look like one."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, MASK)
    for pattern, replacement in _likely_short(text) if len(text) <= _SHORT else _likely(text):
        text = pattern.sub(replacement, text)
    return text


def _likely(text: str) -> tuple[_Pattern, ...]:
    """The patterns that may be in a text."""
    words = text.lower() if text.isascii() else text.casefold()  # as re.IGNORECASE compares
    return tuple(
        pattern
        for hints, patterns in _RULES.items()
        if any(hint in words for hint in hints)
        for pattern in patterns
    )


_likely_short = lru_cache(1 << 13)(_likely)
"""For short texts, as most of a trace are again and again."""


def mask_value(value: object, secrets: Sequence[str] = ()) -> object:
    """Return a value as JSON has it without secrets; a field that is named as one is masked."""
    match value:
        case str():
            return mask(value, secrets)
        case Mapping():
            return mask_fields(value, secrets)
        case list() | tuple():
            return [mask_value(item, secrets) for item in value]
        case _:
            return value


def mask_fields(fields: Mapping[str, object], secrets: Sequence[str] = ()) -> dict[str, object]:
    """Return the fields of an object as `mask_value` does."""
    return {
        mask(key, secrets): MASK
        # A model's token with its probability is no secret.
        if item
        and isinstance(item, str)
        and "logprob" not in fields
        and (len(key) > _SHORT or _likely_short(key))
        and _SECRET_FIELD.fullmatch(key)
        else mask_value(item, secrets)
        for key, item in fields.items()
    }


def remove_secrets(value: object, secrets: Sequence[str]) -> object:
    """Return a value as JSON has it without these secrets; text that only looks like one stays."""
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


def known_secrets(folder: Path) -> tuple[str, ...]:
    """Return the values of all variables that hold credentials of models or endpoints."""
    names = {*_ALWAYS}
    names |= {
        str(table["key_env"]) for table in model_tables(folder).values() if "key_env" in table
    }
    for settings in graph_settings(folder).values():
        names |= {name for key in _GRAPH if (name := getattr(settings, key))}
    values = (os.environ.get(name, "") for name in sorted(names))
    return tuple(dict.fromkeys(value for value in values if len(value) >= _SHORTEST))


try:
    from opentelemetry import trace
    from opentelemetry.context import attach, detach
    from opentelemetry.propagate import extract, inject
except ImportError:
    _INSTALLED = False
else:
    _INSTALLED = True

_TRACER = "askgraph.server"


EndSpan = Callable[[int, str], None]
"""Records in a span the status of the response, and the route that took the request."""


@contextmanager
def request_span(
    scope: Scope, *, tracer_provider: "trace.TracerProvider | None" = None
) -> Iterator[EndSpan]:
    """Make a span of a request, within that of the caller if its headers name one."""
    if not _INSTALLED:
        yield lambda _status, _route: None
        return
    headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
    method = str(scope["method"])
    attributes = {"http.request.method": method, "url.scheme": str(scope.get("scheme", ""))}
    tracer = trace.get_tracer(_TRACER, tracer_provider=tracer_provider)
    with tracer.start_as_current_span(
        method, context=extract(headers), kind=trace.SpanKind.SERVER, attributes=attributes
    ) as span:

        def end(status: int, route: str) -> None:
            span.update_name(f"{method} {route}")
            span.set_attribute("http.route", route)
            span.set_attribute("http.response.status_code", status)
            if status >= 500:
                span.set_status(trace.StatusCode.ERROR)

        yield end


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


_COUNTERS = {
    "questions": ("Questions that ended.", "method", "graph", "status"),
    "tokens": ("Tokens of language models.", "method"),
    "money": ("What language models cost, in the currency of their prices.", "method"),
    "questions_without_model": (
        "Questions whose language model failed, or was left alone as it had just failed.",
        "method",
        "model",
    ),
    "requests": ("Requests by route.", "method", "route", "status"),
    "rejected": ("Requests that were refused.", "status"),
}
_TIMES = {
    "question_seconds": ("Seconds from a question to its end.", "method"),
    "request_seconds": ("Seconds from a request to the end of its response.", "route"),
}
_GAUGES = {
    "questions_running": "Questions that are worked on.",
    "questions_waiting": "Questions that wait for their turn.",
    "models_left_alone": "Language models whose servers have just failed.",
}
"""Metrics by name, each with its words, and the names of its labels."""


class Metrics:
    """Counts questions and requests of this process, in Prometheus' format."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._counters = {
            name: Counter(f"askgraph_{name}", words, labels, registry=registry)
            for name, (words, *labels) in _COUNTERS.items()
        }
        self._times = {
            name: Histogram(f"askgraph_{name}", words, labels, buckets=_SECONDS, registry=registry)
            for name, (words, *labels) in _TIMES.items()
        }

    def watch(self, *gauges: Callable[[], int]) -> None:
        """Report at each reading how many questions run and wait, and models are left alone."""
        for (name, words), read in zip(_GAUGES.items(), gauges, strict=True):
            Gauge(f"askgraph_{name}", words, registry=self._registry).set_function(read)

    def question(self, run: RunView) -> None:
        """Count a question that ended; several graphs are counted as `several`."""
        graph = run.graphs[0] if len(run.graphs) == 1 else "several"
        status = run.answer.status if run.answer else run.state
        self._add("questions", run.method, graph, status)
        self._times["question_seconds"].labels(run.method).observe(run.seconds or 0.0)
        if run.answer:
            usage = run.answer.usage
            self._add("tokens", run.method, by=usage.input_tokens + usage.output_tokens)
            self._add("money", run.method, by=usage.money)
        said = (run.answer and run.answer.cut_short) or (run.problem and run.problem.detail) or ""
        if COOLDOWN_PHRASE in said:
            self._add("questions_without_model", run.method, "left alone")
        elif said.startswith(WITHOUT_MODEL_PREFIX):
            self._add("questions_without_model", run.method, "failed")

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request, by the path of its route."""
        self._add("requests", method if method in _METHODS else "other", route, str(status))
        self._times["request_seconds"].labels(route).observe(seconds)
        if status in (400, 401, 403, 413, 429):
            self._add("rejected", str(status))

    def text(self) -> bytes:
        """Return all metrics in the text format."""
        return generate_latest(self._registry)

    def _add(self, name: str, *labels: str, by: float = 1) -> None:
        self._counters[name].labels(*labels).inc(by)
