"""Chat requests and replies as they go over the wire (OpenAI's Chat Completions).

Of a request, what is not named here is taken and ignored: clients send much that has no meaning for
a question to a graph.
"""

from typing import Literal

from pydantic import BaseModel, Field

from askgraph.serve.views.runs import AnswerView

__all__ = [
    "ChatAnswer",
    "ChatBody",
    "ChatChoice",
    "ChatError",
    "ChatErrorContent",
    "ChatMessage",
    "ChatModel",
    "ChatModels",
    "ChatReply",
    "ChatUsage",
    "CompletionView",
    "InputDetails",
    "StreamOptions",
]

_TAG = r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"


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
        """What the message says."""
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
    language: str | None = Field(None, pattern=_TAG, description="A BCP 47 tag.")


class ChatAnswer(BaseModel):
    """The answer for programs: the run that it is kept as, and what `POST /ask` gives of it."""

    run: str
    answer: AnswerView


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
    """The tokens of language models that were asked; all 0 where none was."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: InputDetails


class CompletionView(BaseModel):
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
