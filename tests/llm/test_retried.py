"""Trying again: where it may help, as late as the server asks, and no more often than allowed."""

import time

import pytest

from askgraph.errors import (
    AskgraphError,
    ErrorReply,
    MalformedReply,
    Overloaded,
    TimedOut,
    Unauthorised,
    Unreachable,
)
from askgraph.llm import Completion, Message, Restart, TextPart, User, completed
from askgraph.llm.retried import RetriedModel
from askgraph.llm.scripted import ScriptedModel

ASKED: list[Message] = [User("What orbits the Earth?")]


@pytest.mark.parametrize("error", [Overloaded("busy"), MalformedReply("cut"), Unreachable("gone")])
async def test_what_may_pass_is_tried_again(error: AskgraphError) -> None:
    script = ScriptedModel([error, error, "The Moon."])
    model = RetriedModel(script, first_wait=0.001)

    events = [event async for event in model.complete(ASKED)]

    assert [type(event) for event in events] == [Restart, Restart, TextPart, Completion]
    assert len(script.requests) == 3


async def test_a_silent_server_is_asked_once_more_and_not_for_ever() -> None:
    script = ScriptedModel([TimedOut("late")] * 5)

    with pytest.raises(TimedOut):
        await completed(RetriedModel(script, retries=4, first_wait=0.001).complete(ASKED))

    assert len(script.requests) == 2


@pytest.mark.parametrize("error", [ErrorReply("no such model"), Unauthorised("no key")])
async def test_what_will_not_pass_is_not_tried_again(error: AskgraphError) -> None:
    script = ScriptedModel([error, "The Moon."])

    with pytest.raises(type(error)):
        await completed(RetriedModel(script, first_wait=0.001).complete(ASKED))

    assert len(script.requests) == 1


async def test_after_the_last_retry_the_error_comes_through() -> None:
    script = ScriptedModel([Overloaded("busy")] * 5)

    with pytest.raises(Overloaded):
        await completed(RetriedModel(script, retries=2, first_wait=0.001).complete(ASKED))

    assert len(script.requests) == 3


async def test_retry_after_is_honoured() -> None:
    script = ScriptedModel([Overloaded("busy", retry_after=0.3), "The Moon."])
    began = time.monotonic()

    await completed(RetriedModel(script, first_wait=0.0).complete(ASKED))

    assert time.monotonic() - began >= 0.3


async def test_a_server_that_asks_for_too_long_is_not_waited_for() -> None:
    script = ScriptedModel([Overloaded("busy", retry_after=3600), "The Moon."])

    with pytest.raises(Overloaded):
        await completed(RetriedModel(script, longest_wait=60).complete(ASKED))
