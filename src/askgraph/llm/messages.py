"""What goes to a language model: the messages of a conversation, and the tools it may call."""

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Assistant", "Message", "System", "ToolCall", "ToolResult", "ToolSchema", "User"]


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
