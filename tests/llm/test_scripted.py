"""The scripted model: what it is told to say, in the shape in which a real one says it."""

import pytest

from askgraph.errors import Overloaded, SetupError
from askgraph.llm import (
    CallPart,
    Choice,
    Completion,
    Finish,
    LanguageModel,
    Message,
    ReasoningPart,
    Request,
    TextPart,
    ToolCall,
    User,
    completed,
)
from askgraph.llm.scripted import ScriptedModel

ASKED: list[Message] = [User("What orbits the Earth?")]
CALL = ToolCall("c1", "search", "{}")


def test_it_fulfils_the_protocol() -> None:
    assert isinstance(ScriptedModel([]), LanguageModel)


async def test_replies_come_in_order() -> None:
    model = ScriptedModel(["one", CALL, Choice("two", reasoning="Hm.")])

    first, second, third = [await completed(model.complete(ASKED)) for _ in range(3)]

    assert (first.first.text, first.usage.estimated) == ("one", True)
    assert (second.first.calls, second.first.finish) == ((CALL,), Finish.CALLS)
    assert third.first.reasoning == "Hm."


async def test_a_function_sees_the_request() -> None:
    def shout(request: Request) -> str:
        return request.messages[-1].text.upper()

    done = await completed(ScriptedModel(shout).complete(ASKED))

    assert done.first.text == "WHAT ORBITS THE EARTH?"


async def test_parts_add_up_to_the_completion() -> None:
    choice = Choice("a\nb\n", (CALL,), Finish.CALLS, "Hm.")

    events = [event async for event in ScriptedModel([choice]).complete(ASKED)]

    assert [type(event) for event in events] == [
        ReasoningPart,
        TextPart,
        TextPart,
        CallPart,
        Completion,
    ]


async def test_one_reply_stands_for_all_choices_and_several_for_themselves() -> None:
    model = ScriptedModel(["same", [Choice("a"), Choice("b")]])

    same = await completed(model.complete(ASKED, n=2))
    apart = await completed(model.complete(ASKED, n=2))

    assert [choice.text for choice in same.choices] == ["same", "same"]
    assert [choice.text for choice in apart.choices] == ["a", "b"]


async def test_an_error_is_raised_and_the_script_goes_on() -> None:
    model = ScriptedModel([Overloaded("busy"), "The Moon."])
    with pytest.raises(Overloaded):
        await completed(model.complete(ASKED))

    assert (await completed(model.complete(ASKED))).first.text == "The Moon."


async def test_a_script_at_its_end_says_so() -> None:
    with pytest.raises(SetupError, match="the script has 0 replies; this is call 1"):
        await completed(ScriptedModel([]).complete(ASKED))


@pytest.mark.parametrize("n", [0, -1])
async def test_less_than_one_choice_is_no_request(n: int) -> None:
    with pytest.raises(ValueError, match="n is"):
        await completed(ScriptedModel(["x"]).complete(ASKED, n=n))


async def test_no_message_is_no_request() -> None:
    with pytest.raises(ValueError, match="at least one message"):
        await completed(ScriptedModel(["x"]).complete([]))
