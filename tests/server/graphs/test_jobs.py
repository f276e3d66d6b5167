"""Jobs at their ends: stopped too late, cleared away, refused for there are too many."""

import asyncio
import io
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from askgraph.atomic_files import lock_file
from askgraph.errors import SetupError
from askgraph.server.auth import CallerLimits, NotAllowedError, Principal
from askgraph.server.graphs import uploads
from askgraph.server.graphs.jobs import NewGraph, check_graph_limit
from askgraph.server.hub import open_hub
from askgraph.server.settings import ServeSettings
from askgraph.workspace import Workspace

ANN = Principal("user:ann", "ann", frozenset({"manage"}), limits=CallerLimits(graphs=2))
MOON = b"<http://e.org/io> <http://e.org/orbits> <http://e.org/jupiter> .\n"


async def test_jobs_that_end_early(tmp_path: Path) -> None:
    # A job that is stopped while it ends is kept as it ended.
    new = NewGraph("large", "upload", ())
    folder = uploads.get_upload_folder(tmp_path, new.job)
    sent = [uploads.ReceivedFile("moons.nt", io.BytesIO(MOON + b"#" * 2**21))]
    async with open_hub(ServeSettings(upload_mb=1), Workspace(tmp_path)) as hub:
        with lock_file(
            tmp_path / "uploads" / ".locks" / "large"
        ):  # what it leaves cannot be cleared
            await hub.jobs.begin(new, ANN, lambda: uploads.store_files(sent, folder))
            while (await hub.jobs.load_view(new.job, ANN)).state != "failed":  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            stops = [asyncio.create_task(hub.jobs.cancel(new.job, ANN)) for _ in range(2)]
            await asyncio.sleep(0.05)
        await asyncio.gather(*stops)
        row = await hub.store.get_job(new.job)
    assert row and row.state == "failed" and not folder.exists()
    # A graph beyond the limit is refused before it is sent.
    path = tmp_path / "moons.nt"
    path.write_bytes(MOON)
    workspace = Workspace(tmp_path)
    for name in ("a", "b"):
        workspace.add(name, [path], settings={"added_by": ANN.id})
    async with open_hub(ServeSettings(), workspace) as hub:
        with pytest.raises(NotAllowedError, match="2 graphs"):
            hub.jobs.check("c", ANN)


async def test_a_job_is_cancelled_while_its_files_are_stored(tmp_path: Path) -> None:
    new = NewGraph("moons", "upload", ())
    is_storing, may_store = threading.Event(), threading.Event()

    def store() -> Sequence[Path]:
        is_storing.set()
        may_store.wait(20)
        folder = uploads.get_upload_folder(tmp_path, new.job)
        return uploads.store_files([uploads.ReceivedFile("moons.nt", io.BytesIO(MOON))], folder)

    async with open_hub(ServeSettings(), Workspace(tmp_path)) as hub:
        begun = asyncio.create_task(hub.jobs.begin(new, ANN, store))
        await asyncio.to_thread(is_storing.wait, 20)
        assert [job.graph for job in await hub.jobs.list_jobs(ANN)] == ["moons"]
        assert (await hub.jobs.cancel(new.job, ANN)).state == "cancelled"
        with pytest.raises(SetupError, match="exists already"):  # until it has cleared away
            hub.jobs.check("moons", ANN)
        may_store.set()
        assert (await begun).state == "cancelled"
        assert [job.state for job in await hub.jobs.list_jobs(ANN)] == ["cancelled"]
        hub.jobs.check("moons", ANN)
        # One that is cancelled before its task begins ends too.
        late = NewGraph("comets", "upload", ())
        await hub.jobs.begin(late, ANN, lambda: [])
        assert (await hub.jobs.cancel(late.job, ANN)).state == "cancelled"
        row = await hub.store.get_job(late.job)
        assert row and row.state == "cancelled"
    assert not uploads.get_upload_folder(tmp_path, new.job).exists()
    assert Workspace(tmp_path).graphs() == {}


def test_the_uploads_and_the_number_of_graphs(tmp_path: Path) -> None:
    # A graph that came to be of the uploads of a job goes with them.
    workspace = Workspace(tmp_path)
    path = uploads.get_upload_folder(tmp_path, "job") / "01.nt"
    path.parent.mkdir(parents=True)
    path.write_bytes(MOON)
    workspace.add("moons", [path])
    other = uploads.get_upload_folder(tmp_path, "other")
    other.mkdir()
    uploads.remove_graph(workspace, "moons", "other")
    assert (list(workspace.graphs()), path.exists(), other.exists()) == (["moons"], True, False)
    uploads.remove_graph(workspace, "moons", "job")
    assert (list(workspace.graphs()), path.exists()) == ([], False)
    assert not workspace.get_data_folder("moons").exists()
    # A caller adds so many graphs and no more.
    check_graph_limit(ANN, ["user:ann", "user:bob", "", "visitor:1"])
    with pytest.raises(NotAllowedError, match="graphs_per_caller"):
        check_graph_limit(ANN, ["user:ann", "user:ann"])
    check_graph_limit(Principal("user:ann", "ann", frozenset({"admin"})), ["user:ann"] * 9)
    visitor = Principal(
        "visitor:3", "anonymous", frozenset({"manage"}), limits=CallerLimits(graphs=2)
    )
    with pytest.raises(NotAllowedError):
        check_graph_limit(visitor, ["visitor:1", "anonymous"])
    check_graph_limit(visitor, ["", "user:ann", "visitor:1"])
