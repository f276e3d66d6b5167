"""Language models: the common contract of all that complete a conversation, and its messages.

>>> import asyncio
>>> from askgraph.llm import User, read_completion
>>> from askgraph.llm.scripted import ScriptedModel
>>> model = ScriptedModel(["The Moon."])
>>> asyncio.run(read_completion(model.complete([User("What orbits the Earth?")]))).first.text
'The Moon.'

What lives here: the contract, one module for each kind of model, and wrappers that cache, record,
limit or retry. May import: `sparql` and the modules below it; may use the network. Start reading at
`LanguageModel`, then `openai.py`.
"""

import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypedDict, Unpack, runtime_checkable

from askgraph.errors import MalformedReply


@dataclass(frozen=True)
class System:
    """The instruction to the model, once, before all other messages."""

    text: str


@dataclass(frozen=True)
class User:
    """A message of a person, or of a method."""

    text: str


@dataclass(frozen=True)
class ToolCall:
    """A tool call that the model wrote; `arguments` is its text as written, ideally JSON."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Assistant:
    """The model's reply in an earlier turn.

    `opaque` is data that its provider expects back unchanged, such as signed reasoning: JSON text
    that only the same plugin reads.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    opaque: str = ""


@dataclass(frozen=True)
class ToolResult:
    """The result of a tool call in the previous turn."""

    call: str  # id of the call
    tool: str
    text: str


Message = System | User | Assistant | ToolResult


@dataclass(frozen=True)
class ToolSchema:
    """A tool as the model sees it; `parameters` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, object]


class Finish(StrEnum):
    """Why a choice ended."""

    STOP = "stop"
    CALLS = "calls"  # the model calls tools
    LENGTH = "length"  # cut off: by `max_tokens`, the model's own limit, or our cap on a reply
    REFUSED = "refused"  # by the model or by a filter in front of it
    OTHER = "other"


@dataclass(frozen=True)
class TokenUsage:
    """Tokens of one or more calls; two of them can be added.

    `input` is the whole prompt: `cached` of these tokens came from the server's prompt cache and
    `cache_written` were written to it. `output` includes `reasoning`. `estimated` means that the
    server did not count, so that the numbers are estimated from the length of the text.
    """

    input: int = 0
    cached: int = 0
    cache_written: int = 0
    output: int = 0
    reasoning: int = 0
    estimated: bool = False

    @property
    def total(self) -> int:
        """Input and output together."""
        return self.input + self.output

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        """Return the sum; it is an estimate if either of them is."""
        return TokenUsage(
            self.input + other.input,
            self.cached + other.cached,
            self.cache_written + other.cache_written,
            self.output + other.output,
            self.reasoning + other.reasoning,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True)
class TokenLogprob:
    """A token of the text and the natural logarithm of its probability."""

    token: str
    logprob: float


@dataclass(frozen=True)
class Choice:
    """One of the `n` replies to a request."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish: Finish = Finish.STOP
    reasoning: str = ""
    refusal: str = ""  # the model's words if it refused
    logprobs: tuple[TokenLogprob, ...] = ()  # empty if not requested or not returned
    opaque: str = ""

    @property
    def logprob(self) -> float | None:
        """The log-probability of the whole text: the sum over its tokens, or None if unknown."""
        return sum(token.logprob for token in self.logprobs) if self.logprobs else None

    @property
    def message(self) -> Assistant:
        """The choice as a message, to continue the conversation."""
        return Assistant(self.text or self.refusal, self.calls, self.reasoning, self.opaque)


@dataclass(frozen=True)
class Completion:
    """All choices of a request and their usage; the last event of a stream.

    `stored` means that it came from the disk: no request was sent and nothing is charged.
    """

    choices: tuple[Choice, ...]
    usage: TokenUsage
    model: str  # as the server names it
    id: str = ""
    stored: bool = False

    @property
    def first(self) -> Choice:
        """The first choice; the only one if `n` is 1."""
        return self.choices[0]

    def iterate_parts(self) -> "Iterator[Event]":
        """Yield the parts of all choices as a stream could send them, text line by line."""
        for number, choice in enumerate(self.choices):
            if choice.reasoning:
                yield ReasoningPart(choice.reasoning, number)
            for line in choice.text.splitlines(keepends=True):
                yield TextPart(line, number)
            for call in choice.calls:
                yield CallPart(call, number)


@dataclass(frozen=True)
class TextPart:
    """More text of a choice."""

    text: str
    choice: int = 0


@dataclass(frozen=True)
class ReasoningPart:
    """More of the model's reasoning, if its server sends it."""

    text: str
    choice: int = 0


@dataclass(frozen=True)
class CallPart:
    """A complete tool call."""

    call: ToolCall
    choice: int = 0


@dataclass(frozen=True)
class Restart:
    """The call failed and is repeated: all earlier parts are void."""

    reason: str


Event = TextPart | ReasoningPart | CallPart | Restart | Completion


class Options(TypedDict, total=False):
    """The options of a request besides its messages; the server's defaults apply to others."""

    tools: Sequence[ToolSchema]
    tool_choice: str  # auto, none, required, or the name of a tool
    n: int  # choices wanted
    beams: bool  # the n best of one beam search, best first, instead of n samples
    schema: Mapping[str, object] | None  # JSON Schema of type object for the text
    grammar: str | None  # EBNF of xgrammar with a rule `root` that constrains the output
    seed: int | None
    temperature: float | None
    top_p: float | None
    max_tokens: int | None  # of output, for each choice
    stop: Sequence[str]
    logprobs: bool
    effort: str | None  # of reasoning: low, medium or high


