"""The models around a model, put on in the one order in which they are right.

From the inside out: the patient model (limits and retries, shared by all questions), budgets,
the cache, and whatever else watches. A budget is inside the cache: what is left of it then does not
change the key, and what comes from the disk is not charged.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Unpack

from askgraph import llm
from askgraph.llm.budget import Account, Price, Prices, estimated_input, estimated_usage


@dataclass(frozen=True, eq=False, repr=False)
class ModelStack:
    """A model with its settings: `options` are the defaults of its requests.

    `cache` is the folder of the cache, if any; `outer` wraps all of it.
    """

    patient: llm.LanguageModel
    options: llm.Options = field(default_factory=llm.Options)
    prices: Prices | None = None
    cache: Path | None = None
    outer: Callable[[llm.LanguageModel], llm.LanguageModel] | None = None
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

    async def complete(
        self, messages: Sequence[llm.Message], **options: Unpack[llm.Options]
    ) -> AsyncGenerator[llm.Event, None]:
        """Send the messages and stream the reply."""
        wanted: llm.Options = {**self.options}
        for name, value in options.items():
            if value is not None:
                wanted[name] = value  # type: ignore[literal-required]
        async with aclosing(self._whole.complete(messages, **wanted)) as stream:
            async for event in stream:
                yield event

    async def close(self) -> None:
        """Close the model inside, also for others that share it."""
        await self.patient.close()

    @cached_property
    def _whole(self) -> llm.LanguageModel:
        model = self.patient
        if self.accounts:
            model = BudgetedModel(model, *self.accounts, prices=self.prices)
        if self.cache is not None:
            from askgraph.llm.cached import CachedModel  # few models have a cache

            model = CachedModel(model, self.cache)
        return self.outer(model) if self.outer else model


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
        allowed = self._most_output(estimate, request)
        if allowed is not None:
            options["max_tokens"] = allowed
        for account in self._accounts:
            account.hold(estimate, self._price)
        usage: llm.TokenUsage | None = None
        lost = llm.TokenUsage()
        seen: list[str] = []
        try:
            async with aclosing(self._timed(self._inner.complete(messages, **options))) as stream:
                async for event in stream:
                    match event:
                        case llm.Completion():
                            usage = llm.TokenUsage() if event.stored else event.usage
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

    def _most_output(self, estimate: int, request: llm.Request) -> int | None:
        """Return `max_tokens` as the accounts allow it; None if none of them cares."""
        limits = [account.most_output(estimate, self._price) for account in self._accounts]
        known = [max(1, limit // request.n) for limit in limits if limit is not None]
        if not known:
            return None
        if request.max_tokens is not None:
            known.append(request.max_tokens)
        return min(known)

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


def _guessed(request: llm.Request, seen: list[str]) -> llm.TokenUsage:
    return estimated_usage(request, (llm.Choice("".join(seen)),))
