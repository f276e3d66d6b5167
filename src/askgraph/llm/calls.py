"""Tool calls that a model wrote, held against the tools there are, and replies that lead nowhere.

A call that cannot be run, and a reply that is empty, refused, cut off or goes in a circle, becomes
text for the model, never an exception: it is one turn lost, not the question.
"""

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from askgraph.llm import Assistant, Choice, Finish, ToolCall, ToolSchema
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


class TroubleKind(StrEnum):
    """The kinds of trouble."""

    EMPTY = "empty"  # neither text nor a call
    REFUSED = "refused"  # by the model, or by a filter in front of it
    CUT_OFF = "cut off"  # it ran into a limit on its length


@dataclass(frozen=True)
class Trouble:
    """A fault of a reply, and a message for the model that may mend it."""

    kind: TroubleKind
    feedback: str


def trouble(choice: Choice) -> Trouble | None:
    """Return the trouble of a reply as a whole; None if it has none.

    A cut-off reply may hold calls: those before the last are whole, and `checked_call` decides
    whether the last one is.
    """
    if choice.finish is Finish.REFUSED:
        return Trouble(
            TroubleKind.REFUSED,
            "Your last reply was a refusal. The question is about facts in a public or private"
            " graph that the person asking may read. Go on with it, or cancel and say why.",
        )
    if choice.finish is Finish.LENGTH:
        return Trouble(
            TroubleKind.CUT_OFF,
            "Your last reply was longer than allowed and is cut off. Say the same in fewer words:"
            " think less aloud, and make one call at a time.",
        )
    if not choice.text.strip() and not choice.calls:
        return Trouble(
            TroubleKind.EMPTY, "Your last reply was empty. Call a tool, answer, or cancel."
        )
    return None


_LONGEST = 3  # turns of one round


@dataclass(frozen=True)
class Loop:
    """A round of `period` turns, done twice, with `feedback` for the model."""

    period: int
    feedback: str


def looping(turns: Sequence[Choice | Assistant]) -> Loop | None:
    """Return the round that the model's last turns repeat: A-A, A-B-A-B or A-B-C-A-B-C.

    Two turns are the same if they say the same words and make the same calls, in whatever
    order, with the same arguments; ids, spaces, case and reasoning do not count.
    """
    last = [_fingerprint(turn) for turn in turns[-2 * _LONGEST :]]
    for period in range(1, _LONGEST + 1):
        if len(last) >= 2 * period and last[-period:] == last[-2 * period : -period]:
            return Loop(period, _feedback(period))
    return None


def _fingerprint(turn: Choice | Assistant) -> tuple[str, tuple[str, ...]]:
    words = " ".join(turn.text.casefold().split())
    return words, tuple(sorted(_call(call) for call in turn.calls))


def _call(call: ToolCall) -> str:
    try:
        arguments = json.dumps(lenient_object(call.arguments), sort_keys=True)
    except ValueError:
        arguments = " ".join(call.arguments.split())
    return f"{call.name} {arguments}"


def _feedback(period: int) -> str:
    what = "turn is the one before it" if period == 1 else f"{period} turns are those before them"
    return (
        f"Your last {what}, once more, and the results will be the same. Nothing was run."
        " Try something else: other words, another tool, or answer or cancel with what you know."
    )
