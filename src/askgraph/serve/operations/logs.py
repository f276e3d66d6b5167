"""Structured logs on standard error: lines of JSON, or of text, without any secret."""

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

from askgraph.serve.operations.masking import masked_value
from askgraph.serve.settings import ServeSettings

__all__ = ["set_up_logs"]


def set_up_logs(settings: ServeSettings) -> None:
    """Let all loggers of the process write as the settings say; what was set up before goes."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        structlog.processors.StackInfoRenderer(),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _without_secrets,
                _renderer(settings),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(settings.log_level.upper())
    for name in ("httpx2", "httpcore2", "aiosqlite", "sqlalchemy", "mcp", "openai"):
        logging.getLogger(name).setLevel(logging.WARNING)


def _renderer(settings: ServeSettings) -> structlog.typing.Processor:
    text = settings.log_format == "text" or (settings.log_format == "auto" and sys.stderr.isatty())
    if text:
        return structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    return structlog.processors.JSONRenderer(ensure_ascii=False)


def _without_secrets(
    logger: Any, name: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Mask what a line holds, whoever wrote it."""
    return {key: masked_value(_plain(value)) for key, value in event.items()}


def _plain(value: object) -> object:
    if value is None or isinstance(value, str | int | float | dict | list | tuple):
        return value
    return str(value)
