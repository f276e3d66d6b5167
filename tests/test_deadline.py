"""What a question has left, as those see it that wait for something on its way."""

import asyncio
import itertools
import time

import pytest

from askgraph import deadline
from askgraph.deadline import (
    Deadline,
    clamp_timeout,
    clamp_to_search_time,
    describe_expiry,
    use_deadline,
)
from askgraph.errors import TimedOut
from askgraph.sparql.judge import limit_to_deadline


def test_without_a_deadline_nothing_is_bounded() -> None:
    assert clamp_timeout(None) is None and clamp_to_search_time(None) is None
    assert limit_to_deadline(60.0) == clamp_timeout(60.0) == clamp_to_search_time(60.0) == 60.0
    assert not describe_expiry()


def test_searching_ends_before_requests_do_and_these_before_the_deadline() -> None:
    with use_deadline(Deadline(10.0)):
        searching, requests = clamp_to_search_time(None), clamp_timeout(None)
        assert searching is not None and requests is not None
        assert searching <= 9.0 < requests <= 9.75
        assert clamp_timeout(None, share=0.5) <= requests / 2  # type: ignore[operator]
        assert clamp_timeout(1.0) == clamp_to_search_time(1.0) == 1.0


def test_nothing_is_sent_when_the_time_is_over() -> None:
    with (
        use_deadline(Deadline(0.0)),
        pytest.raises(TimedOut, match="the time limit of 0 seconds was reached"),
    ):
        limit_to_deadline(60.0)


async def test_tasks_keep_the_deadline_with_which_they_were_begun() -> None:
    async def bounded() -> bool:
        return clamp_timeout(None) is not None

    with use_deadline(Deadline(10.0)):
        task = asyncio.create_task(bounded())
    assert await task
    assert clamp_timeout(None) is None


def test_work_that_waits_for_nothing_ends_with_its_share_of_the_time() -> None:
    assert list(deadline.limit_to_deadline(range(3))) == [0, 1, 2]
    with use_deadline(Deadline(60.0)):
        assert list(deadline.limit_to_deadline(range(3), share=0.5)) == [0, 1, 2]
    with use_deadline(Deadline(60.0, started_at=time.monotonic() - 40.0)):
        assert not list(deadline.limit_to_deadline(range(3), share=0.5))
        assert list(deadline.limit_to_deadline(range(3))) == [0, 1, 2]


def test_an_endless_search_ends_in_time() -> None:
    began = time.monotonic()
    with use_deadline(Deadline(1.0)):
        taken = sum(1 for _ in deadline.limit_to_deadline(itertools.count()))
    assert taken
    assert 0.8 <= time.monotonic() - began < 10
