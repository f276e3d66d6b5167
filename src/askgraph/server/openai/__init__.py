"""An OpenAI-compatible server: chat requests, replies and errors on the wire.

The last message of a conversation is the question, the model names the method and the graph
(`routes`), the answer is written as Markdown (`answers`). Fields of a request that are not named
here are ignored: clients send much that has no meaning for a question to a graph.
"""

from collections.abc import Callable, Coroutine
from typing import Any, Literal

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field

from askgraph.errors import AskgraphError
from askgraph.server.problems import (
    Problem,
    faults_in_words,
    first_place,
    problem_headers,
    problem_of,
)
from askgraph.server.runs import LANGUAGE_TAG, AnswerView

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


class ChatPart(BaseModel):
    """A part of a message; only text is read."""

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
    """What a stream holds besides the answer."""

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
    language: str | None = Field(None, pattern=LANGUAGE_TAG, description="A BCP 47 tag.")


class ChatAnswer(BaseModel):
    """The answer for programs: the run that it is kept as, and what `POST /ask` gives of it."""

    run: str
    answer: AnswerView
    next: list[str] = Field([], description="Questions that may follow, which have answers.")


class ChatReply(BaseModel):
    """The answer as a message, or a piece of it."""

    role: Literal["assistant"] | None = None
    content: str | None = None
    reasoning_content: str | None = Field(None, description="What was done, line by line.")
    askgraph: ChatAnswer | None = None


class ChatChoice(BaseModel):
    """The one choice of a reply; a stream has its pieces as `delta`."""

    index: int = 0
    message: ChatReply | None = None
    delta: ChatReply | None = None
    finish_reason: Literal["stop"] | None = None


class InputDetails(BaseModel):
    """How many of the tokens came from a cache."""

    cached_tokens: int


class ChatUsage(BaseModel):
    """The tokens of language models that were asked; all 0 if none was."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: InputDetails


class ChatCompletion(BaseModel):
    """A whole reply, or a chunk of one."""

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
    """The models that there are."""

    object: Literal["list"] = "list"
    data: list[ChatModel]


class ChatErrorContent(BaseModel):
    """Why a request failed, in OpenAI's words."""

    message: str = Field(description="What is wrong, and what to do.")
    type: str
    param: str | None = Field(None, description="The field that is wrong.")
    code: str


class ChatError(BaseModel):
    """An error."""

    error: ChatErrorContent


class ChatRoute(APIRoute):
    """A route whose errors are OpenAI's."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, with errors turned into responses."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(request)
            except AskgraphError as error:
                return openai_problem(problem_of(error))
            except RequestValidationError as error:
                content = ChatErrorContent(
                    message=faults_in_words(error),
                    type="invalid_request_error",
                    param=first_place(error) or None,
                    code="invalid_value",
                )
                return JSONResponse(ChatError(error=content).model_dump(), 400)

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


def openai_problem(problem: Problem) -> JSONResponse:
    """Return a problem as a response of OpenAI's."""
    content = error_of(problem).model_dump()
    return JSONResponse(content, _status(problem), problem_headers(problem))
