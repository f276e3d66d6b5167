"""Replies that lead nowhere: empty, refused, cut off; and what to tell the model about them."""

from dataclasses import dataclass
from enum import StrEnum

from askgraph.llm import Choice, Finish

__all__ = ["Trouble", "TroubleKind", "trouble"]


class TroubleKind(StrEnum):
    """What is wrong with a reply."""

    EMPTY = "empty"  # neither text nor a call
    REFUSED = "refused"  # by the model, or by a filter in front of it
    CUT_OFF = "cut off"  # it ran into a limit on its length


@dataclass(frozen=True)
class Trouble:
    """What is wrong, and a message for the model that may mend it."""

    kind: TroubleKind
    feedback: str


def trouble(choice: Choice) -> Trouble | None:
    """Tell what is wrong with a reply as a whole; None if nothing is.

    A cut-off reply may hold calls: those before the last are whole, and `checked_call` tells
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
