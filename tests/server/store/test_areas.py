"""Feedback, verified answers, keys, usage, processes and jobs."""

import asyncio
from dataclasses import replace

from askgraph.server.auth import LimitOverrides
from askgraph.server.store import Store
from askgraph.server.store.tables import (
    Feedback,
    JobRow,
    KeyRow,
    RunRow,
    VerifiedAnswer,
    generate_id,
    get_timestamp,
    get_timestamp_before,
    jobs,
)

MOONS = VerifiedAnswer(
    "v1", "space", "Which moons does Jupiter have?",
    "SELECT ?moon WHERE { ?moon ?orbits ?jupiter }", "user:ann", 4, language="en", snapshot="abc",
    digest="d1", by="Ann", run="r1",
)  # fmt: skip


async def test_feedback_and_verified_answers(store: Store) -> None:
    # Feedback is one a person and run.
    run = RunRow(generate_id(), "user:ann", "?", ("space",), "graph-search")
    await store.begin_run(run)
    assert await store.put_feedback(Feedback(run.id, "user:ann", "wrong", "no moons"))
    assert await store.put_feedback(Feedback(run.id, "user:ann", "right"))
    assert await store.put_feedback(Feedback(run.id, "user:bob", "wrong"))
    said = {one.owner: (one.verdict, one.comment) for one in await store.list_feedback(run.id)}
    assert said == {"user:ann": ("right", ""), "user:bob": ("wrong", "")}
    assert not await store.put_feedback(Feedback("another", "user:ann", "right"))
    # A verified answer becomes an example that answers.
    await store.put_verified(MOONS)
    assert (
        await store.list_verified("space") == [MOONS] and await store.list_verified("rocks") == []
    )
    example = MOONS.example
    assert (example.origin, example.question, example.language) == (
        "confirmed",
        MOONS.question,
        "en",
    )
    assert example.confirmation is not None
    assert (example.confirmation.rows, example.confirmation.by) == (4, "Ann")
    assert (example.confirmation.snapshot, example.confirmation.digest) == ("abc", "d1")
    # The same question verified again replaces its owners answer only.
    await store.put_verified(MOONS)
    other = replace(MOONS, id="v2", owner="user:bob", when=get_timestamp())
    await store.put_verified(other)
    again = replace(MOONS, id="v3", question="which moons does jupiter have", when=get_timestamp())
    await store.put_verified(again)
    assert await store.list_verified("space") == [other, again]
    await store.put_verified(replace(MOONS, id="v4", language="de", when=get_timestamp()))
    assert [one.id for one in await store.list_verified("space")] == ["v2", "v3", "v4"]


async def test_versions_and_keys(store: Store) -> None:
    # The version of verified answers grows with every change.
    versions = [await store.get_verified_version("space")]
    await store.put_verified(MOONS)
    versions.append(await store.get_verified_version("space"))
    assert await store.delete_verified("v1") and not await store.delete_verified("v1")
    versions.append(await store.get_verified_version("space"))
    await store.put_verified(MOONS)
    assert await store.delete_verified_of_run("r1", "user:bob") == 0
    assert await store.delete_verified_of_run("r1", "user:ann") == 1
    versions.append(await store.get_verified_version("space"))
    assert versions == sorted(set(versions)) and await store.get_verified_version("rocks") == 0
    assert await store.list_verified_of_runs(["r1"]) == []
    # A key knows when it was used.
    await store.add_key(KeyRow("k1", "phone", "d1", frozenset({"ask"})))
    fresh = await store.get_key("k1")
    assert fresh is not None and fresh.used is None
    await store.record_key_use(fresh)
    touched = await store.get_key("k1")
    assert touched is not None and touched.used is not None
    await store.record_key_use(touched)
    assert await store.get_key("k1") == touched  # to the minute
    # What is used is added up and no sum is seen twice.
    sums = await asyncio.gather(*(store.count_requests("key:ann", 1) for _ in range(20)))
    assert sorted(one.day_requests for one in sums) == list(range(1, 21))
    assert (await store.get_usage("key:ann")).day_requests == 20
    assert (await store.get_usage("key:bob")).day_requests == 0


