"""The deadline of a question: what is left of its seconds bounds all that is waited for.

It is set when a method is asked, and goes along with the task: endpoints and language models look
it up, and nothing between them has to hand it on.
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

SECONDS = 20.0
"""What a question may take if nobody says."""

_CLOSING, _LONGEST = 0.1, 2.0
"""The share of the seconds, and the most of them, kept for making an answer of what was found."""
_ENDING = 0.25  # of that: kept for what needs no request


@dataclass(frozen=True)
class Deadline:
    """A number of seconds, from now on."""

    seconds: float
    began: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """The seconds that are left, which may be less than none."""
        return self.began + self.seconds - time.monotonic()

    @property
    def closing(self) -> float:
        """The seconds that are kept for making an answer of what was found."""
        return min(_CLOSING * self.seconds, _LONGEST)


_KEPT: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def keeping(deadline: Deadline | None) -> Iterator[None]:
    """Set the deadline for all that is awaited inside."""
    token = _KEPT.set(deadline)
    try:
        yield
    finally:
        _KEPT.reset(token)


def kept() -> Deadline | None:
    """Return the deadline of the question that is being answered, if it has one."""
    return _KEPT.get()


def at_most(seconds: float | None, *, share: float = 1.0) -> float | None:
    """Return the lesser of some seconds and a share of those left for requests.

    None if neither bounds.
    """
    deadline = kept()
    if deadline is None:
        return seconds
    left = max(0.0, deadline.left - _ENDING * deadline.closing)
    left = round(share * left, 3)  # a message may name it
    return left if seconds is None else min(seconds, left)


def before_closing(seconds: float | None) -> float | None:
    """Return the lesser of some seconds and those left for searching; None if neither bounds."""
    deadline = kept()
    if deadline is None:
        return seconds
    left = deadline.left - deadline.closing
    return left if seconds is None else min(seconds, left)


class InTime(Iterator[Item]):
    """Items until a moment is over; `cut` once one was left out."""

    def __init__(self, items: Iterable[Item], end: float) -> None:
        self._items, self._end, self.cut = iter(items), end, False

    def __next__(self) -> Item:
        """Return the next item, if it is not too late for it."""
        item = next(self._items)
        self.cut = self.cut or time.monotonic() > self._end
        if self.cut:
            raise StopIteration
        return item


def in_time(items: Iterable[Item], *, share: float = 1.0) -> InTime[Item]:
    """Return items until a share of the seconds for searching is gone: for work that waits on none.

    Without a deadline all of them.
    """
    deadline = kept()
    end = math.inf
    if deadline is not None:
        end = deadline.began + share * (deadline.seconds - deadline.closing)
    return InTime(items, end)


def over() -> str:
    """Return the words for a deadline that has passed."""
    deadline = kept()
    return f"the {deadline.seconds:g} seconds for the question are over" if deadline else ""


def parse_retry_after(value: str) -> float | None:
    """Return the seconds that a `Retry-After` header asks for, given as such or as a date."""
    with suppress(ValueError):
        return max(0.0, float(value))
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
