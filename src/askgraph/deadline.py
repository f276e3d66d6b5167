"""The deadline of a question: its remaining seconds bound every wait.

A method call sets it for the current task; endpoints and language models look it up, so that no
function in between has to pass it on.
"""

import math
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

Item = TypeVar("Item")

DEFAULT_SECONDS = 20.0
"""Seconds for a question by default."""

_CLOSING_SHARE, _MAX_CLOSING_SECONDS = 0.1, 2.0
"""Share of the seconds, and the maximum, reserved for building an answer at the end."""
_LOCAL_WORK_SHARE = 0.25  # part of that time for work without requests


@dataclass(frozen=True)
class Deadline:
    """A number of seconds from its creation."""

    seconds: float  # length of the deadline
    started_at: float = field(default_factory=time.monotonic)  # start, on the monotonic clock

    @property
    def remaining_seconds(self) -> float:
        """The remaining seconds, negative once the deadline has passed."""
        return self.started_at + self.seconds - time.monotonic()

    @property
    def closing_seconds(self) -> float:
        """The seconds reserved for building an answer at the end."""
        return min(_CLOSING_SHARE * self.seconds, _MAX_CLOSING_SECONDS)


_CURRENT_DEADLINE: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def use_deadline(deadline: Deadline | None) -> Iterator[None]:
    """Set the deadline for everything awaited inside the block."""
    token = _CURRENT_DEADLINE.set(deadline)
    try:
        yield
    finally:
        _CURRENT_DEADLINE.reset(token)


def get_deadline() -> Deadline | None:
    """Return the deadline of the current question, or None."""
    return _CURRENT_DEADLINE.get()


def clamp_timeout(seconds: float | None, *, share: float = 1.0) -> float | None:
    """Return `seconds`, or a share of the time left for requests if that is less.

    None if neither limits.
    """
    deadline = get_deadline()
    if deadline is None:
        return seconds
    remaining_seconds = max(
        0.0, deadline.remaining_seconds - _LOCAL_WORK_SHARE * deadline.closing_seconds
    )
    remaining_seconds = round(share * remaining_seconds, 3)  # a message may contain it
    return remaining_seconds if seconds is None else min(seconds, remaining_seconds)


def clamp_to_search_time(seconds: float | None) -> float | None:
    """Return `seconds`, or the time left for searching if that is less; None if neither limits."""
    deadline = get_deadline()
    if deadline is None:
        return seconds
    remaining_seconds = deadline.remaining_seconds - deadline.closing_seconds
    return remaining_seconds if seconds is None else min(seconds, remaining_seconds)


class DeadlineIterator(Iterator[Item]):
    """Iterate until a point in time; `is_cut` is true once an item was dropped."""

    def __init__(self, items: Iterable[Item], end: float) -> None:
        self._items, self._end, self.is_cut = iter(items), end, False

    def __next__(self) -> Item:
        """Return the next item, unless the time has passed."""
        item = next(self._items)
        self.is_cut = self.is_cut or time.monotonic() > self._end
        if self.is_cut:
            raise StopIteration
        return item


def limit_to_deadline(items: Iterable[Item], *, share: float = 1.0) -> DeadlineIterator[Item]:
    """Return an iterator that stops after a share of the search time; for CPU-bound work.

    Without a deadline it yields all items.
    """
    deadline = get_deadline()
    end = math.inf
    if deadline is not None:
        end = deadline.started_at + share * (deadline.seconds - deadline.closing_seconds)
    return DeadlineIterator(items, end)


def describe_expiry() -> str:
    """Return the message for an expired deadline, or an empty string without a deadline."""
    deadline = get_deadline()
    return f"the time limit of {deadline.seconds:g} seconds was reached" if deadline else ""


def parse_retry_after(value: str) -> float | None:
    """Parse a `Retry-After` header, a number or a date, to seconds; None if invalid."""
    with suppress(ValueError):
        return max(0.0, float(value))
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
