"""Trying again: where it may help, as late as the server asks, and no more often than allowed."""

import asyncio
import time

import pytest

from askgraph.deadline import Deadline, keeping
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


@pytest.mark.parametrize("error", [Overloaded("busy"), Unreachable("gone")])
async def test_what_may_pass_is_tried_again(error: AskgraphError) -> None:
    script = ScriptedModel([error, error, "The Moon."])
    model = RetriedModel(script, first_wait=0.001)

    events = [event async for event in model.complete(ASKED)]

    assert [type(event) for event in events] == [Restart, Restart, TextPart, Completion]
    assert len(script.requests) == 3


@pytest.mark.parametrize(
    ("error", "most"), [(TimedOut("late"), 2), (MalformedReply("cut"), 2), (Unreachable("gone"), 3)]
)
async def test_a_server_that_is_silent_or_gone_is_not_asked_for_ever(
    error: AskgraphError, most: int
) -> None:
    script = ScriptedModel([error] * 5)

    with pytest.raises(type(error)):
        await completed(RetriedModel(script, retries=4, first_wait=0.001).complete(ASKED))

    assert len(script.requests) == most


async def test_a_server_that_failed_is_left_alone_for_some_seconds() -> None:
    script = ScriptedModel([Unreachable("gone"), "The Moon.", "The Moon again."])
    model = RetriedModel(script, retries=0, rest=2.0)

    with pytest.raises(Unreachable, match=r"^gone$"):
        await completed(model.complete(ASKED))
    with pytest.raises(Unreachable, match=r"gone; that was [01]\.\d seconds ago.*left alone for 2"):
        await completed(model.complete(ASKED))
    assert len(script.requests) == 1
    assert 0 < model.left_alone < 2
    await asyncio.sleep(2.1)
    assert model.left_alone == 0
    assert (await completed(model.complete(ASKED))).choices[0].text == "The Moon."
    assert (await completed(model.complete(ASKED))).choices[0].text == "The Moon again."


async def test_nobody_waits_for_a_retry_beyond_the_deadline_of_the_question() -> None:
    script = ScriptedModel([Overloaded("busy", retry_after=600), "The Moon."])
    began = time.monotonic()

    with keeping(Deadline(60)), pytest.raises(Overloaded):
        await completed(RetriedModel(script).complete(ASKED))

    assert time.monotonic() - began < 60


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
