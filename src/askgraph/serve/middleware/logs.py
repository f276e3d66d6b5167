"""Structured logs on standard error: lines of JSON, or of text, without any secret."""

import logging
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any, TextIO

import structlog

from askgraph.serve.middleware.masking import masked_value
from askgraph.serve.settings import ServeSettings

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
