"""Failed attempts at API keys, counted by the caller's address, so that guessing is slow."""

import time
from collections import OrderedDict
from collections.abc import Callable

from askgraph.serve.identity.principal import TooMany

__all__ = ["Guesses"]

_WINDOW = 60.0  # seconds
_REMEMBERED = 10_000  # addresses; a server under attack forgets the oldest


class Guesses:
    """Wrong keys of the last minute: after `allowed` of them no more are looked at.

    They are counted by address and by what was guessed at: a caller with a good key is not stopped
    by a neighbour's bad one. Each process counts for itself.
    """

    def __init__(self, allowed: int = 10, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._allowed = allowed
        self._clock = clock
        self._failed: OrderedDict[tuple[str, str], list[float]] = OrderedDict()

    def check(self, address: str, key: str) -> None:
        """Raise `TooMany` where so many attempts failed that this one is not looked at."""
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
        if len(self._failed) > _REMEMBERED:
            self._failed.popitem(last=False)
