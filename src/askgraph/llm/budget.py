"""Budgets of language models: prices, limits, accounts, and the models that are charged to them.

A text's tokens are estimated if no server counts them: one for four bytes of UTF-8. Around a model
stand, from the inside out: the patient model (limits and retries, shared by all questions),
budgets, the cache, and whatever else watches. A budget is inside the cache: what is left of it then
does not change the key, and what comes from the disk is not charged.
"""

import asyncio
import time
import tomllib
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Unpack, cast

from askgraph import deadline, llm
from askgraph.errors import BudgetSpent, SetupError
from askgraph.llm import TokenUsage, estimated_input, estimated_usage


@dataclass(frozen=True)
class Price:
    """The price of a million tokens of each kind."""

    input: float
    output: float
    cached_input: float | None = None
    cache_write: float | None = None

    def of(self, usage: TokenUsage) -> float:
        """Return what so many tokens cost."""
        fresh = usage.input - usage.cached - usage.cache_written
        cached = self.input if self.cached_input is None else self.cached_input
        written = self.input if self.cache_write is None else self.cache_write
        read = fresh * self.input + usage.cached * cached + usage.cache_written * written
        return (read + usage.output * self.output) / 1_000_000


@dataclass(frozen=True)
class Prices:
    """Prices by model, in one currency, from a table in TOML that the operator keeps.

    currency = "EUR"

    [models."example-large"]
    input = 2.0          # for a million tokens
    cached_input = 0.5   # read from the prompt cache; `input` if it is left out
    cache_write = 2.5    # written into it; `input` if it is left out
    output = 8.0
    """

    models: Mapping[str, Price] = field(default_factory=dict)
    currency: str = ""

    @classmethod
    def read(cls, path: Path | str) -> "Prices":
        """Read a table; `SetupError` names its fault and the place."""
        try:
            table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as problem:
            raise SetupError(f"the price table {path} cannot be read: {problem}") from problem
        models = table.get("models", {})
        currency = table.get("currency", "")
        if unknown := table.keys() - {"models", "currency"}:
            raise SetupError(f"the price table {path} has unknown keys: {sorted(unknown)}")
        if not isinstance(models, dict) or not isinstance(currency, str):
            raise SetupError(f"the price table {path} wants a text `currency` and [models.…]")
        return cls({name: _price(row, name, path) for name, row in models.items()}, currency)

    def of(self, model: str) -> Price:
        """Return the price of a model; `SetupError` if the table has none.

        A dated version costs what the longest name costs that it begins with, up to a dash.
        """
        if model in self.models:
            return self.models[model]
        fitting = [name for name in self.models if model.startswith((f"{name}-", f"{name}@"))]
        if not self.models:
            raise SetupError(
                f"a limit of money needs the price of {model!r}: name a file with prices in the "
                "model's setting `prices`"
            )
        if not fitting:
            there = ", ".join(sorted(self.models))
            raise SetupError(
                f"the price table has no price for {model!r}; it has {there}: add"
                f' [models."{model}"] with input and output, for a million tokens'
            )
        return self.models[max(fitting, key=len)]


def _price(row: object, name: str, path: Path | str) -> Price:
    place = f"the price table {path}, model {name!r}"
    if not isinstance(row, dict):
        raise SetupError(f"{place}: a table with input and output is wanted")
    if unknown := row.keys() - set(Price.__dataclass_fields__):
        raise SetupError(f"{place}: unknown keys {sorted(unknown)}")
    if missing := {"input", "output"} - row.keys():
        raise SetupError(f"{place}: {' and '.join(sorted(missing))} missing")
    for key, value in row.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            raise SetupError(f"{place}: {key} is {value!r}; it must be a number, 0 or more")
    return Price(**row)


@dataclass(frozen=True)
class Budget:
    """The most that may be used; None is no limit. Tokens are input and output together."""

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None  # in the currency of the price table
    seconds: float | None = None  # from the opening of the account


