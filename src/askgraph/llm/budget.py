"""Budgets of language models: prices, limits, accounts, and models that charge them.

Tokens are estimated if no server counts them: one for four bytes of UTF-8. The layers around a
model are, from the inside out: the patient model (limits and retries, shared by all questions),
budgets, the cache, and further wrappers. A budget is inside the cache: so the remaining budget
does not change the cache key, and completions from the disk are not charged.
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
from askgraph.llm import TokenUsage, estimate_input_tokens, estimate_usage


@dataclass(frozen=True)
class Price:
    """The price of a million tokens of each kind."""

    input: float
    output: float
    cached_input: float | None = None
    cache_write: float | None = None

    def compute_cost(self, usage: TokenUsage) -> float:
        """Return the cost of some tokens."""
        uncached_tokens = usage.input - usage.cached - usage.cache_written
        cached_price = self.input if self.cached_input is None else self.cached_input
        input_cost = (
            uncached_tokens * self.input
            + usage.cached * cached_price
            + usage.cache_written * (self.input if self.cache_write is None else self.cache_write)
        )
        return (input_cost + usage.output * self.output) / 1_000_000


@dataclass(frozen=True)
class PriceTable:
    """Prices by model, in one currency, from a TOML table that the operator maintains.

    currency = "EUR"

    [models."example-large"]
    input = 2.0          # for a million tokens
    cached_input = 0.5   # read from the prompt cache; default: `input`
    cache_write = 2.5    # written into it; default: `input`
    output = 8.0
    """

    models: Mapping[str, Price] = field(default_factory=dict)
    currency: str = ""

    @classmethod
    def load(cls, path: Path | str) -> "PriceTable":
        """Read a table; raise `SetupError`, with the position, if it is invalid."""
        try:
            table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as problem:
            raise SetupError(f"the price table {path} cannot be read: {problem}") from problem
        models = table.get("models", {})
        currency = table.get("currency", "")
        if unknown := table.keys() - {"models", "currency"}:
            raise SetupError(f"the price table {path} has unknown keys: {sorted(unknown)}")
        if not isinstance(models, dict) or not isinstance(currency, str):
            raise SetupError(
                f"the price table {path} needs a text `currency` and tables [models.…]"
            )
        return cls({name: _parse_price(row, name, path) for name, row in models.items()}, currency)

    def get_price(self, model: str) -> Price:
        """Return the price of a model.

        A dated version has the price of the longest name that is its prefix, up to a dash.

        Raises:
            SetupError: the table has no such price.
        """
        if model in self.models:
            return self.models[model]
        matching = [name for name in self.models if model.startswith((f"{name}-", f"{name}@"))]
        if not self.models:
            raise SetupError(
                f"a money limit needs the price of {model!r}: name a file with prices in "
                "the model's setting `prices`"
            )
        if not matching:
            known_models = ", ".join(sorted(self.models))
            raise SetupError(
                f"the price table has no price for {model!r}; it has {known_models}: add "
                f'[models."{model}"] with the prices of a million tokens as input and '
                "output"
            )
        return self.models[max(matching, key=len)]


def _parse_price(row: object, name: str, path: Path | str) -> Price:
    location = f"the price table {path}, model {name!r}"
    if not isinstance(row, dict):
        raise SetupError(f"{location}: expected a table with input and output")
    if unknown := row.keys() - set(Price.__dataclass_fields__):
        raise SetupError(f"{location}: unknown keys {sorted(unknown)}")
    if missing := {"input", "output"} - row.keys():
        raise SetupError(f"{location}: {' and '.join(sorted(missing))} missing")
    for key, value in row.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            raise SetupError(f"{location}: {key} must be a number of 0 or more, not {value!r}")
    return Price(**row)


@dataclass(frozen=True)
class ModelBudget:
    """Limits of use; None is no limit. Tokens are input and output together."""

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None  # in the currency of the price table
    seconds: float | None = None  # from the opening of the account


class BudgetAccount:
    """Tracks the use of a budget.

    The estimated input of running calls is reserved, so that parallel calls do not overdraw it;
    their output is not. `scope` names its owner in messages: question or run.
    """

    def __init__(self, budget: ModelBudget, *, scope: str = "question") -> None:
        self.budget = budget
        self.scope = scope
        self.calls = 0
        self.usage = TokenUsage()
        self.money = 0.0
        self._reserved_tokens = 0
        self._reserved_money = 0.0
        self._opened_at = time.monotonic()

    @property
    def age_seconds(self) -> float:
        """The age of the account, in seconds."""
        return time.monotonic() - self._opened_at

    @property
    def remaining_seconds(self) -> float | None:
        """The remaining seconds, also until the question's deadline; None without a limit."""
        max_seconds = self.budget.seconds
        return deadline.clamp_to_search_time(
            None if max_seconds is None else max_seconds - self.age_seconds
        )

    @property
    def timeout_error(self) -> BudgetSpent:
        """The error for exceeding the time limit."""
        max_seconds = self.budget.seconds
        return self.build_error(
            "seconds",
            f"the time limit of {max_seconds:g} seconds was reached"
            if max_seconds is not None and self.age_seconds >= max_seconds
            else deadline.describe_expiry(),
        )

    def compute_max_output(self, estimate: int, price: Price) -> int | None:
        """Return the maximum output tokens of a call with some estimated input; None: no limit.

        Raises:
            BudgetSpent: the budget does not cover the input, or the time is over.
        """
        limits: list[int] = []
        budget = self.budget
        if budget.calls is not None and self.calls >= budget.calls:
            raise self.build_error("calls", f"all {budget.calls:,} calls were made")
        if (remaining := self.remaining_seconds) is not None and remaining <= 0:
            raise self.timeout_error
        if budget.tokens is not None:
            remaining = budget.tokens - self.usage.total - self._reserved_tokens - estimate
            if remaining < 1:
                used_text = f"{self.usage.total:,} of {budget.tokens:,} tokens are used"
                raise self.build_error(
                    "tokens", f"{used_text}, and the next call has about {estimate:,}"
                )
            limits.append(remaining)
        if budget.money is not None:
            input_cost = price.compute_cost(TokenUsage(input=estimate))
            remaining_money = budget.money - self.money - self._reserved_money - input_cost
            if remaining_money <= 0:
                used_text = f"{self.money:.4f} of {budget.money:g} is spent"
                raise self.build_error(
                    "money", f"{used_text}, and the next call costs about {input_cost:.4f}"
                )
            if price.output > 0:
                limits.append(max(1, int(remaining_money / price.output * 1_000_000)))
        return min(limits, default=None)

    def reserve(self, estimate: int, price: Price) -> None:
        """Begin a call: count it and reserve its input."""
        self.calls += 1
        self._reserved_tokens += estimate
        self._reserved_money += price.compute_cost(TokenUsage(input=estimate))

    def settle(self, estimate: int, usage: TokenUsage, price: Price) -> None:
        """End a call: release the reservation and count the actual use."""
        self._reserved_tokens -= estimate
        self._reserved_money -= price.compute_cost(TokenUsage(input=estimate))
        self.usage += usage
        self.money += price.compute_cost(usage)

    def build_error(self, limit: str, reason: str) -> BudgetSpent:
        """Return the error for a limit that is reached."""
        return BudgetSpent(
            f"the budget of the {self.scope} is used up: {reason}", limit=limit, scope=self.scope
        )


