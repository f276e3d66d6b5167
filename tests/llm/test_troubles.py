"""Replies that lead nowhere are told apart, and good ones are left alone."""

import pytest

from askgraph.llm import Choice, Finish, ToolCall
from askgraph.llm.troubles import TroubleKind, trouble

CALL = ToolCall("c1", "search", "{}")


@pytest.mark.parametrize(
    ("choice", "kind"),
    [
        (Choice(""), TroubleKind.EMPTY),
        (Choice(" \n", reasoning="Hm."), TroubleKind.EMPTY),
        (Choice("", finish=Finish.OTHER), TroubleKind.EMPTY),
        (Choice("I ca", finish=Finish.LENGTH), TroubleKind.CUT_OFF),
        (Choice("", (CALL,), Finish.LENGTH), TroubleKind.CUT_OFF),
        (Choice("", finish=Finish.REFUSED), TroubleKind.REFUSED),
        (Choice("No.", refusal="No.", finish=Finish.REFUSED), TroubleKind.REFUSED),
        (Choice("The Moon."), None),
        (Choice("", (CALL,), Finish.CALLS), None),
    ],
)
def test_each_trouble_has_its_kind(choice: Choice, kind: TroubleKind | None) -> None:
    found = trouble(choice)

    assert (found.kind if found else None) is kind
