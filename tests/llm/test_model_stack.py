"""The models around a model: options, budgets below the cache, and what it shows of itself."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from functools import partial
from pathlib import Path
from typing import Unpack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgraph import llm
from askgraph.deadline import Deadline, use_deadline
from askgraph.errors import BudgetSpent, MalformedReply, SetupError, TimedOut
from askgraph.llm.budget import (
    BudgetAccount,
    BudgetedModel,
    ModelBudget,
    ModelStack,
    Price,
    PriceTable,
    charge_model,
)
from askgraph.llm.cached import CachedModel
from askgraph.llm.retried import RetriedModel
from askgraph.llm.scripted import ScriptedModel

ASKED: list[llm.Message] = [llm.User("What orbits the Earth?")]
PRICES = PriceTable({"scripted": Price(input=1_000_000.0, output=0.0)})


async def test_its_options_are_for_requests_that_say_nothing_else() -> None:
    script = ScriptedModel(["a", "b"])
    model = ModelStack(script, {"temperature": 0.5, "seed": 1})

    await llm.read_completion(model.complete(ASKED, temperature=None, max_tokens=5))
    await llm.read_completion(model.complete(ASKED, temperature=0.0))

    first, second = script.requests
    assert (first.temperature, first.seed, first.max_tokens) == (0.5, 1, 5)
    assert (second.temperature, second.seed) == (0.0, 1)


async def test_a_budget_does_not_keep_a_reply_from_the_cache(tmp_path: Path) -> None:
    script = ScriptedModel(["a", "b"])
    model = ModelStack(script, around=(partial(CachedModel, folder=tmp_path),))
    spent = BudgetAccount(ModelBudget(tokens=100))
    for text in ("One?", "Two?"):
        await llm.read_completion(charge_model(model, spent).complete([llm.User(text)]))

    again = BudgetAccount(ModelBudget(tokens=100))
    for text in ("One?", "Two?"):
        await llm.read_completion(charge_model(model, again).complete([llm.User(text)]))

    assert len(script.requests) == 2
    assert spent.usage.total > 0 == again.usage.total


async def test_a_model_without_anything_around_it_is_charged_too() -> None:
    with pytest.raises(BudgetSpent):
        model = charge_model(ScriptedModel(["a"]), BudgetAccount(ModelBudget(calls=0)))
        await llm.read_completion(model.complete(ASKED))


def test_money_without_a_price_is_refused() -> None:
    with pytest.raises(SetupError, match="needs the price of 'scripted': name a file"):
        charge_model(ScriptedModel([]), BudgetAccount(ModelBudget(money=1.0)))


def test_it_shows_what_decides_its_replies() -> None:
    model = ModelStack(ScriptedModel([]), {"seed": 1})

    assert repr(model) == (
        "Identity(provider='scripted', model='scripted', address='', settings='') with {'seed': 1}"
    )


IN_EUROS = PriceTable({"scripted": Price(input=1.0, output=10.0)}, "EUR")


def _talkative(request: llm.Request) -> llm.Completion:
    """Uses every token that it is allowed, 1,000 without a limit."""
    output = min(request.max_tokens or 1_000, 1_000)
    return llm.Completion(
        (llm.Choice("The Moon."),), llm.TokenUsage(input=12, output=output), "scripted"
    )


async def test_calls_end_where_they_are_used_up() -> None:
    model = BudgetedModel(ScriptedModel(["a", "b", "c"]), BudgetAccount(ModelBudget(calls=2)))
    for _ in range(2):
        await llm.read_completion(model.complete(ASKED))

    with pytest.raises(BudgetSpent, match="all 2 calls") as caught:
        await llm.read_completion(model.complete(ASKED))

    assert (caught.value.limit, caught.value.scope) == ("calls", "question")


async def test_a_conversation_stays_within_its_tokens() -> None:
    account = BudgetAccount(ModelBudget(tokens=5_000))
    model = BudgetedModel(ScriptedModel(_talkative), account)
    messages = list(ASKED)

    with pytest.raises(BudgetSpent) as caught:
        while True:
            done = await llm.read_completion(model.complete(messages))
            messages += [llm.Assistant(done.first.text), llm.User("And what else?")]

    assert caught.value.limit == "tokens"
    assert 4_000 < account.usage.total <= 5_000


@given(tokens=st.integers(20, 3_000), n=st.integers(1, 4), wanted=st.none() | st.integers(1, 500))
def test_no_budget_of_tokens_is_overdrawn(tokens: int, n: int, wanted: int | None) -> None:
    def exact(request: llm.Request) -> llm.Completion:
        output = request.n * min(request.max_tokens or 10_000, 10_000)
        whole = llm.TokenUsage(input=10, output=output)
        return llm.Completion((llm.Choice("x"),) * request.n, whole, "scripted")

    account = BudgetAccount(ModelBudget(tokens=tokens))
    model = BudgetedModel(ScriptedModel(exact), account)

    async def spend() -> None:
        for _ in range(50):
            await llm.read_completion(model.complete(ASKED, n=n, max_tokens=wanted))

    with suppress(BudgetSpent):
        asyncio.run(spend())

    assert account.usage.total <= tokens + n


async def test_money_is_counted_by_the_price_table() -> None:
    account = BudgetAccount(ModelBudget(money=0.02))
    model = BudgetedModel(ScriptedModel(_talkative), account, prices=IN_EUROS)

    with pytest.raises(BudgetSpent) as caught:
        while True:
            await llm.read_completion(model.complete(ASKED))

    assert caught.value.limit == "money"
    assert 0.019 < account.money <= 0.02001


async def test_time_ends_a_call_in_the_middle() -> None:
    account = BudgetAccount(ModelBudget(seconds=1.0))
    model = BudgetedModel(ScriptedModel(["The Moon."], delay=60), account)

    with pytest.raises(BudgetSpent) as caught:
        await llm.read_completion(model.complete(ASKED))

    assert caught.value.limit == "seconds"
    assert account.usage.input > 0


async def test_the_deadline_of_the_question_ends_a_call_in_the_middle() -> None:
    account = BudgetAccount(ModelBudget(seconds=600.0))
    model = BudgetedModel(ScriptedModel(["The Moon."], delay=60), account)

    with use_deadline(Deadline(0.3)), pytest.raises(BudgetSpent, match=r"the time limit of 0\.3 s"):
        await llm.read_completion(model.complete(ASKED))


async def test_many_at_once_do_not_overdraw_the_run() -> None:
    run = BudgetAccount(ModelBudget(calls=10), scope="run")
    script = ScriptedModel(lambda request: "The Moon.", delay=0.01)
    models = [BudgetedModel(script, BudgetAccount(ModelBudget(calls=5)), run) for _ in range(30)]

    ends = await asyncio.gather(
        *(llm.read_completion(model.complete(ASKED)) for model in models), return_exceptions=True
    )

    assert sum(isinstance(end, llm.Completion) for end in ends) == len(script.requests) == 10
    assert {end.scope for end in ends if isinstance(end, BudgetSpent)} == {"run"}


async def test_a_call_that_fails_or_is_ended_gives_back_what_was_held() -> None:
    account = BudgetAccount(ModelBudget(tokens=100))
    model = BudgetedModel(ScriptedModel([TimedOut("late"), "a\nb\nc"]), account)
    with pytest.raises(TimedOut):
        await llm.read_completion(model.complete(ASKED))
    async with aclosing(model.complete(ASKED)) as stream:
        await anext(stream)

    left = account.compute_max_output(0, Price(0, 0))

    assert account.calls == 2
    assert left == 100 - account.usage.total


async def test_what_a_failed_attempt_had_said_is_paid_for() -> None:
    class Breaks(ScriptedModel):
        async def complete(
            self, messages: Sequence[llm.Message], **options: Unpack[llm.Options]
        ) -> AsyncGenerator[llm.Event, None]:
            async for event in super().complete(messages, **options):
                if isinstance(event, llm.Completion) and len(self.requests) == 1:
                    raise MalformedReply("cut off")
                yield event

    once, twice = BudgetAccount(ModelBudget()), BudgetAccount(ModelBudget())
    whole = ScriptedModel(["The Moon."])
    broken = RetriedModel(Breaks(["The Moon.", "The Moon."]), first_wait=0.001)

    await llm.read_completion(BudgetedModel(whole, once).complete(ASKED))
    await llm.read_completion(BudgetedModel(broken, twice).complete(ASKED))

    assert twice.usage.total == 2 * once.usage.total
