"""Trying again: where it may help, as late as the server asks, and no more often than allowed."""

import asyncio
import time

import pytest
from tests.each import for_each

from askgraph import errors
from askgraph.deadline import Deadline, use_deadline
from askgraph.llm import Completion, Message, Restart, TextPart, User, read_completion
from askgraph.llm.retried import RetriedModel
from askgraph.llm.scripted import ScriptedModel

ASKED: list[Message] = [User("What orbits the Earth?")]


async def test_what_may_pass_is_tried_again() -> None:
    script = ScriptedModel([errors.Overloaded("busy"), errors.Unreachable("gone"), "The Moon."])

    events = [event async for event in RetriedModel(script, first_wait=0.001).complete(ASKED)]

    assert [type(event) for event in events] == [Restart, Restart, TextPart, Completion]


@for_each(
    ("error", "requests"),
    (errors.Overloaded("busy"), 5),
    (errors.Overloaded("busy", retry_after=3600), 1),
    (errors.Unreachable("gone"), 3),
    (errors.TimedOut("late"), 2),
    (errors.MalformedReply("cut"), 2),
    (errors.ErrorReply("no such model"), 1),
    (errors.Unauthorised("no key"), 1),
)
async def test_a_failing_server_is_left_alone(error: errors.AskgraphError, requests: int) -> None:
    script = ScriptedModel([error] * 9)

    with pytest.raises(type(error)):
        await read_completion(RetriedModel(script, retries=4, first_wait=0.001).complete(ASKED))

    assert len(script.requests) == requests


@pytest.mark.slow
async def test_a_server_that_failed_is_left_alone_for_some_seconds() -> None:
    script = ScriptedModel([errors.Unreachable("gone"), "The Moon.", "The Moon again."])
    model = RetriedModel(script, retries=0, pause=2.0)

    with pytest.raises(errors.Unreachable, match=r"^gone$"):
        await read_completion(model.complete(ASKED))
    with pytest.raises(
        errors.Unreachable, match=r"gone; that was [01]\.\d seconds ago.*not called again for 2"
    ):
        await read_completion(model.complete(ASKED))
    assert len(script.requests) == 1
    assert 0 < model.pause_seconds < 2
    await asyncio.sleep(2.1)
    assert model.pause_seconds == 0
    assert (await read_completion(model.complete(ASKED))).choices[0].text == "The Moon."
    assert (await read_completion(model.complete(ASKED))).choices[0].text == "The Moon again."


async def test_nobody_waits_for_a_retry_beyond_the_deadline_of_the_question() -> None:
    script = ScriptedModel([errors.Overloaded("busy", retry_after=50), "The Moon."])

    with use_deadline(Deadline(40)), pytest.raises(errors.Overloaded):
        await read_completion(RetriedModel(script).complete(ASKED))


async def test_retry_after_is_honoured() -> None:
    script = ScriptedModel([errors.Overloaded("busy", retry_after=0.3), "The Moon."])
    began = time.monotonic()

    await read_completion(RetriedModel(script, first_wait=0.0).complete(ASKED))

    assert time.monotonic() - began >= 0.3
