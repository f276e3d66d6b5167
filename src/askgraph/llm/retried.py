"""A language model that retries failed calls that may succeed later."""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Unpack

from askgraph import deadline, errors
from askgraph.llm import Event, LanguageModel, Message, ModelWrapper, Options, Restart

__all__ = ["RetriedModel"]

_PAUSING_ERRORS = (errors.Overloaded, errors.TimedOut, errors.Unreachable)
_MAX_RETRIES_BY_ERROR: dict[type[errors.ServiceError], int] = {
    errors.MalformedReply: 1,
    errors.TimedOut: 1,
    errors.Unreachable: 2,
}


class RetriedModel(ModelWrapper):
    """Repeats a failed call of `inner` up to `retries` times, with growing waits.

    The wait is the server's Retry-After, else between half and all of `first_wait` · 2ⁿ
    seconds; if the server requests more than `longest_wait` seconds, the call is not repeated.
    After a timeout or a reply that was cut off there is at most one retry, after a failed
    connection two; no wait exceeds the deadline of the question. After the last failure the
    server is not called for `pause` seconds: questions in this time fail at once, with the same
    reason. A `Restart` declares the parts before a failure void.
    """

    def __init__(
        self,
        inner: LanguageModel,
        *,
        retries: int = 4,
        first_wait: float = 1.0,
        longest_wait: float = 60.0,
        pause: float = 5.0,
    ) -> None:
        super().__init__(inner)
        self._pause_seconds = pause
        self._failed: tuple[float, errors.ServiceError] | None = None
        self._retries = retries
        self._first_wait = first_wait
        self._longest_wait = longest_wait

    async def complete(
        self, messages: Sequence[Message], **options: Unpack[Options]
    ) -> AsyncGenerator[Event, None]:
        """Send the messages, repeatedly if it fails, and stream the reply."""
        remaining = self.pause_seconds
        if self._failed is not None and remaining:
            raise errors.Unreachable(
                f"{self._failed[1]}; that was {self._pause_seconds - remaining:.1f} seconds ago, "
                f"and {errors.COOLDOWN_PHRASE} {self._pause_seconds:g} seconds"
            )
        attempt = 0
        while True:
            try:
                async with aclosing(self._inner.complete(messages, **options)) as stream:
                    async for event in stream:
                        yield event
                self._failed = None
                return
            except errors.TRANSIENT_ERRORS as problem:
                wait = self._compute_wait(problem, attempt)
                if wait is None:
                    if isinstance(problem, _PAUSING_ERRORS):
                        self._failed = time.monotonic(), problem
                    raise
                reason = str(problem)
            yield Restart(reason)
            await asyncio.sleep(wait)
            attempt += 1

    @property
    def pause_seconds(self) -> float:
        """The seconds until the server is called again; 0 if it may be called now."""
        if self._failed is None:
            return 0.0
        return max(0.0, self._failed[0] + self._pause_seconds - time.monotonic())

    def _compute_wait(self, problem: errors.ServiceError, attempt: int) -> float | None:
        """Return the seconds to wait before the next try; None for no further try."""
        tries = (
            max_retries
            for error_type, max_retries in _MAX_RETRIES_BY_ERROR.items()
            if isinstance(problem, error_type)
        )
        if attempt >= min(self._retries, next(tries, self._retries)):
            return None
        wait = self._first_wait * 2.0**attempt * random.uniform(0.5, 1.0)
        if isinstance(problem, errors.Overloaded) and problem.retry_after is not None:
            wait = problem.retry_after
            if wait > self._longest_wait:
                return None
        wait = min(wait, self._longest_wait)
        remaining = deadline.clamp_to_search_time(None)
        return wait if remaining is None or wait < remaining else None
