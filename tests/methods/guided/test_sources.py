"""Several streams as one."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from askgraph.methods.guided.sources import merged


async def counted(
    name: str, number: int, closed: list[str], *, wait: float = 0.0, fail: bool = False
) -> AsyncGenerator[str, None]:
    try:
        for at in range(number):
            await asyncio.sleep(wait)
            yield f"{name}{at}"
        if fail:
            raise ValueError(name)
    finally:
        closed.append(name)


async def test_all_items_come_in_the_order_of_each_stream() -> None:
    closed: list[str] = []
    streams = counted("a", 3, closed), counted("b", 2, closed), counted("c", 0, closed)

    found = [item async for item in merged(*streams)]

    assert sorted(found) == ["a0", "a1", "a2", "b0", "b1"]
    assert [item for item in found if item[0] == "a"] == ["a0", "a1", "a2"]
    assert sorted(closed) == ["a", "b", "c"]


async def test_no_stream_gives_nothing() -> None:
    streams: list[AsyncGenerator[str, None]] = []

    assert [item async for item in merged(*streams)] == []


async def test_the_first_error_is_raised_and_ends_the_others() -> None:
    closed: list[str] = []
    streams = counted("a", 1, closed, fail=True), counted("b", 1000, closed, wait=1.0)

    with pytest.raises(ValueError, match="a"):
        [item async for item in merged(*streams)]
    assert sorted(closed) == ["a", "b"]


async def test_closing_early_closes_all_streams() -> None:
    closed: list[str] = []
    stream = merged(counted("a", 5, closed), counted("b", 1000, closed, wait=1.0))

    assert await anext(stream) == "a0"
    await stream.aclose()

    assert sorted(closed) == ["a", "b"]
