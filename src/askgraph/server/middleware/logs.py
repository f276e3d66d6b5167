"""Structured logs on standard error, lines of JSON or of text; and secrets masked in any text."""

import logging
import os
import re
import sys
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TextIO

import structlog

from askgraph.server.settings import ServeSettings
from askgraph.workspace.settings import graph_settings, model_tables

_TWICE = frozenset({"color_message"})  # what uvicorn says again, in colours
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
                _renderer(settings, out),
            ],
        )
    )
    return handler


def _renderer(settings: ServeSettings, out: TextIO) -> structlog.typing.Processor:
    terminal = out.isatty()
    if settings.log_format == "text" or (settings.log_format == "auto" and terminal):
        return structlog.dev.ConsoleRenderer(colors=terminal)
    return structlog.processors.JSONRenderer(ensure_ascii=False)


def _without_secrets(
    logger: Any, name: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Mask the fields of a line, whoever wrote it."""
    told = {key: value for key, value in event.items() if key not in _TWICE}
    return {key: masked_value(_plain(value)) for key, value in told.items()}


def _plain(value: object) -> object:
    known = value is None or isinstance(value, str | int | float | Mapping | list | tuple)
    return value if known else str(value)


MASK = "***"

_NAME = (
    r"(?:[\w-]*(?:api[-_]?key|access[-_]?key|secret|passwd|password|passphrase|private[-_]?key"
    r"|(?:access|refresh|id|auth|session|bearer|csrf)[-_]?token)[\w-]*|token|pwd|sig|signature)"
)
_PARAMETER = re.compile(rf"([?&;]{_NAME}=)[^&#;]+", re.IGNORECASE)


def _without_parameters(address: re.Match[str]) -> str:
    return _PARAMETER.sub(rf"\1{MASK}", address[0])


_NAMED = ("key", "secret", "passw", "passphrase", "token", "pwd", "sig")
_Pattern = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]


def _pattern(pattern: str, by: str | Callable[[re.Match[str]], str]) -> _Pattern:
    return re.compile(pattern, re.IGNORECASE), by


# Under words, one of which a text has in lower case if a pattern is in it. Most texts have none,
# and looking for words takes a tenth of the time.
_RULES: dict[tuple[str, ...], tuple[_Pattern, ...]] = {
    _NAMED: (
        _pattern(r"(?:https?://|/)[^\s\"'<>\\]*\?[^\s\"'<>\\]*", _without_parameters),
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


def masked(text: str, secrets: Sequence[str] = ()) -> str:
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


def masked_value(value: object, secrets: Sequence[str] = ()) -> object:
    """Return a value as JSON has it without secrets; a field that is named as one is masked."""
    match value:
        case str():
            return masked(value, secrets)
        case Mapping():
            return masked_fields(value, secrets)
        case list() | tuple():
            return [masked_value(item, secrets) for item in value]
        case _:
            return value


def masked_fields(fields: Mapping[str, object], secrets: Sequence[str] = ()) -> dict[str, object]:
    """Return the fields of an object as `masked_value` does."""
    return {
        masked(key, secrets): MASK
        if item and isinstance(item, str) and _holds_secret(key, fields)
        else masked_value(item, secrets)
        for key, item in fields.items()
    }


def without(value: object, secrets: Sequence[str]) -> object:
    """Return a value as JSON has it without these secrets; text that only looks like one stays."""
    match value:
        case str():
            for secret in secrets:
                value = value.replace(secret, MASK) if secret else value
            return value
        case Mapping():
            return {without(key, secrets): without(item, secrets) for key, item in value.items()}
        case list() | tuple():
            return [without(item, secrets) for item in value]
        case _:
            return value


def _holds_secret(key: str, fields: Mapping[str, object]) -> bool:
    """Whether a field is named as a secret; a model's token with its probability is none."""
    may = _likely_short(key) if len(key) <= _SHORT else True
    return bool(may) and _SECRET_FIELD.fullmatch(key) is not None and "logprob" not in fields


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
