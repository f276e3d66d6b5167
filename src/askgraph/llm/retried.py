"""A language model asked again if trying again may help: busy, cut off, silent, unreachable."""

import asyncio
import random
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Unpack

from askgraph.errors import MalformedReply, Overloaded, ServiceError, TimedOut, Unreachable
from askgraph.llm import Event, LanguageModel, Message, ModelAround, Options, Restart

__all__ = ["RetriedModel"]

_AGAIN = (MalformedReply, Overloaded, TimedOut, Unreachable)


class RetriedModel(ModelAround):
    """Asks `inner` again up to `retries` times, each time after a longer wait.

    The wait is the server's Retry-After, else between half and all of
    `first_wait` · 2ⁿ seconds; a server that asks for more than `longest_wait` is not asked again.
    A server that was silent until the time was over is asked once more at most. What came before a
    failure is declared void by a `Restart`.
    """

    def __init__(
        self,
        inner: LanguageModel,
        *,
        retries: int = 4,
        first_wait: float = 1.0,
        longest_wait: float = 60.0,
    ) -> None:
        super().__init__(inner)
        self._retries = retries
        self._first_wait = first_wait
        self._longest_wait = longest_wait

    async def complete(
        self, messages: Sequence[Message], **options: Unpack[Options]
    ) -> AsyncGenerator[Event, None]:
        """Send the messages, again if it fails, and stream the reply."""
        attempt = 0
        while True:
            try:
                async with aclosing(self._inner.complete(messages, **options)) as stream:
                    async for event in stream:
                        yield event
                return
            except _AGAIN as problem:
                wait = self._wait(problem, attempt)
                if wait is None:
                    raise
                reason = str(problem)
            yield Restart(reason)
            await asyncio.sleep(wait)
            attempt += 1

    def _wait(self, problem: ServiceError, attempt: int) -> float | None:
        """Return the seconds to wait before the next try; None if there is none."""
        most = min(1, self._retries) if isinstance(problem, TimedOut) else self._retries
        if attempt >= most:
            return None
        if isinstance(problem, Overloaded) and problem.retry_after is not None:
            return problem.retry_after if problem.retry_after <= self._longest_wait else None
        wait = self._first_wait * 2.0**attempt * random.uniform(0.5, 1.0)
        return min(wait, self._longest_wait)
