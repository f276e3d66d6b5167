"""The event log of a run, which many may read from any event on; and its steps in words."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Coroutine, Mapping
from typing import Any, Literal

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