@dataclass(frozen=True)
class Request:
    """A request with defaults for all omitted options; see `Options`."""

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
    def from_options(cls, messages: Sequence[Message], options: Options) -> "Request":
        """Build a request; raise `ValueError` without a message or a choice."""
        if not messages:
            raise ValueError("a request needs at least one message")
        values: dict[str, Any] = dict(options)
        for name in ("tools", "stop"):
            values[name] = tuple(values.get(name, ()))
        request = cls(tuple(messages), **values)
        if request.n < 1:
            raise ValueError(f"n must be 1 or more, not {request.n}")
        return request


@dataclass(frozen=True)
class Identity:
    """The model that answers: together with the request it determines the reply; never a secret.

    `settings` are fixed settings of the model that influence its replies.
    """

    provider: str  # openai, anthropic, …: as OpenTelemetry names them
    model: str
    address: str = ""
    settings: str = ""
    grammar: bool = field(default=False, repr=False)  # whether a request may contain one

    @property
    def key_fields(self) -> dict[str, str]:
        """Its fields except `grammar`, as they identify it in traces and caches."""
        return {name: value for name, value in asdict(self).items() if name != "grammar"}


@runtime_checkable
class LanguageModel(Protocol):
    """Completes conversations; raises if it cannot, never ends a stream without a completion.

    The stream yields parts as they arrive and ends with exactly one `Completion`, which
    contains all of them. A reader that stops earlier closes the stream (`contextlib.aclosing`),
    which ends the request. If a server returns too few choices, the rest is requested again;
    seeds, log-probabilities and reasoning are only available if the server has them. Beams and
    grammars are never emulated: `SetupError` if the server has none. Under a grammar there may
    be fewer beams than requested: as many different texts as it admits.

    Raises:
        SetupError, ServiceError, BudgetSpent: see `askgraph.errors`.
    """

    @property
    def identity(self) -> Identity:
        """The model that answers."""

    def complete(
        self, messages: Sequence[Message], **options: Unpack[Options]
    ) -> AsyncGenerator[Event, None]:
        """Send the messages and stream the reply."""

    async def close(self) -> None:
        """Release connections and files; a second call does nothing."""


class ModelWrapper:
    """Base class of models that call another model, `inner`."""

    def __init__(self, inner: LanguageModel) -> None:
        self._inner = inner

    @property
    def identity(self) -> Identity:
        """The model that answers."""
        return self._inner.identity

    def complete(
        self, messages: Sequence[Message], **options: Unpack[Options]
    ) -> AsyncGenerator[Event, None]:
        """Send the messages and stream the reply."""
        return self._inner.complete(messages, **options)

    async def close(self) -> None:
        """Close the inner model."""
        await self._inner.close()


async def read_completion(stream: AsyncGenerator[Event, None]) -> Completion:
    """Read a stream to its end and return only the completion."""
    async with aclosing(stream):
        async for event in stream:
            if isinstance(event, Completion):
                return event
    raise MalformedReply("the stream of a language model ended without a completion")


_TOKENS_PER_MESSAGE = 4  # tokens around a message or a tool


_TOKEN_PIECES = re.compile(
    r"[A-Z]?[a-z]{1,8}|[A-Z]{1,2}|[\d_\n]|[!-/:-@[-^`{-~]{1,3}"
    "|[\x80-\u1fff]{1,3}|[\u2000-\U0010ffff]"
)


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens of a text."""
    # It counts pieces of words, digits and punctuation, much as a tokenizer splits them; the
    # pattern was fitted to prompts with IRIs and queries and a vocabulary of 130,000 tokens
    # (Tekken).
    return len(_TOKEN_PIECES.findall(text))


def estimate_input_tokens(request: Request) -> int:
    """Estimate the tokens of a request's messages, tools and schema."""
    texts = [_get_message_text(message) for message in request.messages]
    if request.schema is not None:
        texts.append(json.dumps(request.schema))
    tools = sum(map(estimate_tool_tokens, request.tools))
    return tools + sum(estimate_tokens(text) + _TOKENS_PER_MESSAGE for text in texts)


def estimate_tool_tokens(tool: ToolSchema) -> int:
    """Estimate the tokens of a tool's schema."""
    parameters = json.dumps(tool.parameters)
    return estimate_tokens(f"{tool.name} {tool.description} {parameters}") + _TOKENS_PER_MESSAGE


def estimate_usage(request: Request, choices: tuple[Choice, ...]) -> TokenUsage:
    """Estimate the tokens of a request and its choices."""
    output = sum(
        estimate_tokens(choice.text + choice.reasoning + choice.refusal + _join_calls(choice.calls))
        for choice in choices
    )
    return TokenUsage(input=estimate_input_tokens(request), output=output, estimated=True)


def _get_message_text(message: Message) -> str:
    match message:
        case Assistant(text, calls, reasoning):
            return text + reasoning + _join_calls(calls)
        case ToolResult(_, tool, text):
            return tool + text
        case _:
            return message.text


def _join_calls(calls: tuple[ToolCall, ...]) -> str:
    return "".join(call.name + call.arguments for call in calls)
