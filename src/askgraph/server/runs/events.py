"""The bounded queue that runs wait in, the event log with many readers, and steps in words."""

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from itertools import islice
from typing import Any, Literal

from askgraph.server.auth import LimitExceededError
from askgraph.trace import Draft, Findings, ModelTurn, Prompt, Step, Thought, ToolUse

EventName = Literal["run", "queued", "step", "outcome", "problem", "cancelled", "handed_back"]
FINAL_EVENTS = frozenset({"outcome", "problem", "cancelled", "handed_back"})
"""Names of the events that end the log."""

Event = Mapping[str, object]
"""An event: `event` (its name), `id` (of the run), `seq` (its index from 0), and its content."""


class EventLog:
    """A log of events that grows until a final event; readers wait for new events."""

    def __init__(self, id: str) -> None:
        self._id = id
        self._events: list[Event] = []
        self._next_event, self._end = asyncio.Event(), asyncio.Event()
        self.reader_count = 0

    @property
    def has_ended(self) -> bool:
        """Whether the log is complete."""
        return self._end.is_set()

    def add(self, event: EventName, **content: object) -> None:
        """Append an event; events of `FINAL_EVENTS` end the log, and later events are dropped."""
        if self.has_ended:
            return
        self._events.append({"event": event, "id": self._id, "seq": len(self._events), **content})
        if event in FINAL_EVENTS:
            self._end.set()
        next_event, self._next_event = self._next_event, asyncio.Event()
        next_event.set()

    async def wait_for_end(self) -> Event:
        """Wait, as a reader, for the final event and return it."""
        self.reader_count += 1
        try:
            await self._end.wait()
            return self._events[-1]
        finally:
            self.reader_count -= 1

    async def read(self, after: int = -1) -> AsyncGenerator[Event, None]:
        """Yield the events after the one with this `seq`, waiting for new ones until the last."""
        self.reader_count += 1
        try:
            index = max(after + 1, 0)
            while True:
                next_event = self._next_event
                while index < len(self._events):
                    yield self._events[index]
                    index += 1
                if self.has_ended:
                    return
                await next_event.wait()
        finally:
            self.reader_count -= 1


async def run_shielded(work: Coroutine[Any, Any, None]) -> None:
    """Complete a coroutine despite cancellations, and raise the errors that it raises."""
    task = asyncio.create_task(work)
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    task.result()


_MAX_LINE_CHARACTERS = 160
_MAX_MENTIONS = 6


def describe_step(step: Step) -> str:
    """Describe a step in one line, clipped; "" for an outcome."""
    match step:
        case Findings(mentions=mentions):
            descriptions = [
                f"{m.words!r} is the {m.kind} {m.label or m.target!r}" for m in mentions
            ]
            ellipsis = ["…"] if len(descriptions) > _MAX_MENTIONS else []
            return clip_line(
                "; ".join([*descriptions[:_MAX_MENTIONS], *ellipsis])
                or "no word of the question is known"
            )
        case Draft(query=query, words=words):
            lines = (line for line in query.splitlines() if not line.startswith("PREFIX "))
            return clip_line(f"considers: {words or ' '.join(lines)}")
        case Thought(text=text):
            return clip_line(text)
        case Prompt(purpose=purpose):
            return clip_line(f"prompts a model ({purpose})")
        case ModelTurn(choice=choice):
            calls = [call.name for call in choice.calls]
            action = f"calls {', '.join(calls)}" if calls else choice.text or choice.refusal
            return clip_line(f"the model: {action}")
        case ToolUse(tool=tool, arguments=arguments, observation=observed):
            arguments_text = ", ".join(
                json.dumps(argument, ensure_ascii=False) for argument in arguments.values()
            )
            failure = " failed; the model is shown" if observed.failed else ""
            return clip_line(f"{tool}({arguments_text}){failure}: {observed.text}")
        case _:
            return ""


def clip_line(text: str, max_characters: int = _MAX_LINE_CHARACTERS) -> str:
    """Clip a text to one line of at most `max_characters`, without control characters."""
    printable = "".join(
        character if character.isprintable() else " " for character in text[: 4 * max_characters]
    )
    line = " ".join(printable.split())
    return line if len(line) <= max_characters else f"{line[: max_characters - 1]}…"


PositionReport = Callable[[int], None]
_MAX_REPORTED_POSITIONS = 10  # waiting runs that get their position at each change


class TurnQueue:
    """Admits `parallel` users at once; at most `queue` wait.

    Waiting users receive their position: at first, and whenever they move within the first ten.
    """

    def __init__(self, parallel: int, max_waiting: int, *, noun: str = "questions") -> None:
        self._parallel = parallel
        self._max_waiting = max_waiting
        self._noun = noun
        self.active_count = 0
        self._waiting: deque[tuple[asyncio.Future[None], PositionReport]] = deque()

    @property
    def waiting_count(self) -> int:
        """The number of waiting users."""
        return len(self._waiting)

    @property
    def is_full(self) -> bool:
        """Whether the next user has to wait."""
        return self.active_count >= self._parallel or bool(self._waiting)

    @asynccontextmanager
    async def wait_turn(self, report: PositionReport) -> AsyncIterator[None]:
        """Wait for a turn and hold it; `report` receives the position, from 1.

        Raises:
            TooMany: too many users are waiting already.
        """
        if self.is_full:
            if len(self._waiting) >= self._max_waiting:
                raise LimitExceededError(
                    f"{len(self._waiting):,} {self._noun} are waiting already; try again later",
                    retry_after=10.0,
                )
            entry = asyncio.get_running_loop().create_future(), report
            self._waiting.append(entry)
            report(len(self._waiting))
            try:
                await entry[0]
            except asyncio.CancelledError:
                if entry in self._waiting:
                    self._waiting.remove(entry)
                    self._report_positions()
                elif entry[0].done() and not entry[0].cancelled():
                    self.active_count -= 1  # it was let in while it gave up
                    self._admit_waiting()
                raise
        else:
            self.active_count += 1
        try:
            yield
        finally:
            self.active_count -= 1
            self._admit_waiting()

    def _admit_waiting(self) -> None:
        has_admitted = False
        while self._waiting and self.active_count < self._parallel:
            waiter, _ = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                self.active_count += 1
                has_admitted = True
        if has_admitted:
            self._report_positions()

    def _report_positions(self) -> None:
        for position, (_, report) in enumerate(islice(self._waiting, _MAX_REPORTED_POSITIONS), 1):
            report(position)