@dataclass(frozen=True, eq=False, repr=False)
class ModelStack:
    """A model with its settings: `options` are the defaults of its requests.

    `around` are wrappers outside of budgets, the cache first.
    """

    patient: llm.LanguageModel
    options: llm.Options = field(default_factory=llm.Options)
    prices: PriceTable | None = None
    around: tuple[Callable[[llm.LanguageModel], llm.LanguageModel], ...] = ()
    accounts: tuple[BudgetAccount, ...] = ()

    def __repr__(self) -> str:
        return f"{self.identity!r} with {self.options!r}"

    @property
    def identity(self) -> llm.Identity:
        """The model that answers."""
        return self.patient.identity

    def complete(
        self, messages: Sequence[llm.Message], **options: Unpack[llm.Options]
    ) -> AsyncGenerator[llm.Event, None]:
        """Send the messages and stream the reply."""
        set_options = {name: value for name, value in options.items() if value is not None}
        return self._wrapped_model.complete(
            messages, **cast("llm.Options", {**self.options, **set_options})
        )

    async def close(self) -> None:
        """Close the inner model, also for others that share it."""
        await self.patient.close()

    @cached_property
    def _wrapped_model(self) -> llm.LanguageModel:
        model = self.patient
        if self.accounts:
            model = BudgetedModel(model, *self.accounts, prices=self.prices)
        for wrap in self.around:
            model = wrap(model)
        return model


