"""The models around a model: options, budgets below the cache, and what it shows of itself."""

from pathlib import Path

import pytest

from askgraph.errors import BudgetSpent, SetupError
from askgraph.llm import Message, User, completed
from askgraph.llm.budget import Account, Budget, Price, Prices
from askgraph.llm.scripted import ScriptedModel
from askgraph.llm.stack import ModelStack, charged

ASKED: list[Message] = [User("What orbits the Earth?")]
PRICES = Prices({"scripted": Price(input=1_000_000.0, output=0.0)})


async def test_its_options_are_for_requests_that_say_nothing_else() -> None:
    script = ScriptedModel(["a", "b"])
    model = ModelStack(script, {"temperature": 0.5, "seed": 1})

    await completed(model.complete(ASKED, temperature=None, max_tokens=5))
    await completed(model.complete(ASKED, temperature=0.0))

    first, second = script.requests
    assert (first.temperature, first.seed, first.max_tokens) == (0.5, 1, 5)
    assert (second.temperature, second.seed) == (0.0, 1)


async def test_a_budget_does_not_keep_a_reply_from_the_cache(tmp_path: Path) -> None:
    script = ScriptedModel(["a", "b"])
    model = ModelStack(script, cache=tmp_path)
    spent = Account(Budget(tokens=100))
    for text in ("One?", "Two?"):
        await completed(charged(model, spent).complete([User(text)]))

    again = Account(Budget(tokens=100))
    for text in ("One?", "Two?"):
        await completed(charged(model, again).complete([User(text)]))

    assert len(script.requests) == 2
    assert spent.usage.total > 0 == again.usage.total


async def test_questions_are_charged_apart_and_in_money() -> None:
    model = ModelStack(ScriptedModel(["a", "b"]), prices=PRICES)
    one, other = Account(Budget(money=50.0)), Account(Budget(money=50.0))

    await completed(charged(model, one).complete(ASKED))

    assert one.money == one.usage.input > 0
    assert other.money == 0


async def test_a_model_without_anything_around_it_is_charged_too() -> None:
    with pytest.raises(BudgetSpent):
        model = charged(ScriptedModel(["a"]), Account(Budget(calls=0)))
        await completed(model.complete(ASKED))


def test_money_without_a_price_is_refused() -> None:
    with pytest.raises(SetupError, match="needs the price of 'scripted': name a file"):
        charged(ScriptedModel([]), Account(Budget(money=1.0)))


def test_it_shows_what_decides_its_replies() -> None:
    model = ModelStack(ScriptedModel([]), {"seed": 1})

    assert repr(model) == (
        "Identity(provider='scripted', model='scripted', address='', settings='') with {'seed': 1}"
    )
