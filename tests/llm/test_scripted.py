"""The scripted model: what it is told to say, in the shape in which a real one says it."""

import pytest

from askgraph import llm
from askgraph.errors import Overloaded, SetupError
from askgraph.llm.scripted import ScriptedModel

ASKED: list[llm.Message] = [llm.User("What orbits the Earth?")]
CALL = llm.ToolCall("c1", "search", "{}")


async def test_replies_come_in_order_errors_too_up_to_the_end_of_the_script() -> None:
    model = ScriptedModel(["one", Overloaded("busy"), CALL, [llm.Choice("a"), llm.Choice("b")]])

    first = await llm.read_completion(model.complete(ASKED, n=2))
    with pytest.raises(Overloaded):
        await llm.read_completion(model.complete(ASKED))
    second = await llm.read_completion(model.complete(ASKED))
    third = await llm.read_completion(model.complete(ASKED, n=2))
    with pytest.raises(SetupError, match="the script has 4 replies; this is call 5"):
        await llm.read_completion(model.complete(ASKED))

    assert isinstance(model, llm.LanguageModel)
    assert ([choice.text for choice in first.choices], first.usage.estimated) == (["one"] * 2, True)
    assert (second.first.calls, second.first.finish) == ((CALL,), llm.Finish.CALLS)
    assert [choice.text for choice in third.choices] == ["a", "b"]


async def test_a_function_sees_the_request() -> None:
    model = ScriptedModel(lambda request: request.messages[-1].text.upper())

    assert (await llm.read_completion(model.complete(ASKED))).first.text == "WHAT ORBITS THE EARTH?"


async def test_parts_add_up_to_the_completion() -> None:
    choice = llm.Choice("a\nb\n", (CALL,), llm.Finish.CALLS, "Hm.")

    events = [event async for event in ScriptedModel([choice]).complete(ASKED)]

    kinds = [llm.ReasoningPart, llm.TextPart, llm.TextPart, llm.CallPart, llm.Completion]
    assert [type(event) for event in events] == kinds


async def test_a_request_needs_a_message_and_a_choice() -> None:
    for n in (0, -1):
        with pytest.raises(ValueError, match="n must be 1 or more"):
            await llm.read_completion(ScriptedModel(["x"]).complete(ASKED, n=n))
    with pytest.raises(ValueError, match="at least one message"):
        await llm.read_completion(ScriptedModel(["x"]).complete([]))