def charge_model(
    model: llm.LanguageModel, *accounts: BudgetAccount, prices: PriceTable | None = None
) -> llm.LanguageModel:
    """Return a model whose calls are charged to some accounts, below its cache if it has one.

    Args:
        prices: prices for a model without its own.

    Raises:
        SetupError: an account limits money and there is no price.
    """
    if isinstance(model, ModelStack):
        return replace(model, prices=model.prices or prices, accounts=(*model.accounts, *accounts))
    return BudgetedModel(model, *accounts, prices=prices)


_FREE_PRICE = Price(0.0, 0.0)


class BudgetedModel(llm.ModelWrapper):
    """Calls `inner` as long as all accounts allow it, and charges each call to all of them.

    `max_tokens` is lowered to the remaining tokens for each of the `n` choices. A call that
    fails or is cancelled is charged by estimate.

    Raises:
        BudgetSpent: the budget does not cover a call, or the time ends during one.
        SetupError: an account limits money and there is no price for the model.
    """

    def __init__(
        self, inner: llm.LanguageModel, *accounts: BudgetAccount, prices: PriceTable | None = None
    ) -> None:
        super().__init__(inner)
        self._accounts = accounts
        if any(account.budget.money is not None for account in accounts) or prices:
            self._price = (prices or PriceTable()).get_price(inner.identity.model)
        else:
            self._price = _FREE_PRICE

    async def complete(
        self, messages: Sequence[llm.Message], **options: Unpack[llm.Options]
    ) -> AsyncGenerator[llm.Event, None]:
        """Send the messages if the budget allows it, and stream the reply."""
        request = llm.Request.from_options(messages, options)
        estimate = estimate_input_tokens(request)
        limits = [account.compute_max_output(estimate, self._price) for account in self._accounts]
        token_limits = [max(1, limit // request.n) for limit in limits if limit is not None]
        if request.max_tokens is not None:
            token_limits.append(request.max_tokens)
        if token_limits:
            options["max_tokens"] = min(token_limits)
        for account in self._accounts:
            account.reserve(estimate, self._price)
        usage: TokenUsage | None = None
        discarded_usage, received_texts = TokenUsage(), list[str]()
        try:
            async with aclosing(
                self._limit_time(self._inner.complete(messages, **options))
            ) as stream:
                async for event in stream:
                    match event:
                        case llm.Completion():
                            usage = TokenUsage() if event.stored else event.usage
                        case llm.TextPart(text) | llm.ReasoningPart(text):
                            received_texts.append(text)
                        case llm.Restart() if received_texts:
                            discarded_usage += _estimate_received_usage(request, received_texts)
                            received_texts.clear()
                    yield event
        finally:
            total_usage = discarded_usage + (
                _estimate_received_usage(request, received_texts) if usage is None else usage
            )
            for account in self._accounts:
                account.settle(estimate, total_usage, self._price)

    async def _limit_time(
        self, stream: AsyncGenerator[llm.Event, None]
    ) -> AsyncGenerator[llm.Event, None]:
        """Relay a stream until the time of an account is over."""
        limited = [account for account in self._accounts if account.remaining_seconds is not None]
        async with aclosing(stream):
            while True:
                remaining_by_account = [
                    (account.remaining_seconds or 0.0, account) for account in limited
                ]
                remaining, first_account = min(
                    remaining_by_account, key=lambda pair: pair[0], default=(None, None)
                )
                try:
                    async with asyncio.timeout(None if remaining is None else max(0.0, remaining)):
                        event = await anext(stream)
                except StopAsyncIteration:
                    return
                except TimeoutError as problem:
                    if first_account is None:
                        raise
                    raise first_account.timeout_error from problem
                yield event


def _estimate_received_usage(request: llm.Request, received_texts: list[str]) -> TokenUsage:
    return estimate_usage(request, (llm.Choice("".join(received_texts)),))
