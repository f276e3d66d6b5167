"""Responses that end with the connection: server-sent events, and work cancelled on disconnect."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import aclosing
from typing import TypeVar

import anyio
from starlette.requests import Request
from starlette.responses import StreamingResponse

from askgraph.server.hub import Hub
from askgraph.server.problems import Failed, Problem
from askgraph.server.runs.events import Event
from askgraph.server.runs.lifecycle import Run
from askgraph.trace import Step, Thought

_QUIET = 15.0  # seconds after which a comment keeps the connection alive
Value = TypeVar("Value")


def event_stream(events: AsyncGenerator[Event, None]) -> StreamingResponse:
    """Return a response that sends events as they come, and closes `events` when it is left."""
    return text_stream(_told(events))


def text_stream(texts: AsyncGenerator[str, None]) -> StreamingResponse:
    """Return a response that sends events that are text already; see `event_stream`."""
    return StreamingResponse(
        _kept_alive(texts),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _told(events: AsyncGenerator[Event, None]) -> AsyncGenerator[str, None]:
    async with aclosing(events):
        async for event in events:
            yield _line(event)


async def _kept_alive(texts: AsyncGenerator[str, None]) -> AsyncIterator[str]:
    async with aclosing(texts):
        coming: asyncio.Task[str | None] = asyncio.ensure_future(anext(texts, None))
        try:
            while True:
                done, _ = await asyncio.wait({coming}, timeout=_QUIET)
                if not done:
                    yield ": still at it\n\n"
                    continue
                text = coming.result()
                if text is None:
                    return
                yield text
                coming = asyncio.ensure_future(anext(texts, None))
        finally:
            if not coming.done():
                coming.cancel()
                await asyncio.wait({coming})


def _line(event: Event) -> str:
    data = json.dumps(event, ensure_ascii=False)
    return f"event: {event['event']}\nid: {event['seq']}\ndata: {data}\n\n"


async def unless_disconnected(request: Request, work: Awaitable[Value]) -> Value:
    """Return the result of some work, which is cancelled when the client disconnects."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
        return await task
    finally:
        gone.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def steps_of_run(hub: Hub, run: Run) -> AsyncGenerator[Step, None]:
    """Yield the steps of a run up to its outcome, its places in the queue first, as thoughts.

    Closed early, the run is cancelled. Raises `Failed` if it failed or was stopped.
    """
    return _steps(hub, run, run.steps)  # this list, which a run that has ended lets go of


async def _steps(hub: Hub, run: Run, steps: list[Step]) -> AsyncGenerator[Step, None]:
    at = 0
    try:
        async with aclosing(hub.runs.read(run)) as events:
            async for event in events:
                match event["event"]:
                    case "queued":
                        yield Thought(_place_in_words(event["ahead"]))
                    case "step":
                        yield steps[at]
                        at += 1
                    case "outcome":
                        yield steps[-1]
                    case "problem":
                        raise Failed(Problem.model_validate(event["problem"]))
                    case "cancelled" | "handed_back":
                        raise Failed(Problem.stopped())
    finally:
        if not run.events.ended:
            with anyio.CancelScope(shield=True):
                await hub.runs.cancel(run.id)


def _place_in_words(ahead: object) -> str:
    return "waits: one question is before it" if ahead == 1 else f"waits: {ahead} are before it"
