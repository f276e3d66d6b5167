"""Many questions at once: as fast as one, and nothing left behind when they are cancelled."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Unpack

import pytest
from tests.late import anthropic
from tests.servers import faults
from tests.servers.llm import LlmServer
from tests.servers.sparql import becomes_true, held_open

from askgraph.llm import Event, LanguageModel, Message, Options, User, read_completion
from askgraph.llm.budget import BudgetAccount, BudgetedModel, ModelBudget
from askgraph.llm.cached import CachedModel
from askgraph.llm.limited import LimitedModel
from askgraph.llm.openai import OpenAIModel
from askgraph.llm.retried import RetriedModel
from askgraph.llm.scripted import ScriptedModel


def _asked(number: int, turn: int = 0) -> list[Message]:
    return [User(f"Question {number}, turn {turn}")]


def _stacked(model: LanguageModel, run: BudgetAccount) -> LanguageModel:
    patient = RetriedModel(LimitedModel(model, at_once=100))
    return BudgetedModel(patient, BudgetAccount(ModelBudget(tokens=5_000)), run)


class Counting:
    """A model that knows how many of its streams were open at once."""

    def __init__(self, inner: LanguageModel) -> None:
        self.inner, self.identity = inner, inner.identity
        self.open = self.most = 0

    async def complete(
        self, messages: Sequence[Message], **options: Unpack[Options]
    ) -> AsyncGenerator[Event, None]:
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            async with aclosing(self.inner.complete(messages, **options)) as stream:
                async for event in stream:
                    yield event
        finally:
            self.open -= 1

    async def close(self) -> None:
        await self.inner.close()


async def test_a_hundred_questions_are_answered_at_once() -> None:
    counting = Counting(ScriptedModel(lambda request: "The Moon.", delay=1.0))
    run = BudgetAccount(ModelBudget(calls=1_000), scope="run")

    async def question(number: int) -> None:
        model = _stacked(counting, run)
        for turn in range(3):
            await read_completion(model.complete(_asked(number, turn)))

    await asyncio.gather(*(question(number) for number in range(100)))

    assert (run.calls, counting.most, counting.open) == (300, 100, 0)


def _kept(folder: Path) -> list[Path]:
    return [*folder.rglob("*")]


MAKERS: dict[str, Callable[[LlmServer], LanguageModel]] = {
    "one request for both choices": lambda server: OpenAIModel("m", base_url=server.base + "/v1"),
    "a request for each": lambda server: anthropic.AnthropicModel(
        "m", base_url=server.base, key_env=None
    ),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
async def test_sixteen_cancelled_in_the_middle_leave_nothing_behind(
    make: Callable[[LlmServer], LanguageModel], llm_server: LlmServer, tmp_path: Path
) -> None:
    model = make(llm_server)
    run = BudgetAccount(ModelBudget(), scope="run")
    await read_completion(model.complete(_asked(99)))
    await model.close()
    tasks, before = asyncio.all_tasks(), held_open()
    llm_server.acts.extend([faults.breathing(), faults.slow_drip(0.01)] * 16)

    cache = tmp_path / "cache"
    started = [
        asyncio.create_task(
            read_completion(CachedModel(_stacked(model, run), cache).complete(_asked(number), n=2))
        )
        for number in range(16)
    ]
    await becomes_true(lambda: len(llm_server.requests) >= 17)
    for task in started:
        task.cancel()
    ends = await asyncio.gather(*started, return_exceptions=True)
    await model.close()
    await becomes_true(lambda: not held_open() - before)  # the server's side of them closes

    assert all(isinstance(end, asyncio.CancelledError) for end in ends)
    assert asyncio.all_tasks() == tasks
    assert held_open() - before == Counter()
    assert _kept(cache) == []
    assert run.calls == 16
