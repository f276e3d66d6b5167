"""A model server on loopback that takes the first candidate, some time after each request."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["slow_model"]

_SAYS = json.dumps({"choose": 1, "query": "", "sure": 1.0})
_PARTS = (
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": _SAYS}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    {"choices": [], "usage": {"prompt_tokens": 1200, "completion_tokens": 20}},
)
_BODY = "".join(f"data: {json.dumps(part)}\n\n" for part in _PARTS) + "data: [DONE]\n\n"
_REPLY = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{_BODY}"


@contextmanager
def slow_model(seconds: float) -> Iterator[str]:
    """Serve Chat Completions; give the base URL."""
    loop, started, url = asyncio.new_event_loop(), threading.Event(), ""

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = next(line for line in head.splitlines() if line.startswith("content-length:"))
            await reader.readexactly(int(length.partition(":")[2]))
            await asyncio.sleep(seconds)
            writer.write(_REPLY.encode())
            await writer.drain()
        writer.close()

    async def serve() -> None:
        nonlocal url
        server = await asyncio.start_server(reply, "127.0.0.1", 0, backlog=512)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        started.set()
        await asyncio.Event().wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    started.wait()
    yield url
