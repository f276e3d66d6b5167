"""Requests and questions as OpenTelemetry spans where its API is installed; else nothing.

Spans go to whatever tracer provider the process has set up. They hold names, numbers and how it
ended: no text of a question or answer, and no key. The calls of language models are spans within.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Protocol

from starlette.types import Scope

__all__ = ["RequestSpan", "question_span", "request_span"]


class RequestSpan(Protocol):
    """The span of a request."""

    def ended(self, status: int, route: str) -> None:
        """Say how the request ended, and which route took it."""


def request_span(scope: Scope) -> AbstractContextManager[RequestSpan]:
    """Make a span of a request, within that of the caller where its headers name one."""
    if not _installed():
        return _no_request()
    from askgraph.serve.middleware.spans import of_request

    return of_request(scope)


def question_span(run: str, method: str, graphs: Sequence[str]) -> AbstractContextManager[None]:
    """Make a span of a question, around whatever is done for it."""
    if not _installed():
        return _no_question()
    from askgraph.serve.middleware.spans import of_question

    return of_question(run, method, graphs)


@cache
def _installed() -> bool:
    return find_spec("opentelemetry") is not None


class _Untold:
    def ended(self, status: int, route: str) -> None:
        """Tell nobody."""


@contextmanager
def _no_request() -> Iterator[RequestSpan]:
    yield _Untold()


@contextmanager
def _no_question() -> Iterator[None]:
    yield
