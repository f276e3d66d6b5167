"""Structured logs on standard error, lines of JSON or of text; and secrets masked in any text."""

import logging
import os
import re
import sys
from collections.abc import Mapping, MutableMapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TextIO

import structlog

from askgraph.serve.settings import ServeSettings
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
_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        # The value of a header, to the end of its line or of the quotes around it.
        (
            r"\b((?:proxy-)?authorization|(?:set-)?cookie|x-api-key)(\\*[\"']?)(\s*[:=]\s*)"
            r"(\\*[\"'])?[^\"'\\\r\n]+",
            rf"\1\2\3\4{MASK}",
        ),
        (r"\b(bearer|basic)(\s+)(?=\S*[\d=_+])[\w.~+/=-]{8,}", rf"\1\2{MASK}"),
        (r"([a-z][a-z0-9+.-]*://)[^\s/?#@\"'<>\\]+@", rf"\1{MASK}@"),
        (rf"(\"{_NAME}\"\s*:\s*)\"(?:[^\"\\]|\\.)*\"", rf'\1"{MASK}"'),
        (rf"('{_NAME}'\s*:\s*)'(?:[^'\\]|\\.)*'", rf"\1'{MASK}'"),
        (rf"(\\\"{_NAME}\\\"\s*:\s*\\\")[^\"\\]+", rf"\1{MASK}"),
        # An assignment, but not the comparison of a query's variable.
        (rf"(?<![?$\w-])({_NAME}\s*=\s*)[^\s,;&\"'\\<>?()]{{4,}}", rf"\1{MASK}"),
        # Keys that are known by how they begin: ours, and those of services of models.
        (r"askgraph_[A-Za-z0-9_-]{12,}", f"askgraph_{MASK}"),
        (r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}", f"sk-{MASK}"),
        (r"\b(?:gh[pousr]|github_pat|glpat|hf|xox[abprs])[_-][A-Za-z0-9_-]{16,}", MASK),
        (r"\bAIza[A-Za-z0-9_-]{30,}", MASK),
        (r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*", MASK),
    )
)
_ADDRESS = re.compile(r"(?:https?://|/)[^\s\"'<>\\]*\?[^\s\"'<>\\]*", re.IGNORECASE)
_PARAMETER = re.compile(rf"([?&;]{_NAME}=)[^&#;]+", re.IGNORECASE)
_SECRET_FIELD = re.compile(
    rf"(?:{_NAME}|authorization|proxy-authorization|cookie|set-cookie|x-api-key)", re.IGNORECASE
)
_HINT = re.compile(
    r"auth|cookie|key|bearer|basic|@|token|secret|pass|pwd|sig|askgraph_|[spr]k-|gh[pousr]_|github_"
    r"|glpat|hf_|xox|AIza|eyJ",
    re.IGNORECASE,
)
_ALWAYS = ("ASKGRAPH_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY")
_GRAPH = ("user_env", "password_env", "token_env", "header_env")
_SHORT = 64  # characters up to which it is remembered whether a text may hold one
_SHORTEST = 6  # what is shorter stands in texts by chance


def masked(text: str, secrets: Sequence[str] = ()) -> str:
    """Return a text without secrets: those that are `secrets`, and those that look like one."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, MASK)
    if not (_hints_short(text) if len(text) <= _SHORT else _HINT.search(text)):
        return text
    text = _ADDRESS.sub(lambda found: _PARAMETER.sub(rf"\1{MASK}", found[0]), text)
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text


@lru_cache(1 << 13)
def _hints_short(text: str) -> bool:
    """Whether a short text, as most of a trace are again and again, may hold a secret."""
    return _HINT.search(text) is not None


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
    may = _hints_short(key) if len(key) <= _SHORT else True
    return may and _SECRET_FIELD.fullmatch(key) is not None and "logprob" not in fields


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
