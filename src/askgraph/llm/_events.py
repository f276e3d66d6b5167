"""Server-sent events out of bytes: what stands behind `data:`, event by event."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from askgraph.errors import MalformedReply

__all__ = ["Json", "json_events", "read_object"]

Json = dict[str, Any]
DONE = b"[DONE]"
DRAINING = 1.0  # seconds


async def json_events(
    parts: AsyncGenerator[bytes, None], *, address: str, last_type: str = ""
) -> AsyncGenerator[Json, None]:
    """Give the JSON object of each event up to `[DONE]`, one of `last_type`, or the end.

    Lines end only at line feeds: U+2028 and the like may stand inside JSON. A last event that is
    cut off is left out; what it was part of lacks its end, which the reader of it sees. Raises
    `MalformedReply` for data that is no JSON object.
    """
    async with aclosing(parts):
        async for whole in _data(parts):
            if whole.strip() == DONE:
                await _drained(parts)
                return
            event = read_object(whole, address=address)
            yield event
            if last_type and event.get("type") == last_type:
                await _drained(parts)
                return


def read_object(text: bytes, *, address: str) -> Json:
    """Read a JSON object that a server sent; `MalformedReply` for anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise MalformedReply(f"{address} sent what is no JSON: {_shown(text)}") from problem
    if not isinstance(value, dict):
        raise MalformedReply(f"{address} sent JSON that is no object: {_shown(text)}")
    return value


async def _data(parts: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    """Give what stands behind `data:` in each event that is complete."""
    rest = bytearray()
    data: list[bytes] = []
    async for part in parts:
        rest += part
        if b"\n" not in part:
            continue
        *lines, last = rest.split(b"\n")
        rest = bytearray(last)
        for line in lines:
            text = line.rstrip(b"\r")
            if text.startswith(b"data:"):
                data.append(bytes(text[5:]).removeprefix(b" "))
            elif not text and data:
                yield b"\n".join(data)
                data = []


async def _drained(parts: AsyncIterator[bytes]) -> None:
    """Read what is left, so that the connection can be used again; but do not wait for it."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DRAINING):
            async for _ in parts:
                pass


def _shown(text: bytes) -> str:
    return repr(text[:80].decode("utf-8", "replace"))
