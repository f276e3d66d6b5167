"""Long texts as compressed bytes, off the event loop where they are long."""

import asyncio
import zlib

__all__ = ["packed", "unpacked"]

_LONG = 100_000  # characters that take about a millisecond


async def packed(text: str) -> bytes:
    """Return a text as compressed bytes."""
    if len(text) < _LONG:
        return zlib.compress(text.encode())
    return await asyncio.to_thread(lambda: zlib.compress(text.encode()))


async def unpacked(content: bytes) -> str:
    """Return the text that was packed."""
    if len(content) < _LONG // 10:
        return zlib.decompress(content).decode()
    return await asyncio.to_thread(lambda: zlib.decompress(content).decode())
