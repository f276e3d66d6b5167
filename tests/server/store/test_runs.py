"""Sessions and runs: kept, listed, finished once, deleted, shared, cancelled."""

import asyncio
from dataclasses import replace
from datetime import datetime

from askgraph.server.store import Store
from askgraph.server.store.tables import (
    Feedback,
    RunRow,
    SessionRow,
    generate_id,
    get_timestamp,
    runs,
    sessions,
)

ASKED = RunRow(
    "", "visitor:ann", "Which moons does JUPITER have?", ("space", "rocks"), "graph-search",
    language="en", model="small", settings={"states": 100}, after="earlier",
)  # fmt: skip


async def asked(store: Store, **different: object) -> RunRow:
    run = replace(ASKED, id=generate_id(), created=get_timestamp(), **different)  # type: ignore[arg-type]
    assert await store.begin_run(run)
    return run


async def test_one_run(store: Store) -> None:
    # A run is read back as it was asked.
    run = await asked(store)
    assert await store.get_run(run.id) == run and await store.get_run("another") is None
    # A run keeps how it ended and its trace.
    run = await asked(store)
    trace = '{"step": "Ío"}\n' * 100_000
    assert await store.start_run(run.id, "p1")
    assert await store.finish_run(
        run.id, "done", status="answer", answer={"rows": [["Ío", None, 1.5]] * 3}, trace=trace,
        seconds=0.25, tokens=12, money=0.5,
    )  # fmt: skip
    found = await store.get_run(run.id)
    assert found is not None and found.finished is not None
    assert found.answer == {"rows": [["Ío", None, 1.5]] * 3}
    assert (found.state, found.status, found.seconds) == ("done", "answer", 0.25)
    assert (found.tokens, found.money, found.process) == (12, 0.5, "p1")
    assert await store.get_trace(run.id) == trace
    # A run that failed keeps the problem and has no answer.
    run = await asked(store)
    await store.finish_run(run.id, "failed", problem={"title": "too slow"})
    found = await store.get_run(run.id)
    assert found is not None
    assert (found.state, found.answer, found.problem) == ("failed", None, {"title": "too slow"})
    assert await store.get_trace(run.id) is None
    # A run ends once.
    run = await asked(store)
    assert await store.finish_run(run.id, "cancelled")
    assert not await store.finish_run(run.id, "done", answer={})
    assert not await store.start_run(run.id, "p1")
    found = await store.get_run(run.id)
    assert found is not None and found.state == "cancelled"


async def test_histories_and_sessions(store: Store) -> None:
    # Runs are listed for their owner alone the latest first.
    first, second = await asked(store), await asked(store)
    await asked(store, owner="key:bob")
    assert [run.id for run in await store.list_runs("visitor:ann")] == [second.id, first.id]
    assert [run.id for run in await store.list_runs("visitor:ann", limit=1)] == [second.id]
    before = datetime.fromisoformat(second.created)
    assert [run.id for run in await store.list_runs("visitor:ann", before=before)] == [first.id]
    # A session is deleted with its runs and their feedback.
    session = SessionRow(generate_id(), "user:ann")
    await store.add_session(session)
    run = await asked(store, owner="user:ann", session=session.id)
    await store.put_feedback(Feedback(run.id, "user:ann", "right"))
    assert await store.delete_row(sessions, session.id) and await store.get_run(run.id) is None
    assert await store.list_feedback(run.id) == [] and not await store.delete_row(
        sessions, session.id
    )
    # All that an owner left is deleted and nothing else.
    await store.add_session(SessionRow("s", "user:ann"))
    await asked(store, owner="user:ann", session="s")
    kept = await asked(store, owner="user:bob")
    assert await store.delete_runs("user:ann") == 1
    assert await store.list_runs("user:ann") == [] and await store.get_session("s") is None
    assert await store.get_run(kept.id) == kept
    assert await store.delete_row(runs, kept.id) and not await store.delete_row(runs, kept.id)
    # A run is shared and no longer.
    run = await asked(store)
    for wanted in (True, False):
        assert await store.update_row(runs, run.id, shared=wanted)
        found = await store.get_run(run.id)
        assert found is not None and found.shared is wanted
    assert not await store.update_row(runs, "another", shared=True)
    # A process learns which of its runs to stop.
    mine, other = await asked(store, process="p1"), await asked(store, process="p2")
    await asked(store, process="p1")
    assert await store.request_cancel(runs, mine.id) and await store.request_cancel(runs, other.id)
    assert await store.cancel_wanted("p1") == [mine.id]
    await store.finish_run(mine.id, "cancelled")
    assert await store.cancel_wanted("p1") == [] and not await store.request_cancel(runs, mine.id)


async def test_history_is_searched_without_regard_to_case_and_without_wildcards(
    store: Store,
) -> None:
    jupiter = await asked(store)
    odd = await asked(store, question="Wie groß ist ÄTNA zu 100 %?")
    assert [run.id for run in await store.list_runs("visitor:ann", search="jupiter")] == [
        jupiter.id
    ]
    assert [run.id for run in await store.list_runs("visitor:ann", search="ätna")] == [odd.id]
    assert [run.id for run in await store.list_runs("visitor:ann", search="100 %?")] == [odd.id]
    assert await store.list_runs("visitor:ann", search="j%r") == []


async def test_a_session_counts_its_runs_and_is_changed_by_them(store: Store) -> None:
    older, newer = (
        SessionRow(generate_id(), "user:ann"),
        SessionRow(generate_id(), "user:ann", "Newer"),
    )
    await store.add_session(older)
    await store.add_session(newer)
    assert [one.id for one in await store.list_sessions("user:ann")] == [newer.id, older.id]
    run = await asked(store, owner="user:ann", session=older.id)
    listed = await store.list_sessions("user:ann")
    assert [(one.id, one.runs) for one in listed] == [(older.id, 1), (newer.id, 0)]
    assert [one.id for one in await store.list_runs("user:ann", session=older.id)] == [run.id]
    assert await store.list_sessions("user:bob") == []


async def test_an_owner_has_no_more_runs_under_way_than_allowed(store: Store) -> None:
    async def ask(owner: str) -> bool:
        return await store.begin_run(replace(ASKED, id=generate_id(), owner=owner), limit=3)

    assert sum(await asyncio.gather(*(ask("key:ann") for _ in range(20)))) == 3
    assert await ask("key:bob")
    first = (await store.list_runs("key:ann"))[0]
    await store.finish_run(first.id, "done")
    assert await ask("key:ann") and not await ask("key:ann")
