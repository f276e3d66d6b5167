"""A language model asked again if trying again may help: busy, cut off, silent, unreachable."""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Unpack

from askgraph import deadline
from askgraph.errors import (
    COOLDOWN_PHRASE,
    TRANSIENT_ERRORS,
    MalformedReply,
    Overloaded,
    ServiceError,
    TimedOut,
    Unreachable,
)
from askgraph.llm import Event, LanguageModel, Message, ModelAround, Options, Restart

__all__ = ["RetriedModel"]

_DOWN = (Overloaded, TimedOut, Unreachable)
_TRIES: dict[type[ServiceError], int] = {MalformedReply: 1, TimedOut: 1, Unreachable: 2}


class RetriedModel(ModelAround):
    """Asks `inner` again up to `retries` times, each time after a longer wait.

    The wait is the server's Retry-After, else between half and all of
    `first_wait` · 2ⁿ seconds; a server that asks for more than `longest_wait` is not asked again.
    A server that was silent until the time was over, or whose reply was cut off, is asked once more
    at most, one that cannot be reached twice; nobody waits beyond the deadline of the question.
    One that still failed then is left alone for `rest` seconds: questions that come meanwhile fail
    at once, with what it failed of. What came before a failure is declared void by a `Restart`.
    """

    def __init__(
        self,
        inner: LanguageModel,
        *,
        retries: int = 4,
        first_wait: float = 1.0,
        longest_wait: float = 60.0,
        rest: float = 5.0,
    ) -> None:
        super().__init__(inner)
        self._rest = rest
        self._failed: tuple[float, ServiceError] | None = None
        self._retries = retries
        self._first_wait = first_wait
        self._longest_wait = longest_wait

    async def complete(
        self, messages: Sequence[Message], **options: Unpack[Options]
    ) -> AsyncGenerator[Event, None]:
        """Send the messages, again if it fails, and stream the reply."""
        left = self.left_alone
        if self._failed is not None and left:
            raise Unreachable(
                f"{self._failed[1]}; that was {self._rest - left:.1f} seconds ago, and "
                f"{COOLDOWN_PHRASE}"
                f" {self._rest:g} seconds"
            )
        attempt = 0
        while True:
            try:
                async with aclosing(self._inner.complete(messages, **options)) as stream:
                    async for event in stream:
                        yield event
                self._failed = None
                return
            except TRANSIENT_ERRORS as problem:
                wait = self._wait(problem, attempt)
                if wait is None:
                    if isinstance(problem, _DOWN):
                        self._failed = time.monotonic(), problem
                    raise
                reason = str(problem)
            yield Restart(reason)
            await asyncio.sleep(wait)
            attempt += 1

    @property
    def left_alone(self) -> float:
        """The seconds for which the server is left alone from now on; 0 if it is asked."""
        if self._failed is None:
            return 0.0
        return max(0.0, self._failed[0] + self._rest - time.monotonic())

    def _wait(self, problem: ServiceError, attempt: int) -> float | None:
        """Return the seconds to wait before the next try; None if there is none."""
        tries = (most for kind, most in _TRIES.items() if isinstance(problem, kind))
        if attempt >= min(self._retries, next(tries, self._retries)):
            return None
        wait = self._first_wait * 2.0**attempt * random.uniform(0.5, 1.0)
        if isinstance(problem, Overloaded) and problem.retry_after is not None:
            wait = problem.retry_after
            if wait > self._longest_wait:
                return None
        wait = min(wait, self._longest_wait)
        left = deadline.clamp_to_search_time(None)
        return wait if left is None or wait < left else None
