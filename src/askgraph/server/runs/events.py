"""The bounded queue that runs wait in, the event log that many may read, and steps in words."""

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from itertools import islice
from typing import Any, Literal

from askgraph.server.auth import TooMany
from askgraph.trace import Draft, Findings, ModelTurn, Prompt, Step, Thought, ToolUse

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
        self._more, self._end = asyncio.Event(), asyncio.Event()
        self._readers = 0

    @property
    def ended(self) -> bool:
        """Whether no event comes any more."""
        return self._end.is_set()

    @property
    def readers(self) -> int:
        """The number of readers."""
        return self._readers

    def add(self, event: EventName, **content: object) -> None:
        """Append an event; those of `ENDS` end the list, and whatever comes later is dropped."""
        if self.ended:
            return
        self._events.append({"event": event, "id": self._id, "seq": len(self._events), **content})
        if event in ENDS:
            self._end.set()
        more, self._more = self._more, asyncio.Event()
        more.set()

    async def last(self) -> Event:
        """Wait for the end as a reader, and return the event that it is."""
        self._readers += 1
        try:
            await self._end.wait()
            return self._events[-1]
        finally:
            self._readers -= 1

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


async def shield(work: Coroutine[Any, Any, None]) -> None:
    """Do some work, however often this is cancelled meanwhile, and raise what the work raises."""
    task = asyncio.create_task(work)
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    task.result()


_LONGEST = 160
_MENTIONS = 6


def words_of(step: Step) -> str:
    """Return a step in one line, clipped; empty for an outcome."""
    match step:
        case Findings(mentions=mentions):
            read = [f"{m.words!r} is the {m.kind} {m.label or m.target!r}" for m in mentions]
            more = ["…"] if len(read) > _MENTIONS else []
            return one_line("; ".join([*read[:_MENTIONS], *more]) or "no word of it is known")
        case Draft(query=query, words=words):
            return one_line(f"considers: {words or _body(query)}")
        case Thought(text=text):
            return one_line(text)
        case Prompt(purpose=purpose):
            return one_line(f"tells a model ({purpose})")
        case ModelTurn(choice=choice):
            calls = [call.name for call in choice.calls]
            said = f"calls {', '.join(calls)}" if calls else choice.text or choice.refusal
            return one_line(f"the model: {said}")
        case ToolUse(tool=tool, arguments=arguments, observation=seen):
            given = ", ".join(json.dumps(one, ensure_ascii=False) for one in arguments.values())
            return one_line(f"{tool}({given}): {seen.text}")
        case _:
            return ""


def _body(query: str) -> str:
    """A query without its PREFIX lines."""
    return " ".join(line for line in query.splitlines() if not line.startswith("PREFIX "))


def one_line(text: str, most: int = _LONGEST) -> str:
    """Return a text on one line of at most `most` characters, without control characters."""
    plain = "".join(sign if sign.isprintable() else " " for sign in text[: 4 * most])
    words = " ".join(plain.split())
    return words if len(words) <= most else f"{words[: most - 1]}…"


Report = Callable[[int], None]
_FIRST = 10  # of those that wait get their place each time


class Queue:
    """Lets `parallel` in at once; up to `queue` wait.

    Those that wait hear how many are ahead: at the start, and each time among the first ten.
    """

    def __init__(self, parallel: int, queue: int, *, what: str = "questions") -> None:
        self._parallel = parallel
        self._queue = queue
        self._what = what
        self._inside = 0
        self._waiting: deque[tuple[asyncio.Future[None], Report]] = deque()

    @property
    def inside(self) -> int:
        """The number of those whose turn it is."""
        return self._inside

    @property
    def waiting(self) -> int:
        """The number of those that wait."""
        return len(self._waiting)

    @property
    def full(self) -> bool:
        """Whether the next one has to wait."""
        return self._inside >= self._parallel or bool(self._waiting)

    @asynccontextmanager
    async def turn(self, report: Report) -> AsyncIterator[None]:
        """Wait for a turn and hold it; `report` gets its place, from 1.

        Raises `TooMany` if too many wait already.
        """
        if self.full:
            if len(self._waiting) >= self._queue:
                raise TooMany(
                    f"{len(self._waiting):,} {self._what} wait already; ask again a little later",
                    retry_after=10.0,
                )
            place = asyncio.get_running_loop().create_future(), report
            self._waiting.append(place)
            report(len(self._waiting))
            try:
                await place[0]
            except asyncio.CancelledError:
                if place in self._waiting:
                    self._waiting.remove(place)
                    self._report_first()
                elif place[0].done() and not place[0].cancelled():
                    self._inside -= 1  # it was let in while it gave up
                    self._let_in()
                raise
        else:
            self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1
            self._let_in()

    def _let_in(self) -> None:
        let = False
        while self._waiting and self._inside < self._parallel:
            waiter, _ = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                self._inside += 1
                let = True
        if let:
            self._report_first()

    def _report_first(self) -> None:
        for ahead, (_, report) in enumerate(islice(self._waiting, _FIRST), 1):
            report(ahead)
