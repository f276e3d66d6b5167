"""Conversations that go round in circles: the same turn again, or two or three turns by turns."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from askgraph.llm import Assistant, Choice, ToolCall
from askgraph.llm.structured import lenient_object

__all__ = ["Loop", "looping"]

_LONGEST = 3  # turns of one round


@dataclass(frozen=True)
class Loop:
    """A round of `period` turns, done twice; `feedback` tells the model."""

    period: int
    feedback: str


def looping(turns: Sequence[Choice | Assistant]) -> Loop | None:
    """Tell whether the model's last turns repeat: A-A, A-B-A-B or A-B-C-A-B-C.

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
