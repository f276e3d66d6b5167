"""Keeps callers within their limits: requests a minute, tokens and money a day."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from askgraph.server.auth.principal import Principal, TooMany
from askgraph.server.store import Store

_STEPS = 20  # how often in using up its limit a caller is counted in the database
_REMEMBERED = 10_000  # callers
_WINDOW = 60.0  # seconds
_ADDRESSES = 10_000  # addresses; a server under attack forgets the oldest


@dataclass
class _Minute:
    """A caller's requests in a minute: those that the database knew of, and those since."""

    name: str
    known: int
    since: int = 0


class Meter:
    """Counts the use of callers, for all processes together.

    Requests are reported to the database by twentieths of the limit, so that a process may let
    through that many too many; tokens and money are those of runs that ended. Callers without a
    limit are not counted.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._minutes: OrderedDict[str, _Minute] = OrderedDict()

    async def count_request(self, caller: Principal) -> None:
        """Count a request; `TooMany` if it is one too many for this minute."""
        limit = caller.limits.requests_per_minute
        if not limit:
            return
        who, time = caller.counted_as or caller.id, datetime.now(UTC)
        name = f"{time:%H:%M}"
        minute = self._minutes.get(who)
        if minute is None or minute.name != name:
            minute = self._minutes[who] = _Minute(name, 0)
        self._minutes.move_to_end(who)
        if len(self._minutes) > _REMEMBERED:
            self._minutes.popitem(last=False)
        minute.since += 1
        if minute.since >= max(1, limit // _STEPS):
            told, minute.since = minute.since, 0
            minute.known = (await self._store.count(who, requests=told)).minute_requests
        if minute.known + minute.since > limit:
            raise TooMany(
                f"{limit} requests a minute are allowed, and they are used up",
                retry_after=60.0 - time.second,
            )

    async def check_budget(self, caller: Principal) -> None:
        """Raise `TooMany` if the caller has used up the tokens or the money of this day."""
        limits = caller.limits
        if not limits.tokens_per_day and not limits.money_per_day:
            return
        used = await self._store.used(caller.counted_as or caller.id)
        if limits.tokens_per_day and used.day_tokens >= limits.tokens_per_day:
            raise TooMany(
                f"the {limits.tokens_per_day} tokens of this day are used up "
                "(methods without a language model use none)",
                retry_after=_until_tomorrow(),
            )
        if limits.money_per_day and used.day_money >= limits.money_per_day:
            raise TooMany(
                f"the money for language models of this day ({limits.money_per_day:g}) is used up",
                retry_after=_until_tomorrow(),
            )


def _until_tomorrow() -> float:
    time = datetime.now(UTC)
    midnight = time.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return float(math.ceil((midnight - time).total_seconds()))


class KeyThrottle:
    """Wrong keys of the last minute: after `allowed` of them no more are looked at.

    They are counted by address and by what was guessed at: a caller with a good key is not stopped
    by a neighbour's bad one. Each process counts for itself.
    """

    def __init__(self, allowed: int = 10, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._allowed = allowed
        self._clock = clock
        self._failed: OrderedDict[tuple[str, str], list[float]] = OrderedDict()

    def check(self, address: str, key: str) -> None:
        """Raise `TooMany` if so many attempts failed that this one is not looked at."""
        since = self._clock() - _WINDOW
        failed = [when for when in self._failed.get((address, key), ()) if when > since]
        if len(failed) >= self._allowed:
            raise TooMany(
                "too many wrong API keys came from this address: wait a minute, and check the key",
                retry_after=max(failed[0] - since, 1.0),
            )

    def failed(self, address: str, key: str) -> None:
        """Count a wrong key."""
        failed = self._failed.setdefault((address, key), [])
        failed.append(self._clock())
        del failed[: -self._allowed]
        self._failed.move_to_end((address, key))
        if len(self._failed) > _ADDRESSES:
            self._failed.popitem(last=False)