class Account:
    """Counts what is used against a budget.

    The need of calls under way is held back, so that many at once do not overdraw it: their
    estimated input, not their output. `scope` names whose it is in messages: question or run.
    """

    def __init__(self, budget: Budget, *, scope: str = "question") -> None:
        self.budget = budget
        self.scope = scope
        self.calls = 0
        self.usage = TokenUsage()
        self.money = 0.0
        self._held_tokens = 0
        self._held_money = 0.0
        self._opened = time.monotonic()

    @property
    def seconds(self) -> float:
        """The age of the account."""
        return time.monotonic() - self._opened

    @property
    def seconds_left(self) -> float | None:
        """The seconds left, of the question's deadline too; None without a limit."""
        most = self.budget.seconds
        return deadline.clamp_to_search_time(None if most is None else most - self.seconds)

    @property
    def late(self) -> BudgetSpent:
        """The error for the seconds being over."""
        most = self.budget.seconds
        own = most is not None and self.seconds >= most
        return self.spent(
            "seconds", f"the {most:g} seconds are over" if own else deadline.describe_expiry()
        )

    def most_output(self, estimate: int, price: Price) -> int | None:
        """Return how many output tokens a call with so much input may have; None: no limit.

        Raises `BudgetSpent` if not even the input can be afforded, or the time is over.
        """
        limits: list[int] = []
        budget = self.budget
        if budget.calls is not None and self.calls >= budget.calls:
            raise self.spent("calls", f"all {budget.calls:,} calls are made")
        if (left := self.seconds_left) is not None and left <= 0:
            raise self.late
        if budget.tokens is not None:
            left = budget.tokens - self.usage.total - self._held_tokens - estimate
            if left < 1:
                used = f"{self.usage.total:,} of {budget.tokens:,} tokens are used"
                raise self.spent("tokens", f"{used}, and the next call has about {estimate:,}")
            limits.append(left)
        if budget.money is not None:
            paid = price.of(TokenUsage(input=estimate))
            rest = budget.money - self.money - self._held_money - paid
            if rest <= 0:
                used = f"{self.money:.4f} of {budget.money:g} is spent"
                raise self.spent("money", f"{used}, and the next call costs about {paid:.4f}")
            if price.output > 0:
                limits.append(max(1, int(rest / price.output * 1_000_000)))
        return min(limits, default=None)

    def hold(self, estimate: int, price: Price) -> None:
        """Begin a call: count it and hold back its input."""
        self.calls += 1
        self._held_tokens += estimate
        self._held_money += price.of(TokenUsage(input=estimate))

    def settle(self, estimate: int, usage: TokenUsage, price: Price) -> None:
        """End a call: release the amount held and count the one used."""
        self._held_tokens -= estimate
        self._held_money -= price.of(TokenUsage(input=estimate))
        self.usage += usage
        self.money += price.of(usage)

    def spent(self, limit: str, why: str) -> BudgetSpent:
        """Return the error for a limit that is reached."""
        return BudgetSpent(
            f"the budget of the {self.scope} is used up: {why}", limit=limit, scope=self.scope
        )


@dataclass(frozen=True, eq=False, repr=False)
class ModelStack:
    """A model with its settings: `options` are the defaults of its requests.

    `around` is put on outside of budgets, the cache first.
    """

    patient: llm.LanguageModel
    options: llm.Options = field(default_factory=llm.Options)
    prices: Prices | None = None
    around: tuple[Callable[[llm.LanguageModel], llm.LanguageModel], ...] = ()
    accounts: tuple[Account, ...] = ()

    def __repr__(self) -> str:
        return f"{self.identity!r} with {self.options!r}"

    @property
    def identity(self) -> llm.Identity:
        """The model that answers."""
        return self.patient.identity

    def charged(self, *accounts: Account) -> "ModelStack":
        """Return the same model, whose calls are charged to these accounts, too."""
        return replace(self, accounts=(*self.accounts, *accounts))

    def complete(
        self, messages: Sequence[llm.Message], **options: Unpack[llm.Options]
    ) -> AsyncGenerator[llm.Event, None]:
        """Send the messages and stream the reply."""
        given = {name: value for name, value in options.items() if value is not None}
        return self._whole.complete(messages, **cast("llm.Options", {**self.options, **given}))

    async def close(self) -> None:
        """Close the model inside, also for others that share it."""
        await self.patient.close()

    @cached_property
    def _whole(self) -> llm.LanguageModel:
        model = self.patient
        if self.accounts:
            model = BudgetedModel(model, *self.accounts, prices=self.prices)
        for put_on in self.around:
            model = put_on(model)
        return model


