"""Graphs in processes, and those that are closed when too many are open."""

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
from askgraph.server import graphs as open_graphs_module
from askgraph.server.graphs import GraphPool, VerifiedAnswers
from askgraph.server.graphs.add_worker import AddedGraphView, AddTask, JobProgress, add_in_process
from askgraph.server.settings import ServeSettings
from askgraph.workspace import Workspace


def children() -> set[int]:
    found = Path("/proc/self/task").glob("*/children")
    return {int(pid) for file in found for pid in file.read_text().split()}


def told_of(process: int) -> bytes:
    """What a process was started with: its environment and its arguments."""
    place = Path(f"/proc/{process}")
    return (place / "environ").read_bytes() + (place / "cmdline").read_bytes()


def adding(folder: Path, name: str, address: str) -> "asyncio.Task[AddedGraphView]":
    """Begin to add a graph."""
    return asyncio.ensure_future(add_in_process(AddTask(folder, name, [address]), lambda _: None))


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
        await add_in_process(AddTask(tmp_path, "slow", [silent.url], seconds=0.5), lambda _: None)
    assert children() <= before


async def test_a_worker_that_is_killed_is_no_success(silent: SparqlServer, tmp_path: Path) -> None:
    before = children()
    work = adding(tmp_path, "killed", silent.url)
    os.kill(await worker_of(work, before), signal.SIGTERM)
    with pytest.raises(ServiceError, match="crashed"):
        await work
    assert Workspace(tmp_path).graphs() == {}


async def test_waiting_for_the_process(silent: SparqlServer, tmp_path: Path) -> None:
    # Who stops waiting leaves no process.
    before = children()
    work = adding(tmp_path, "left", silent.url)
    worker = await worker_of(work, before)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert worker not in children()
    # Progress is told on the way.
    file = tmp_path / "many.nt"
    file.write_text("".join(f"<http://e.org/{n}> <http://e.org/p> <http://e.org/o> .\n"
                            for n in range(3000)))  # fmt: skip
    told: list[JobProgress] = []
    added = await add_in_process(AddTask(tmp_path / "w", "many", [str(file)]), told.append)
    assert added.triples == 3000 and [one.doing for one in told][:1] == ["checking files"]
    assert "profiling" in {one.doing for one in told}


async def test_a_worker_has_no_secrets_of_the_server(
    silent: SparqlServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "s3cr3tvalue")
    before = children()
    work = adding(tmp_path, "bare", silent.url)
    told = told_of(await worker_of(work, before))
    work.cancel()
    await asyncio.wait([work])
    assert b"PATH=" in told and b"s3cr3t" not in told


def test_a_worker_ends_with_the_server(silent: SparqlServer, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "askgraph.server.graphs.add_worker"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as worker:  # fmt: skip
        assert worker.stdin and worker.stdout
        worker.stdin.write(AddTask(tmp_path, "orphan", [silent.url]).to_line())
        worker.stdin.flush()
        assert b"doing" in worker.stdout.readline()
        worker.stdin.close()
        assert worker.wait(60) == 0


async def test_the_error_of_a_worker_is_raised_here_as_what_it_is(tmp_path: Path) -> None:
    file = tmp_path / "wrong.ttl"
    file.write_text("this is no Turtle")
    with pytest.raises(AskgraphError, match=r"wrong\.ttl, line 1"):
        await add_in_process(AddTask(tmp_path / "w", "wrong", [str(file)]), lambda _: None)


NAMES = ("a", "b", "c")


async def test_of_too_many_graphs_those_in_use_stay_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        open_graphs_module, "_STALENESS_CHECK_SECONDS", 0.0
    )  # files are looked at each time
    place = Workspace(tmp_path)
    for name in NAMES:
        file = tmp_path / f"{name}.ttl"
        file.write_text(f"<http://example.org/{name}> <http://example.org/p> 1 .", encoding="utf-8")
        place.add(name, [file])
    pool = GraphPool(place, ServeSettings(open_graphs=1, stores=1))

    async def used(name: str) -> bool:
        async with pool.lease(name, VerifiedAnswers(), "user:ann") as graph:
            await asyncio.sleep(0)
            return await graph.endpoint.ask(f"ASK {{ <http://example.org/{name}> ?p 1 }}")

    async def in_turn(first: int) -> bool:
        return all([await used(NAMES[(first + at) % 3]) for at in range(25)])

    try:
        assert all(await asyncio.gather(*map(in_turn, range(3))))
        await used("c")
        await used("a")
        assert pool.graph_names == ["a"]
    finally:
        await pool.close()
    assert not pool.graph_names
