"""Events as server-sent events (the HTML standard's `text/event-stream`)."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from starlette.responses import StreamingResponse

from askgraph.serve.runs.events import Event

__all__ = ["event_stream", "text_stream"]

_QUIET = 15.0  # seconds after which a comment keeps the connection alive


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
