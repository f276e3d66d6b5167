"""Runs in the store."""

from pathlib import Path

from askgraph.serve.store import RunRow, SessionRow, Store, new_id


async def test_what_was_asked_and_answered_is_read_back(tmp_path: Path) -> None:
    store = await Store.open(str(tmp_path / "serve.db"))
    session = SessionRow(new_id(), "anonymous", "Moons")
    await store.add_session(session)
    run = RunRow(
        new_id(), "anonymous", "Which moons?", ("space",), "graph-search", session=session.id
    )
    assert await store.begin_run(run)
    assert await store.finish_run(run.id, "done", answer={"rows": [["Ío"]]}, trace="{}\n")
    found = await store.run(run.id)
    assert found is not None
    assert found.answer == {"rows": [["Ío"]]}
    assert await store.trace(run.id) == "{}\n"
    assert [one.question for one in await store.runs("anonymous")] == ["Which moons?"]
    kept = await store.session(session.id)
    assert kept is not None and kept.runs == 1
    await store.close()
