"""The one contract of everything that completes a conversation: a language model.

>>> import asyncio
>>> from askgraph.llm import User, completed
>>> from askgraph.llm.scripted import ScriptedModel
>>> model = ScriptedModel(["The Moon."])
>>> asyncio.run(completed(model.complete([User("What orbits the Earth?")]))).first.text
'The Moon.'
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol, TypedDict, Unpack, runtime_checkable

from askgraph.errors import MalformedReply
from askgraph.llm.completion import (
    Assistant,
    CallPart,
    Choice,
    Completion,
    Event,
    Finish,
    Message,
    ReasoningPart,
    Restart,
    System,
    TextPart,
    TokenLogprob,
    TokenUsage,
    ToolCall,
    ToolResult,
    ToolSchema,
    User,
)

__all__ = [
    "Assistant",
    "CallPart",
    "Choice",
    "Completion",
    "Event",
    "Finish",
    "Identity",
    "LanguageModel",
    "Message",
    "Options",
    "ReasoningPart",
    "Request",
    "Restart",
    "System",
    "TextPart",
    "TokenLogprob",
    "TokenUsage",
    "ToolCall",
    "ToolResult",
    "ToolSchema",
    "User",
    "completed",
]


class Options(TypedDict, total=False):
    """What a request may ask for besides its messages; what is left out is up to the server."""

    tools: Sequence[ToolSchema]
    tool_choice: str  # auto, none, required, or the name of a tool
    n: int  # choices wanted
    beams: bool  # the n best of one beam search, best first, instead of n samples
    schema: Mapping[str, object] | None  # JSON Schema of type object that the text shall fulfil
    grammar: str | None  # in the EBNF of xgrammar, with a rule `root`: nothing else is written
    seed: int | None
    temperature: float | None
    top_p: float | None
    max_tokens: int | None  # of output, for each choice
    stop: Sequence[str]
    logprobs: bool
    effort: str | None  # of reasoning: low, medium or high


@dataclass(frozen=True)
class Request:
    """A request with everything that was left out filled in; see `Options`."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    tool_choice: str = "auto"
    n: int = 1
    beams: bool = False
    schema: Mapping[str, object] | None = None
    grammar: str | None = None
    seed: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    logprobs: bool = False
    effort: str | None = None

    @classmethod
    def of(cls, messages: Sequence[Message], options: Options) -> "Request":
        """Make one; `ValueError` if there is no message, or less than one choice is wanted."""
        if not messages:
            raise ValueError("a request needs at least one message")
        values: dict[str, Any] = dict(options)
        for name in ("tools", "stop"):
            values[name] = tuple(values.get(name, ()))
        whole = cls(tuple(messages), **values)
        if whole.n < 1:
            raise ValueError(f"n is {whole.n}; it must be 1 or more")
        return whole


@dataclass(frozen=True)
class Identity:
    """Which model answers: what, with the request, decides what may come; never a secret.

    `settings` are those fixed settings of the model that change what it says.
    """

    provider: str  # openai, anthropic, …: as OpenTelemetry names them
    model: str
    address: str = ""
    settings: str = ""


@runtime_checkable
class LanguageModel(Protocol):
    """Completes conversations; raises if it cannot, never ends a stream without a completion.

    The stream gives parts as they arrive and ends with exactly one `Completion`, which holds all
    of them. Whoever stops reading earlier closes the stream (`contextlib.aclosing`), which ends
    the request. If a server gives less choices than wanted, it is asked again for the rest;
    seeds, log-probabilities and reasoning come if the server has them. Beams and grammars are
    never made up for: `SetupError` if the server has none. Under a grammar fewer beams may come
    than wanted: as many different texts as it admits.

    Raises `SetupError`, `ServiceError` (see `askgraph.errors`) or `BudgetSpent`.
    """

    @property
    def identity(self) -> Identity:
        """Which model answers."""
        ...

    def complete(
        self, messages: Sequence[Message], **options: Unpack[Options]
    ) -> AsyncGenerator[Event, None]:
        """Send the messages and give the reply as it arrives."""
        ...

    async def close(self) -> None:
        """Give back connections and files; a second call does nothing."""
        ...


async def completed(stream: AsyncGenerator[Event, None]) -> Completion:
    """Read a stream to its end and return the completion, for those who need no parts."""
    async with aclosing(stream):
        async for event in stream:
            if isinstance(event, Completion):
                return event
    raise MalformedReply("the stream of a language model ended without a completion")
