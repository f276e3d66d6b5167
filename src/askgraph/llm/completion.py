"""Completions of a language model: parts as they arrive, and what they add up to."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "Assistant",
    "CallPart",
    "Choice",
    "Completion",
    "Event",
    "Finish",
    "Message",
    "ReasoningPart",
    "Restart",
    "System",
    "TextPart",
    "TokenLogprob",
    "TokenUsage",
    "ToolCall",
    "ToolResult",
    "ToolSchema",
    "User",
]


@dataclass(frozen=True)
class System:
    """What the model is told once, before everything else."""

    text: str


@dataclass(frozen=True)
class User:
    """What a person, or the method on its own behalf, says."""

    text: str


@dataclass(frozen=True)
class ToolCall:
    """A call that the model wrote: `arguments` is its text as written, meant to be JSON."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Assistant:
    """What the model said in an earlier turn.

    `opaque` is what its provider wants back unchanged (signed reasoning, for one), as JSON text
    that only the same plugin reads.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    opaque: str = ""


@dataclass(frozen=True)
class ToolResult:
    """What one tool call of the turn before gave."""

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
    CALLS = "calls"  # it wants tools to be called
    LENGTH = "length"  # cut off: by `max_tokens`, the model's own limit, or our cap on a reply
    REFUSED = "refused"  # by the model or by a filter in front of it
    OTHER = "other"


@dataclass(frozen=True)
class TokenUsage:
    """Tokens of one or more calls; two add up.

    `input` counts the prompt whole: `cached` of them came from the server's prompt cache and
    `cache_written` went into it. `output` counts `reasoning` too. `estimated` says that the server
    told no numbers, so that they are guessed from the length of the text.
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
        """Return the sum; it is an estimate if one of both is."""
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
    refusal: str = ""  # the model's words where it refused
    logprobs: tuple[TokenLogprob, ...] = ()  # empty where not asked for, or not given
    opaque: str = ""

    @property
    def logprob(self) -> float | None:
        """The sum over the tokens: how likely the whole text is; None if it is not known."""
        return sum(token.logprob for token in self.logprobs) if self.logprobs else None

    @property
    def message(self) -> Assistant:
        """The choice as a message of the conversation that goes on."""
        return Assistant(self.text or self.refusal, self.calls, self.reasoning, self.opaque)


@dataclass(frozen=True)
class Completion:
    """All choices of a request and what they cost; the last event of a stream.

    `stored` says that it came from the disk: nothing was sent and nothing is to be paid.
    """

    choices: tuple[Choice, ...]
    usage: TokenUsage
    model: str  # as the server names it
    id: str = ""
    stored: bool = False

    @property
    def first(self) -> Choice:
        """The first choice, which is the only one if `n` is 1."""
        return self.choices[0]


@dataclass(frozen=True)
class TextPart:
    """More text of a choice."""

    text: str
    choice: int = 0


@dataclass(frozen=True)
class ReasoningPart:
    """More of what the model thinks before it speaks, if its server shows it."""

    text: str
    choice: int = 0


@dataclass(frozen=True)
class CallPart:
    """A tool call, complete."""

    call: ToolCall
    choice: int = 0


@dataclass(frozen=True)
class Restart:
    """The call failed and is made again: all parts so far are void."""

    reason: str


Event = TextPart | ReasoningPart | CallPart | Restart | Completion
