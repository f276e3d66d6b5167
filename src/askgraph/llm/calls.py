"""Tool calls as a model wrote them, held against the tools there are, before any is run.

A call that cannot be run becomes text for the model, never an exception: it is one turn lost, not
the question.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from askgraph.llm import ToolCall, ToolSchema
from askgraph.llm.structured import faults, fitted, lenient_object


class CallFault(StrEnum):
    """The fault of a call."""

    TOOL = "tool"  # there is none of this name
    JSON = "json"  # the arguments cannot be read
    ARGUMENTS = "arguments"  # one is missing, unknown, or of the wrong kind


@dataclass(frozen=True)
class SoundCall:
    """A call that can be run: the tool there is, and its arguments as values."""

    call: ToolCall
    tool: ToolSchema
    arguments: Mapping[str, object]


@dataclass(frozen=True)
class BadCall:
    """A call that cannot be run; the model gets `feedback` in place of a result."""

    call: ToolCall
    fault: CallFault
    feedback: str


def checked_call(call: ToolCall, tools: Sequence[ToolSchema]) -> SoundCall | BadCall:
    """Find the tool and read the arguments of a call.

    Forgiven are: another spelling of the tool's name (`functions.Search-Entity`), code fences,
    JSON within JSON, Python's quotes, numbers, booleans and null as text, and no arguments at all
    if none are needed.
    """
    tool = _tool(call.name, tools)
    if tool is None:
        return BadCall(call, CallFault.TOOL, _no_tool(call.name, tools))
    try:
        arguments = lenient_object(call.arguments) if call.arguments.strip() else {}
    except ValueError as problem:
        feedback = (
            f"The call of {tool.name} was not run: its arguments are no JSON object, for"
            f" {problem}. Write the call again with all of its arguments."
        )
        return BadCall(call, CallFault.JSON, feedback)
    closed = {"type": "object", "additionalProperties": False} | dict(tool.parameters)
    value = fitted(arguments, closed)
    assert isinstance(value, dict)
    if wrong := faults(value, closed):
        feedback = f"The call of {tool.name} was not run: {'; '.join(wrong[:5])}."
        return BadCall(call, CallFault.ARGUMENTS, feedback)
    return SoundCall(call, tool, value)


def _tool(name: str, tools: Sequence[ToolSchema]) -> ToolSchema | None:
    exact = [tool for tool in tools if tool.name == name]
    alike = exact or [tool for tool in tools if _plain(tool.name) == _plain(name)]
    return alike[0] if len(alike) == 1 else None


def _plain(name: str) -> str:
    last = re.sub(r"\(\s*\)\Z", "", name.strip()).rsplit(".", 1)[-1].rsplit(":", 1)[-1]
    return re.sub(r"[\W_]+", "", last).lower()


def _no_tool(name: str, tools: Sequence[ToolSchema]) -> str:
    names = [tool.name for tool in tools]
    near = difflib.get_close_matches(name, names, n=2)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    there = f"The tools are {', '.join(names)}." if names else "No tool may be called now."
    return f"There is no tool {name[:80]!r}, so nothing was run.{hint} {there}"
