"""The event log of a run, which many may read: from the start, or from any event on."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Literal

EventName = Literal["run", "queued", "step", "outcome", "problem", "cancelled", "handed_back"]
ENDS = frozenset({"outcome", "problem", "cancelled", "handed_back"})
"""The events that end the log."""

Event = Mapping[str, object]
"""`event`, its name; `id`, of which question; `seq`, its place, from 0; and its content."""


class Events:
    """A log of events that grows until it is ended; readers wait for those to come."""

    def __init__(self, id: str) -> None:
        self._id = id
        self._events: list[Event] = []
        self._more = asyncio.Event()
        self._readers = 0
        self.ended = False

    @property
    def readers(self) -> int:
        """The number of readers."""
        return self._readers

    def add(self, event: EventName, **content: object) -> None:
        """Append an event; those of `ENDS` end the list, and whatever comes later is dropped."""
        if self.ended:
            return
        self._events.append({"event": event, "id": self._id, "seq": len(self._events), **content})
        self.ended = event in ENDS
        more, self._more = self._more, asyncio.Event()
        more.set()

    async def read(self, after: int = -1) -> AsyncGenerator[Event, None]:
        """Yield all events after the one with this `seq`, those to come too, to the last one."""
        self._readers += 1
        try:
            at = max(after + 1, 0)
            while True:
                more = self._more
                while at < len(self._events):
                    yield self._events[at]
                    at += 1
                if self.ended:
                    return
                await more.wait()
        finally:
            self._readers -= 1
