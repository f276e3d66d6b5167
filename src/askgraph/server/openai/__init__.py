"""An OpenAI-compatible server: chat requests, replies and errors of the protocol.

The last message of a conversation is the question; the model names the method and the graph
(`routes`); the answer is written as Markdown (`answers`). Unknown fields of a request are ignored:
clients send many that do not apply to a question over a graph.
"""

from collections.abc import Callable, Coroutine
from typing import Any, Literal

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field

from askgraph.errors import AskgraphError
from askgraph.server import problems
from askgraph.server.runs import LANGUAGE_TAG_PATTERN, AnswerView

_ERROR_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
_ERROR_CODES = {
    "unknown-caller": "invalid_api_key",
    "missing": "model_not_found",
    "too-many": "rate_limit_exceeded",
}


class ChatPart(BaseModel):
    """A part of a message; only text parts are read."""

    type: str = "text"
    text: str | None = None


class ChatMessage(BaseModel):
    """A message of the conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ChatPart] | None = None

    @property
    def text(self) -> str:
        """The text of the message."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.text)
        return self.content or ""


class StreamOptions(BaseModel):
    """What a stream contains besides the answer."""

    include_usage: bool | None = False


class ChatBody(BaseModel):
    """A conversation whose last message is the question."""

    model: str = Field(max_length=300, description="`askgraph`, METHOD or METHOD@GRAPH.")
    messages: list[ChatMessage] = Field(min_length=1, max_length=500)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: int | None = Field(1, description="Only one answer is given.")
    graph: str | None = Field(None, max_length=200, description="The graph to ask.")
    graphs: list[str] | None = Field(None, max_length=20, description="The graphs to ask as one.")
    language: str | None = Field(None, pattern=LANGUAGE_TAG_PATTERN, description="A BCP 47 tag.")


class ChatAnswer(BaseModel):
    """The answer for programs: the id of its run, and the same object that `POST /ask` returns."""

    run: str
    answer: AnswerView
    next: list[str] = Field([], description="Possible follow-up questions that have answers.")


class ChatReply(BaseModel):
    """The answer as a message, or a delta of it."""

    role: Literal["assistant"] | None = None
    content: str | None = None
    reasoning_content: str | None = Field(None, description="What was done, line by line.")
    askgraph: ChatAnswer | None = None


class ChatChoice(BaseModel):
    """The only choice of a reply; a stream sends it in deltas."""

    index: int = 0
    message: ChatReply | None = None
    delta: ChatReply | None = None
    finish_reason: Literal["stop"] | None = None


class InputTokenDetails(BaseModel):
    """The number of input tokens that came from a cache."""

    cached_tokens: int


class ChatUsage(BaseModel):
    """Token usage of language models; all 0 if no model was used."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: InputTokenDetails


class ChatCompletion(BaseModel):
    """A complete reply, or a chunk of it."""

    id: str
    object: Literal["chat.completion", "chat.completion.chunk"]
    created: int = Field(description="Seconds since 1970.")
    model: str
    choices: list[ChatChoice]
    usage: ChatUsage | None = None


class ChatModel(BaseModel):
    """A method, or a method on one graph, as a model."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: Literal["askgraph"] = "askgraph"


class ChatModels(BaseModel):
    """The available models."""

    object: Literal["list"] = "list"
    data: list[ChatModel]


class ChatErrorContent(BaseModel):
    """The reason that a request failed, in the format of OpenAI."""

    message: str = Field(description="What went wrong, and what to do.")
    type: str
    param: str | None = Field(None, description="The field with the error.")
    code: str


class ChatError(BaseModel):
    """An error."""

    error: ChatErrorContent


class ChatRoute(APIRoute):
    """A route that returns errors in the format of OpenAI."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, which converts errors to responses."""
        handle = super().get_route_handler()

        async def handle_request(request: Request) -> Response:
            try:
                return await handle(request)
            except AskgraphError as error:
                return to_openai_response(problems.to_problem(error))
            except RequestValidationError as error:
                content = ChatErrorContent(
                    message=problems.describe_faults(error),
                    type="invalid_request_error",
                    param=problems.locate_first_fault(error) or None,
                    code="invalid_value",
                )
                return JSONResponse(ChatError(error=content).model_dump(), 400)

        return handle_request


def to_chat_error(problem: problems.Problem) -> ChatError:
    """Convert a problem to an error in the format of OpenAI."""
    status = _get_status(problem)
    error_type = _ERROR_TYPES.get(
        status, "server_error" if status >= 500 else "invalid_request_error"
    )
    name = problem.type.rpartition(":")[2]
    code = _ERROR_CODES.get(name, name.replace("-", "_"))
    return ChatError(error=ChatErrorContent(message=problem.detail, type=error_type, code=code))


def _get_status(problem: problems.Problem) -> int:
    return 400 if problem.status == 422 else problem.status


def to_openai_response(problem: problems.Problem) -> JSONResponse:
    """Convert a problem to a response in the format of OpenAI."""
    content = to_chat_error(problem).model_dump()
    return JSONResponse(content, _get_status(problem), problems.build_problem_headers(problem))
