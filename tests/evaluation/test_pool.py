"""Pools of workers, here and in other processes."""

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from contextlib import aclosing
from itertools import takewhile

import pytest

from askgraph.errors import SetupError
from askgraph.evaluation.executors import run_concurrently
from askgraph.evaluation.executors.processes import Processes


async def test_all_are_done_and_never_more_than_allowed_at_once() -> None:
    running, most = 0, 0

    async def work(item: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001 * (item % 3))
        running -= 1
        return item

    results = [result async for result in run_concurrently(range(20), work, concurrency=3)]

    assert sorted(results) == list(range(20)) and most == 3


async def test_leaving_early_cancels_the_rest() -> None:
    cancelled = []

    async def work(item: int) -> int:
        try:
            await asyncio.sleep(item * 100)
        except asyncio.CancelledError:
            cancelled.append(item)
            raise
        return item

    async with aclosing(run_concurrently(range(3), work, concurrency=3)) as stream:
        async for result in stream:
            assert result == 0
            break

    assert sorted(cancelled) == [1, 2]


async def test_what_is_finished_beside_an_error_comes_before_it() -> None:
    async def work(item: int) -> int:
        await asyncio.sleep(0)
        if item == 0:
            raise ValueError(item)
        return item

    finished = []
    with pytest.raises(ValueError, match="0"):
        async with aclosing(run_concurrently(range(4), work, concurrency=4)) as stream:
            async for result in stream:
                finished.append(result)

    assert sorted(finished) == [1, 2, 3]


async def test_an_item_is_taken_after_the_results_before_it_were_seen() -> None:
    seen: list[int] = []

    async def work(item: int) -> int:
        return item

    items = takewhile(lambda _: len(seen) < 2, range(9))
    async for result in run_concurrently(items, work, concurrency=1):
        seen.append(result)

    assert seen == [0, 1]


@pytest.fixture
def processes() -> Iterator[Processes]:
    started = Processes(1)
    yield started
    started.close()


def test_processes(processes: Processes) -> None:
    # A call is made in another process.
    assert processes.submit(os.getpid).result(30) != os.getpid()
    # A worker that dies loses its calls.
    pid = processes.submit(os.getpid).result(30)
    call = processes.submit(os.kill, pid, signal.SIGKILL)
    assert isinstance(call.exception(30), processes.worker_death_errors)
    # Closing does not wait for what is under way.
    processes = Processes(1)
    pid = processes.submit(os.getpid).result(30)
    call = processes.submit(time.sleep, 3600)
    while not call.running():
        time.sleep(0.01)
    processes.close()
    assert isinstance(call.exception(30), processes.worker_death_errors)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    # Processes are on this machine.
    with pytest.raises(SetupError, match="--address does not apply to processes"):
        Processes(1, "tcp://127.0.0.1:1")