async def test_verified_answers_put_at_once_are_all_kept(store: Store) -> None:
    many = [replace(MOONS, id=f"v{at}", question=f"Question {at}?") for at in range(20)]
    await asyncio.gather(*map(store.put_verified, many))
    assert {one.id for one in await store.list_verified("space")} == {one.id for one in many}
    assert await store.get_verified_version("space") == 20


async def test_keys_are_kept_with_all_they_allow(store: Store) -> None:
    limited = KeyRow(
        "k1", "phone", "d1", frozenset({"ask", "query"}), frozenset({"space"}),
        LimitOverrides(60, 2, None, 1.5),
    )  # fmt: skip
    free = KeyRow("k2", "admin", "d2", frozenset({"admin"}), expires=get_timestamp_before(1))
    await store.add_key(free)
    await store.add_key(limited)
    assert await store.get_key("k1") == limited
    assert await store.revoke_key("k2") and not await store.revoke_key("k2")
    assert {one.id for one in await store.list_keys()} == {"k1", "k2"} and await store.get_key(
        "k3"
    ) is None
    revoked = await store.get_key("k2")
    assert revoked is not None and revoked.revoked is not None


async def test_runs_of_processes_that_ended(store: Store) -> None:
    # What a silent process did is handed back.
    await store.record_heartbeat("dead")
    await store.record_heartbeat("alive")
    await store.record_heartbeat("alive")
    for process in ("dead", "alive", ""):
        run = RunRow(generate_id(), "user:ann", "?", ("space",), "graph-search", process=process)
        await store.begin_run(run)
        await store.put_job(JobRow(f"job of {process}", "user:ann", "add", "g", process=process))
    assert (
        await store.list_live_processes() == ["alive", "dead"]
        and await store.hand_back_orphans() == ()
    )
    await asyncio.sleep(1.1)
    await store.record_heartbeat("alive")
    given = await store.hand_back_orphans(max_silence=1.0)
    assert await store.list_live_processes() == ["alive"] and set(given) == {
        "job of dead",
        "job of ",
    }
    states = {one.process: one.state for one in await store.list_runs("user:ann")}
    assert states == {"dead": "handed_back", "": "handed_back", "alive": "queued"}


async def test_a_process_that_leaves_hands_its_runs_back_at_once(store: Store) -> None:
    await store.record_heartbeat("p1")
    run = RunRow(generate_id(), "user:ann", "?", ("space",), "graph-search", process="p1")
    await store.begin_run(run)
    await store.remove_process("p1")
    found = await store.get_run(run.id)
    assert (
        found is not None
        and found.state == "handed_back"
        and await store.list_live_processes() == []
    )
    assert await store.finish_run(run.id, "done", answer={})  # it came after all


async def test_a_job_is_kept_as_it_goes_on_and_ends_once(store: Store) -> None:
    job = JobRow("j1", "user:ann", "add", "rocks", about={"url": "http://example.org/"})
    assert await store.put_job(job)
    going = replace(job, state="running", progress={"triples": 5}, process="p1")
    assert await store.put_job(going)
    assert await store.request_cancel(jobs, "j1") and await store.is_job_cancelled("j1")
    assert await store.put_job(replace(going, state="failed", problem={"title": "no RDF"}))
    assert not await store.put_job(going)
    found = await store.get_job("j1")
    assert found is not None
    assert (found.state, found.problem, found.progress) == (
        "failed",
        {"title": "no RDF"},
        {"triples": 5},
    )
    assert [one.id for one in await store.list_jobs("user:ann")] == ["j1"]
    assert await store.list_jobs("user:bob") == [] and not await store.request_cancel(jobs, "j1")
    assert not await store.is_job_cancelled("j2")
