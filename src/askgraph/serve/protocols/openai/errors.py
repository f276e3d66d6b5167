"""Errors in the shape that OpenAI's clients read, with the statuses that they sort them by."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from askgraph.errors import AskgraphError
from askgraph.serve.problems import Problem, problem_of
from askgraph.serve.protocols.openai.views import ChatError, ChatErrorContent

__all__ = ["ChatRoute", "error_of"]

_KINDS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
_CODES = {
    "unknown-caller": "invalid_api_key",
    "missing": "model_not_found",
    "too-many": "rate_limit_exceeded",
}


class ChatRoute(APIRoute):
    """A route whose errors are OpenAI's."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, with errors turned into responses."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(request)
            except AskgraphError as error:
                return _response(problem_of(error))
            except RequestValidationError as error:
                return _wrong(error)

        return handled


def error_of(problem: Problem) -> ChatError:
    """Return a problem as a stream or response says it."""
    status = _status(problem)
    kind = _KINDS.get(status, "server_error" if status >= 500 else "invalid_request_error")
    name = problem.type.rpartition(":")[2]
    code = _CODES.get(name, name.replace("-", "_"))
    return ChatError(error=ChatErrorContent(message=problem.detail, type=kind, code=code))


def _status(problem: Problem) -> int:
    return 400 if problem.status == 422 else problem.status


def _response(problem: Problem) -> JSONResponse:
    headers = {}
    if problem.retry_after is not None:
        headers["Retry-After"] = str(max(1, round(problem.retry_after)))
    if problem.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="askgraph"'
    return JSONResponse(error_of(problem).model_dump(), _status(problem), headers)


def _wrong(error: RequestValidationError) -> JSONResponse:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part != "body")
    message = f"{place or 'the request'}: {first['msg']}"
    content = ChatErrorContent(
        message=message, type="invalid_request_error", param=place or None, code="invalid_value"
    )
    return JSONResponse(ChatError(error=content).model_dump(), 400)
