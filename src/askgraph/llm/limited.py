"""A language model asked no faster than its server allows: requests and tokens a minute, at once.

A request takes its estimated input tokens from the allowance before it is sent; what it really
took is set right when the reply is there.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Unpack

from askgraph.errors import SetupError
from askgraph.llm import (
    Completion,
    Event,
    LanguageModel,
    Message,
    ModelAround,
    Options,
    Request,
    estimated_input,
)

__all__ = ["LimitedModel"]


class LimitedModel(ModelAround):
    """Lets requests wait, in the order they come, until `inner` may be asked.

    At most `requests` and `tokens` are used in any `period` seconds, and `at_once` requests run at
    the same time; None means no limit. A single request larger than the allowance goes alone.
    """

    def __init__(
        self,
        inner: LanguageModel,
        *,
        requests: int | None = None,
        tokens: int | None = None,
        at_once: int | None = None,
        period: float = 60.0,
    ) -> None:
        for name, value in {"requests": requests, "tokens": tokens, "at_once": at_once}.items():
            if value is not None and value < 1:
                raise SetupError(f"the limit {name!r} is {value}; it must be 1 or more")
        super().__init__(inner)
        self._requests = _Window(requests, period)
        self._tokens = _Window(tokens, period)
        self._at_once = at_once
        self._gates: _Gates | None = None

    async def complete(
        self, messages: Sequence[Message], **options: Unpack[Options]
    ) -> AsyncGenerator[Event, None]:
        """Wait for the turn, send the messages and stream the reply."""
        estimate = estimated_input(Request.of(messages, options))
        loop = asyncio.get_running_loop()
        if self._gates is None or self._gates.loop is not loop:
            places = asyncio.Semaphore(self._at_once or 1_000_000)
            self._gates = _Gates(loop, places, asyncio.Lock())
        gates = self._gates
        async with gates.places:
            async with gates.turn:
                await self._requests.take(1)
                tokens = await self._tokens.take(estimate)
            async with aclosing(self._inner.complete(messages, **options)) as stream:
                async for event in stream:
                    if isinstance(event, Completion):
                        tokens.amount = event.usage.total
                    yield event


@dataclass
class _Gates:
    loop: asyncio.AbstractEventLoop
    places: asyncio.Semaphore
    turn: asyncio.Lock


@dataclass
class _Taken:
    moment: float
    amount: int


class _Window:
    """The amount taken in the last `period` seconds, and the most that may be."""

    def __init__(self, limit: int | None, period: float) -> None:
        self._limit = limit
        self._period = period
        self._taken: deque[_Taken] = deque()

    async def take(self, amount: int) -> _Taken:
        """Wait until there is room, and take it."""
        while True:
            now = time.monotonic()
            while self._taken and self._taken[0].moment <= now - self._period:
                self._taken.popleft()
            used = sum(taken.amount for taken in self._taken)
            if self._limit is None or not self._taken or used + amount <= self._limit:
                wait = 0.0
            else:
                wait = self._taken[0].moment + self._period - now
            if wait <= 0:
                break
            await asyncio.sleep(wait)
        taken = _Taken(time.monotonic(), amount)
        if self._limit is not None:
            self._taken.append(taken)
        return taken
