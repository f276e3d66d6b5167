"""Addresses of databases, and what happens where one does not do its part."""

import asyncio
import os
import random
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.each import for_each

from askgraph.errors import SetupError
from askgraph.server.store import Store
from askgraph.server.store.database import DatabaseError, parse_database_url
from askgraph.server.store.tables import RunRow, generate_id

WRITING = """
import asyncio, itertools, sys
from askgraph.server.store import Store
from askgraph.server.store.tables import Feedback, RunRow, VerifiedAnswer, generate_id

async def write(store, worker):
    for at in itertools.count():
        id = f"{worker}-{at}"
        await store.begin_run(RunRow(id, "user:ann", "?", ("space",), "graph-search"))
        await store.finish_run(id, "done", answer={"at": at}, trace="t" * 1000)
        await store.put_feedback(Feedback(id, "user:ann", "right"))
        await store.put_verified(
            VerifiedAnswer(id, "space", f"Question {id}?", "ASK {}", "user:ann", 1, run=id)
        )
        print(id, flush=True)

async def main():
    store = await Store.open(sys.argv[1])
    await asyncio.gather(*(write(store, worker) for worker in range(4)))

asyncio.run(main())
"""


async def test_kills_and_missing_servers(made: str) -> None:
    # What was acknowledged survives kill 9.
    ids = await asyncio.to_thread(_acknowledged_until_killed, made)
    assert len(ids) >= 25
    store = await Store.open(made)
    verified = {one.run for one in await store.list_verified("space")}
    for id in ids:
        run = await store.get_run(id)
        assert run is not None and run.answer == {"at": int(id.split("-")[1])}
        assert await store.get_trace(id) == "t" * 1000
        assert [one.verdict for one in await store.list_feedback(id)] == [
            "right"
        ] and id in verified
    await store.close()
    # A server that is not there is an error without the password.
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(DatabaseError, match="failed: ") as caught:
        await Store.open(f"postgresql://ann:secret@127.0.0.1:{port}/askgraph")
    assert "secret" not in str(caught.value)


async def test_callers_that_vanish_in_the_middle_leave_no_harm(store: Store) -> None:
    chance = random.Random(7)
    ids = [generate_id() for _ in range(60)]

    async def begin(id: str) -> bool:
        return await store.begin_run(RunRow(id, "user:ann", "?", ("space",), "graph-search"))

    tasks = [asyncio.create_task(begin(id)) for id in ids]
    for task in tasks:
        asyncio.get_running_loop().call_later(chance.random() / 5, task.cancel)
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    there = {run.id for run in await store.list_runs("user:ann", limit=100)}
    assert {id for id, end in zip(ids, ended, strict=True) if end is True} <= there
    assert all(await asyncio.gather(*map(begin, [generate_id() for _ in range(30)])))


@for_each(
    ("text", "driver"),
    ("serve.db", "sqlite"),
    ("sqlite:////var/lib/askgraph/server.db", "sqlite"),
    ("postgres://ann:pw@db/askgraph", "postgresql+asyncpg"),
    ("postgresql://ann:pw@db:5433/askgraph?sslmode=require", "postgresql+asyncpg"),
)
def test_a_database_is_named_by_a_file_or_an_address(text: str, driver: str) -> None:
    url = parse_database_url(text)
    assert url.drivername == driver and "sslmode" not in url.query


def test_encryption_is_asked_for_in_the_drivers_words() -> None:
    assert parse_database_url("postgresql://db/a?sslmode=require").query == {"ssl": "require"}


@for_each("text", ["mysql://db/askgraph", "sqlite://", "sqlite:///:memory:", "://"])
def test_other_databases_are_refused_with_words(text: str) -> None:
    with pytest.raises(SetupError, match="postgresql://user:password@host/name"):
        parse_database_url(text)


async def test_files_of_databases(tmp_path: Path) -> None:
    # A file that is no database is refused.
    (tmp_path / "notes.txt").write_text("not a database " * 100)
    for path in (tmp_path / "notes.txt", tmp_path):
        with pytest.raises(SetupError, match="cannot be opened"):
            await Store.open(str(path))
    # Nobody else on the machine reads the file.
    before = os.umask(0o022)
    try:
        store = await Store.open(str(tmp_path / "new" / "serve.db"))
        await store.record_heartbeat("p1")
        modes = {
            path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "new").iterdir()
        }
        await store.close()
    finally:
        os.umask(before)
    assert set(modes.values()) == {0o600}, modes


def _acknowledged_until_killed(url: str) -> list[str]:
    command = [sys.executable, "-c", WRITING, url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(25)]
        process.send_signal(signal.SIGKILL)
        lines += process.stdout.readlines()
    return [line.strip() for line in lines if line.endswith("\n")]
