"""A language model that stops when its budget ends, before the money is spent."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Unpack

from askgraph.llm import (
    Choice,
    Completion,
    Event,
    LanguageModel,
    Message,
    ModelAround,
    Options,
    ReasoningPart,
    Request,
    Restart,
    TextPart,
    TokenUsage,
)
from askgraph.llm.budget import Account, Price, Prices
from askgraph.llm.estimate import estimated_input, estimated_usage

__all__ = ["BudgetedModel"]

_FREE = Price(0.0, 0.0)


class BudgetedModel(ModelAround):
    """Asks `inner` as long as all accounts allow it, and charges each call to all of them.

    `max_tokens` is lowered to what is left for each of the `n` choices. Raises `BudgetSpent` before
    a call that cannot be afforded, and in the middle of one when the time is over. A call that
    fails or is ended is charged by estimate. Raises `SetupError` if an account limits money and
    there is no price for the model.
    """

    def __init__(
        self, inner: LanguageModel, *accounts: Account, prices: Prices | None = None
    ) -> None:
        super().__init__(inner)
        self._accounts = accounts
        if any(account.budget.money is not None for account in accounts) or prices:
            self._price = (prices or Prices()).of(inner.identity.model)
        else:
            self._price = _FREE

    async def complete(
        self, messages: Sequence[Message], **options: Unpack[Options]
    ) -> AsyncGenerator[Event, None]:
        """Send the messages if they can be afforded, and stream the reply."""
        request = Request.of(messages, options)
        estimate = estimated_input(request)
        allowed = self._most_output(estimate, request)
        if allowed is not None:
            options["max_tokens"] = allowed
        for account in self._accounts:
            account.hold(estimate, self._price)
        usage: TokenUsage | None = None
        lost = TokenUsage()
        seen: list[str] = []
        try:
            async with aclosing(self._timed(self._inner.complete(messages, **options))) as stream:
                async for event in stream:
                    match event:
                        case Completion():
                            usage = TokenUsage() if event.stored else event.usage
                        case TextPart(text) | ReasoningPart(text):
                            seen.append(text)
                        case Restart() if seen:
                            lost += _guessed(request, seen)
                            seen.clear()
                    yield event
        finally:
            taken = lost + (_guessed(request, seen) if usage is None else usage)
            for account in self._accounts:
                account.settle(estimate, taken, self._price)

    def _most_output(self, estimate: int, request: Request) -> int | None:
        """Return `max_tokens` as the accounts allow it; None if none of them cares."""
        limits = [account.most_output(estimate, self._price) for account in self._accounts]
        known = [max(1, limit // request.n) for limit in limits if limit is not None]
        if not known:
            return None
        if request.max_tokens is not None:
            known.append(request.max_tokens)
        return min(known)

    async def _timed(self, stream: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
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
                    raise first.spent(
                        "seconds", f"the {first.budget.seconds:g} seconds are over"
                    ) from problem
                yield event


def _guessed(request: Request, seen: list[str]) -> TokenUsage:
    return estimated_usage(request, (Choice("".join(seen)),))