def charged(
    model: llm.LanguageModel, *accounts: Account, prices: Prices | None = None
) -> llm.LanguageModel:
    """Return a model whose calls are charged to these accounts, below its cache if it has one.

    `prices` are for a model that knows none. Raises `SetupError` if an account limits money and
    there is no price.
    """
    if isinstance(model, ModelStack):
        return replace(model, prices=model.prices or prices).charged(*accounts)
    return BudgetedModel(model, *accounts, prices=prices)


_FREE = Price(0.0, 0.0)


class BudgetedModel(llm.ModelAround):
    """Asks `inner` as long as all accounts allow it, and charges each call to all of them.

    `max_tokens` is lowered to what is left for each of the `n` choices. Raises `BudgetSpent` before
    a call that cannot be afforded, and in the middle of one when the time is over. A call that
    fails or is ended is charged by estimate. Raises `SetupError` if an account limits money and
    there is no price for the model.
    """

    def __init__(
        self, inner: llm.LanguageModel, *accounts: Account, prices: Prices | None = None
    ) -> None:
        super().__init__(inner)
        self._accounts = accounts
        if any(account.budget.money is not None for account in accounts) or prices:
            self._price = (prices or Prices()).of(inner.identity.model)
        else:
            self._price = _FREE

    async def complete(
        self, messages: Sequence[llm.Message], **options: Unpack[llm.Options]
    ) -> AsyncGenerator[llm.Event, None]:
        """Send the messages if they can be afforded, and stream the reply."""
        request = llm.Request.of(messages, options)
        estimate = estimated_input(request)
        limits = [account.most_output(estimate, self._price) for account in self._accounts]
        allowed = [max(1, limit // request.n) for limit in limits if limit is not None]
        if request.max_tokens is not None:
            allowed.append(request.max_tokens)
        if allowed:
            options["max_tokens"] = min(allowed)
        for account in self._accounts:
            account.hold(estimate, self._price)
        usage: TokenUsage | None = None
        lost, seen = TokenUsage(), list[str]()
        try:
            async with aclosing(self._timed(self._inner.complete(messages, **options))) as stream:
                async for event in stream:
                    match event:
                        case llm.Completion():
                            usage = TokenUsage() if event.stored else event.usage
                        case llm.TextPart(text) | llm.ReasoningPart(text):
                            seen.append(text)
                        case llm.Restart() if seen:
                            lost += _guessed(request, seen)
                            seen.clear()
                    yield event
        finally:
            taken = lost + (_guessed(request, seen) if usage is None else usage)
            for account in self._accounts:
                account.settle(estimate, taken, self._price)

    async def _timed(
        self, stream: AsyncGenerator[llm.Event, None]
    ) -> AsyncGenerator[llm.Event, None]:
        """Pass a stream on until the time of an account is over."""
        limited = [account for account in self._accounts if account.seconds_left is not None]
        async with aclosing(stream):
            while True:
                lefts = [(account.seconds_left or 0.0, account) for account in limited]
                left, first = min(lefts, key=lambda one: one[0], default=(None, None))
                try:
                    async with asyncio.timeout(None if left is None else max(0.0, left)):
                        event = await anext(stream)
                except StopAsyncIteration:
                    return
                except TimeoutError as problem:
                    if first is None:
                        raise
                    raise first.late from problem
                yield event


def _guessed(request: llm.Request, seen: list[str]) -> TokenUsage:
    return estimated_usage(request, (llm.Choice("".join(seen)),))
