"""The process that adds a graph is bounded, knows no secrets, and ends with the server."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.servers import faults
from tests.servers.sparql import SparqlServer

from askgraph.errors import AskgraphError, ServiceError, TimedOut
from askgraph.server.graphs.worker import Doing, Task, add_in_process
from askgraph.workspace import Workspace


def children() -> set[int]:
    found = Path("/proc/self/task").glob("*/children")
    return {int(pid) for file in found for pid in file.read_text().split()}


def told_of(process: int) -> bytes:
    """What a process was started with: its environment and its arguments."""
    place = Path(f"/proc/{process}")
    return (place / "environ").read_bytes() + (place / "cmdline").read_bytes()


async def worker_of(task: "asyncio.Task[object]", before: set[int]) -> int:
    """The process id of a worker, once it asks the endpoint."""
    for _ in range(300):
        if (new := children() - before) and not task.done():
            return new.pop()
        await asyncio.sleep(0.05)
    raise AssertionError("no worker came")


@pytest.fixture
def silent(sparql_server: SparqlServer) -> SparqlServer:
    sparql_server.always = faults.silence()
    return sparql_server


async def test_what_takes_too_long_is_stopped(silent: SparqlServer, tmp_path: Path) -> None:
    before = children()
    with pytest.raises(TimedOut, match="was stopped after"):
        await add_in_process(Task(tmp_path, "slow", [silent.url], seconds=0.5), lambda _: None)
    assert children() <= before


async def test_a_worker_that_is_killed_is_no_success(silent: SparqlServer, tmp_path: Path) -> None:
    before = children()
    work = asyncio.ensure_future(
        add_in_process(Task(tmp_path, "killed", [silent.url]), lambda _: None)
    )
    os.kill(await worker_of(work, before), signal.SIGTERM)
    with pytest.raises(ServiceError, match="ended by a bug"):
        await work
    assert Workspace(tmp_path).graphs() == {}


async def test_who_stops_waiting_leaves_no_process(silent: SparqlServer, tmp_path: Path) -> None:
    before = children()
    work = asyncio.ensure_future(
        add_in_process(Task(tmp_path, "left", [silent.url]), lambda _: None)
    )
    worker = await worker_of(work, before)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert worker not in children()


async def test_a_worker_has_no_secrets_of_the_server(
    silent: SparqlServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "s3cr3tvalue")
    before = children()
    work = asyncio.ensure_future(
        add_in_process(Task(tmp_path, "bare", [silent.url]), lambda _: None)
    )
    worker = await worker_of(work, before)
    told = told_of(worker)
    work.cancel()
    await asyncio.wait([work])
    assert b"PATH=" in told
    assert b"s3cr3t" not in told


def test_a_worker_ends_with_the_server(silent: SparqlServer, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "askgraph.server.graphs.worker"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as worker:  # fmt: skip
        assert worker.stdin
        assert worker.stdout
        worker.stdin.write(Task(tmp_path, "orphan", [silent.url]).line())
        worker.stdin.flush()
        assert b"doing" in worker.stdout.readline()
        worker.stdin.close()
        assert worker.wait(60) == 0


async def test_progress_is_told_on_the_way(tmp_path: Path) -> None:
    file = tmp_path / "many.nt"
    file.write_text("".join(f"<http://e.org/{n}> <http://e.org/p> <http://e.org/o> .\n"
                            for n in range(3000)))  # fmt: skip
    told: list[Doing] = []
    added = await add_in_process(Task(tmp_path / "w", "many", [str(file)]), told.append)
    assert added.triples == 3000
    assert [one.doing for one in told][:1] == ["checking files"]
    assert "profiling" in {one.doing for one in told}


async def test_the_error_of_a_worker_is_raised_here_as_what_it_is(tmp_path: Path) -> None:
    file = tmp_path / "wrong.ttl"
    file.write_text("this is no Turtle")
    with pytest.raises(AskgraphError, match=r"wrong\.ttl, line 1"):
        await add_in_process(Task(tmp_path / "w", "wrong", [str(file)]), lambda _: None)
