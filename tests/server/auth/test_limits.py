"""Callers are kept within their limits, by all processes together."""

import pytest
from tests.server.auth.conftest import MakeAccounts

from askgraph.server.auth import CallerLimits, LimitExceededError, LimitOverrides, Principal
from askgraph.server.auth.identify import (
    CallerAccounts,
    KeyThrottle,
    RequestCredentials,
    get_counted_address,
)
from askgraph.server.store import Store
from askgraph.server.store.tables import RunRow, generate_id

PUBLIC = {"host": "192.0.2.1", "anonymous": ["ask"]}


async def admitted(known: CallerAccounts, caller: Principal, times: int) -> int:
    """How many of so many requests are let through."""
    through = 0
    for _ in range(times):
        try:
            await known.admit(caller)
            through += 1
        except LimitExceededError as error:
            assert 0 < error.retry_after <= 60
    return through


def caller(**limits: int) -> Principal:
    return Principal("key:k1", "phone", frozenset({"ask"}), limits=CallerLimits(**limits))


async def test_limits_of_requests(accounts: MakeAccounts) -> None:
    # Requests beyond the minutes limit are refused.
    known, _ = await accounts()
    assert await admitted(known, caller(requests_per_minute=10), 15) == 10
    # What a run cost is its callers and the day is over when it is spent.
    known, store = await accounts()
    frugal = caller(tokens_per_day=100)
    await known.check_budget(frugal)
    await run_of(store, frugal, tokens=60)
    await known.check_budget(frugal)
    await run_of(store, frugal, tokens=60)
    with pytest.raises(LimitExceededError, match="100 tokens of today") as caught:
        await known.check_budget(frugal)
    assert 0 < caught.value.retry_after <= 24 * 3600
    await known.check_budget(caller(tokens_per_day=1000))
    # Money is limited as tokens are.
    known, store = await accounts()
    poor = Principal("key:k2", "poor", frozenset({"ask"}), limits=CallerLimits(money_per_day=0.5))
    await run_of(store, poor, money=0.25)
    await known.check_budget(poor)
    await run_of(store, poor, money=0.25)
    with pytest.raises(LimitExceededError, match=r"money .*0\.5"):
        await known.check_budget(poor)


async def test_two_processes_count_together(accounts: MakeAccounts) -> None:
    first, _ = await accounts()
    second, _ = await accounts()
    busy = caller(requests_per_minute=10)
    through = 0
    for _ in range(10):
        through += await admitted(first, busy, 1) + await admitted(second, busy, 1)
    assert through == 10


async def test_large_limits_are_told_to_the_database_in_steps_and_hold_all_the_same(
    accounts: MakeAccounts,
) -> None:
    known, store = await accounts()
    busy = caller(requests_per_minute=100)
    await admitted(known, busy, 12)
    assert (await store.get_usage("key:k1")).minute_requests == 10
    assert await admitted(known, busy, 100) == 88


async def test_callers_on_this_machine_are_not_counted(accounts: MakeAccounts) -> None:
    known, store = await accounts(requests_per_minute=1)
    here = await known.identify(RequestCredentials(client="127.0.0.1"))
    assert await admitted(known, here, 50) == 50
    assert (await store.get_usage(here.counted_as)).day_requests == 0


async def test_a_visitor_does_not_escape_by_dropping_the_cookie(accounts: MakeAccounts) -> None:
    known, _ = await accounts(requests_per_minute=3, **PUBLIC)
    through = 0
    for at in range(6):
        cookies = {"askgraph_visitor": f"{at:032}"}
        one = await known.identify(RequestCredentials({}, cookies, "198.51.100.7"))
        through += await admitted(known, one, 1)
    assert through == 3
    other = await known.identify(RequestCredentials({}, {}, "198.51.100.8"))
    assert await admitted(known, other, 1) == 1


def test_limits_of_keys_and_addresses() -> None:
    # A keys own limits hold over the servers and zero is no limit.
    general = CallerLimits(100, 8, 5000, 1.0)
    own = LimitOverrides(requests_per_minute=0, tokens_per_day=10)
    assert own.apply_to(general) == CallerLimits(0, 8, 10, 1.0)
    # Wrong keys are forgotten after a minute.
    time = [0.0]
    guesses = KeyThrottle(2, clock=lambda: time[0])
    for _ in range(2):
        guesses.check("198.51.100.7", "k1")
        guesses.record_failure("198.51.100.7", "k1")
    with pytest.raises(LimitExceededError) as caught:
        guesses.check("198.51.100.7", "k1")
    assert caught.value.retry_after == 60
    guesses.check("198.51.100.7", "k2")
    guesses.check("198.51.100.8", "k1")
    time[0] = 60.5
    guesses.check("198.51.100.7", "k1")
    # All addresses of one site count as one.
    assert get_counted_address("2001:db8:1:2:3:4:5:6") == get_counted_address("2001:db8:1:2::1")
    assert get_counted_address("2001:db8:1:2::1") != get_counted_address("2001:db8:1:3::1")
    assert get_counted_address("198.51.100.7") == "198.51.100.7"


async def run_of(store: Store, who: Principal, *, tokens: int = 0, money: float = 0.0) -> None:
    run = RunRow(generate_id(), who.id, "?", ("space",), "grasp", counted_as=who.counted_as)
    assert await store.begin_run(run)
    assert await store.finish_run(run.id, "done", tokens=tokens, money=money)
