"""A bounded number of items under way."""

import asyncio
from contextlib import aclosing

import pytest

from askgraph.evaluation.pool import completed


async def test_all_are_done_and_never_more_than_allowed_at_once() -> None:
    running, most = 0, 0

    async def work(item: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001 * (item % 3))
        running -= 1
        return item

    results = [result async for result in completed(range(20), work, concurrency=3)]

    assert sorted(results) == list(range(20))
    assert most == 3


async def test_one_at_a_time_keeps_the_order() -> None:
    async def work(item: int) -> int:
        return item

    assert [r async for r in completed(range(5), work, concurrency=1)] == [0, 1, 2, 3, 4]


async def test_leaving_early_cancels_the_rest() -> None:
    cancelled = []

    async def work(item: int) -> int:
        try:
            await asyncio.sleep(item * 100)
        except asyncio.CancelledError:
            cancelled.append(item)
            raise
        return item

    async with aclosing(completed(range(3), work, concurrency=3)) as stream:
        async for result in stream:
            assert result == 0
            break

    assert sorted(cancelled) == [1, 2]


async def test_an_error_comes_through() -> None:
    async def work(item: int) -> int:
        raise ValueError(item)

    with pytest.raises(ValueError, match="0"):
        async with aclosing(completed(range(3), work, concurrency=1)) as stream:
            async for _ in stream:
                pass
