"""Rate limits: no more in any period than allowed, in the order of asking, and none forgotten."""

import asyncio
from itertools import pairwise
from threading import get_ident

import pytest

from askgraph.errors import SetupError
from askgraph.llm import Message, Request, User, limited, read_completion
from askgraph.llm.limited import LimitedModel
from askgraph.llm.scripted import ScriptedModel

ASKED: list[Message] = [User("What orbits the Earth?")]


class Clock:
    """The time of the limits, which passes while they wait, and not else."""

    now = 0.0

    def __init__(self) -> None:
        self.thread = get_ident()

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        if get_ident() == self.thread:  # and not what an earlier test has left in another one
            self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(limited, "time", clock)
    monkeypatch.setattr("asyncio.sleep", clock.sleep)
    return clock


async def test_no_period_has_more_requests_than_allowed(clock: Clock) -> None:
    moments: list[float] = []

    def note(request: Request) -> str:
        moments.append(clock.now)
        return "The Moon."

    model = LimitedModel(ScriptedModel(note), requests=3, period=0.2)
    await asyncio.gather(*(read_completion(model.complete(ASKED)) for _ in range(8)))

    gaps = [after - before for before, after in zip(moments, moments[3:], strict=False)]
    assert len(moments) == 8
    assert round(min(gaps), 9) >= 0.2  # the clock adds fractions


async def test_no_period_has_more_tokens_than_allowed(clock: Clock) -> None:
    moments: list[float] = []

    def note(request: Request) -> str:
        moments.append(clock.now)
        return "Moon " * 40  # 40 tokens, and some 10 for the question

    model = LimitedModel(ScriptedModel(note), tokens=55, period=0.2)
    for _ in range(3):
        await read_completion(model.complete(ASKED))

    gaps = [after - before for before, after in pairwise(moments)]
    assert round(min(gaps), 9) >= 0.2  # the clock adds fractions


async def test_a_request_larger_than_the_allowance_goes_alone() -> None:
    model = LimitedModel(ScriptedModel(["The Moon."]), tokens=1, period=60)

    assert (await read_completion(model.complete(ASKED))).first.text == "The Moon."


async def test_so_many_run_at_once_and_no_more() -> None:
    class Busy(ScriptedModel):
        now = most = 0

    async def one(model: LimitedModel) -> None:
        async for _ in model.complete(ASKED):
            Busy.now += 1
            Busy.most = max(Busy.most, Busy.now)
            await asyncio.sleep(0.01)
            Busy.now -= 1

    model = LimitedModel(Busy(lambda request: ""), at_once=4)
    await asyncio.gather(*(one(model) for _ in range(20)))

    assert Busy.most == 4


async def test_who_is_cancelled_gives_the_place_back() -> None:
    script = ScriptedModel(lambda request: "The Moon.", delay=60)
    model = LimitedModel(script, at_once=1)
    waiting = [asyncio.create_task(read_completion(model.complete(ASKED))) for _ in range(3)]
    await asyncio.sleep(0.01)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    script.delay = 0.0

    assert (await read_completion(model.complete(ASKED))).first.text == "The Moon."


def test_a_limit_below_one_is_a_fault_of_the_setup() -> None:
    with pytest.raises(SetupError, match="'requests' must be 1 or more, not 0"):
        LimitedModel(ScriptedModel([]), requests=0)
