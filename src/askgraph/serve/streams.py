"""Events as server-sent events (the HTML standard's `text/event-stream`)."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from starlette.responses import StreamingResponse

from askgraph.serve.events import Event

__all__ = ["event_stream"]

_QUIET = 15.0  # seconds after which a comment keeps the connection alive


def event_stream(events: AsyncGenerator[Event, None]) -> StreamingResponse:
    """Return a response that sends events as they come, and closes `events` when it is left."""
    return StreamingResponse(
        _lines(events),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _lines(events: AsyncGenerator[Event, None]) -> AsyncIterator[str]:
    async with aclosing(events):
        coming: asyncio.Task[Event | None] = asyncio.ensure_future(anext(events, None))
        try:
            while True:
                done, _ = await asyncio.wait({coming}, timeout=_QUIET)
                if not done:
                    yield ": still at it\n\n"
                    continue
                event = coming.result()
                if event is None:
                    return
                yield _line(event)
                coming = asyncio.ensure_future(anext(events, None))
        finally:
            if not coming.done():
                coming.cancel()
                await asyncio.wait({coming})


def _line(event: Event) -> str:
    data = json.dumps(event, ensure_ascii=False)
    return f"event: {event['event']}\nid: {event['seq']}\ndata: {data}\n\n"
