"""Replies that lead nowhere (empty, refused, cut off, in a circle), with feedback for the model."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from askgraph.llm import Assistant, Choice, Finish, ToolCall
from askgraph.llm.structured import lenient_object


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
            TroubleKind.EMPTY,
            "Your last reply was empty. Call a tool, answer, or cancel.",
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
