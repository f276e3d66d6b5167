"""Tools for a model that knows them from its prompt alone, and its calls read out of its words."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from askgraph.llm import ToolCall, ToolSchema

__all__ = ["Called", "calls_in", "told_tools"]

_CALL = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.DOTALL)
_TOLD = """\
You can call tools. To call one, write an object in JSON between tags, and nothing behind it:
<tool_call>{"name": "NAME", "arguments": {…}}</tool_call>
The tools:"""


@dataclass(frozen=True)
class Called:
    """The words of a reply, and the calls among them."""

    text: str
    calls: tuple[ToolCall, ...]


def told_tools(tools: Sequence[ToolSchema]) -> str:
    """Return what a model must be told of its tools, in the form that most models know."""
    lines = [
        json.dumps({"name": t.name, "description": t.description, "parameters": dict(t.parameters)})
        for t in tools
    ]
    return "\n".join([_TOLD, *lines])


def calls_in(text: str) -> Called:
    """Return the calls that a reply makes; arguments are kept as written where they are no JSON."""
    calls = [_call(found[1], number) for number, found in enumerate(_CALL.finditer(text))]
    return Called(_CALL.sub("", text).strip(), tuple(calls))


def _call(written: str, number: int) -> ToolCall:
    try:
        given = json.loads(written)
    except ValueError:
        given = None
    if not isinstance(given, dict):
        return ToolCall(f"call-{number}", "", written)
    arguments = given.get("arguments", {})
    return ToolCall(f"call-{number}", str(given.get("name", "")), json.dumps(arguments))
