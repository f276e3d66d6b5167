"""A language model within its server's rate limits: requests and tokens per minute, in parallel.

A request takes its estimated input tokens from the allowance before it is sent; the actual number
replaces the estimate when the reply is complete.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Unpack

from askgraph import llm
from askgraph.errors import SetupError

__all__ = ["LimitedModel"]


class LimitedModel(llm.ModelWrapper):
    """Delays requests, in order of arrival, until `inner` may be called.

    At most `requests` and `tokens` are used in any `period` seconds, and `at_once` requests run in
    parallel; None means no limit. A single request larger than the allowance runs alone.
    """

    def __init__(
        self,
        inner: llm.LanguageModel,
        *,
        requests: int | None = None,
        tokens: int | None = None,
        at_once: int | None = None,
        period: float = 60.0,
    ) -> None:
        for name, value in {"requests": requests, "tokens": tokens, "at_once": at_once}.items():
            if value is not None and value < 1:
                raise SetupError(f"the limit {name!r} must be 1 or more, not {value}")
        super().__init__(inner)
        self._requests = _RateWindow(requests, period)
        self._tokens = _RateWindow(tokens, period)
        self._at_once = at_once
        self._gates: _LoopLocks | None = None

    async def complete(
        self, messages: Sequence[llm.Message], **options: Unpack[llm.Options]
    ) -> AsyncGenerator[llm.Event, None]:
        """Wait for a slot, send the messages and stream the reply."""
        estimate = llm.estimate_input_tokens(llm.Request.from_options(messages, options))
        loop = asyncio.get_running_loop()
        if self._gates is None or self._gates.loop is not loop:
            slots = asyncio.Semaphore(self._at_once or 1_000_000)
            self._gates = _LoopLocks(loop, slots, asyncio.Lock())
        gates = self._gates
        async with gates.slots:
            async with gates.turn:
                await self._requests.acquire(1)
                tokens = await self._tokens.acquire(estimate)
            async with aclosing(self._inner.complete(messages, **options)) as stream:
                async for event in stream:
                    if isinstance(event, llm.Completion):
                        tokens.amount = event.usage.total
                    yield event


@dataclass
class _LoopLocks:
    loop: asyncio.AbstractEventLoop
    slots: asyncio.Semaphore
    turn: asyncio.Lock


@dataclass
class _AllowanceUse:
    started_at: float
    amount: int


class _RateWindow:
    """The amount used in the last `period` seconds, and its limit."""

    def __init__(self, limit: int | None, period: float) -> None:
        self._limit = limit
        self._period = period
        self._uses: deque[_AllowanceUse] = deque()

    async def acquire(self, amount: int) -> _AllowanceUse:
        """Wait until there is room, and use it."""
        while True:
            now = time.monotonic()
            while self._uses and self._uses[0].started_at <= now - self._period:
                self._uses.popleft()
            used = sum(use.amount for use in self._uses)
            if self._limit is None or not self._uses or used + amount <= self._limit:
                wait = 0.0
            else:
                wait = self._uses[0].started_at + self._period - now
            if wait <= 0:
                break
            await asyncio.sleep(wait)
        use = _AllowanceUse(time.monotonic(), amount)
        if self._limit is not None:
            self._uses.append(use)
        return use
