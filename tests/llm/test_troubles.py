"""Replies that lead nowhere are told apart, and good ones are left alone."""

import pytest

from askgraph.llm import Assistant, Choice, Finish, ToolCall
from askgraph.llm.troubles import TroubleKind, looping, trouble

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


def _turn(letter: str, number: int = 0) -> Choice:
    call = ToolCall(f"c{number}", "search", f'{{"text": "{letter}",  "limit": 3}}')
    return Choice("Let me see.", (call,), reasoning=f"thought {number}")


@pytest.mark.parametrize(
    ("turns", "period"),
    [
        ("", None),
        ("A", None),
        ("AB", None),
        ("ABA", None),
        ("ABCAB", None),
        ("AAB", None),
        ("AA", 1),
        ("BAA", 1),
        ("ABAB", 2),
        ("CABAB", 2),
        ("ABCABC", 3),
    ],
)
def test_a_round_is_found_when_it_is_done_twice(turns: str, period: int | None) -> None:
    said = [_turn(letter, number) for number, letter in enumerate(turns)]

    loop = looping(said)

    assert (loop.period if loop else None) == period


def test_ids_spaces_and_the_order_of_calls_do_not_count() -> None:
    one, two = ToolCall("1", "a", '{"x": 1, "y": 2}'), ToolCall("2", "b", "{}")
    again = (ToolCall("9", "b", "{ }"), ToolCall("8", "a", '{"y":2,"x":1}'))

    assert looping([Choice("So:", (one, two)), Assistant(" so: ", again)])


def test_arguments_that_cannot_be_read_are_compared_as_text() -> None:
    bad = ToolCall("1", "a", '{"x": ')

    assert looping([Choice("", (bad,)), Choice("", (bad,))])
    assert not looping([Choice("", (bad,)), Choice("", (ToolCall("1", "a", '{"y": '),))])
