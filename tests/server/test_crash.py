"""What was acknowledged is there after kill -9, in the middle of work; what was half done goes."""

import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
from tests.servers.served import ServedProcess, sample_workspace, upload

from askgraph.server.auth.identify import generate_visitor

VISITOR = {"askgraph_visitor": generate_visitor()}
WORKERS = 6
ENOUGH = 40


@dataclass
class Acknowledged:
    """What the server said it has."""

    runs: set[str] = field(default_factory=set)
    feedback: set[str] = field(default_factory=set)
    confirmed: set[str] = field(default_factory=set)
    enough: threading.Event = field(default_factory=threading.Event)

    @property
    def all(self) -> int:
        return len(self.runs) + len(self.feedback) + len(self.confirmed)


def work(url: str, name: int, known: Acknowledged) -> None:
    """Ask, judge and confirm until the server is gone."""
    with httpx2.Client(base_url=url, cookies=VISITOR, timeout=30) as client:
        for number in range(10_000):
            question = f"Which moons are larger than {number} km and {name} km?"
            try:
                id = client.post("/api/v1/ask", json={"question": question}).json()["id"]
                known.runs.add(id)
                said = client.post(f"/api/v1/runs/{id}/feedback", json={"verdict": "right"})
                if said.status_code == 200:
                    known.feedback.add(id)
                if client.post(f"/api/v1/runs/{id}/confirm", json={}).status_code == 200:
                    known.confirmed.add(id)
            except httpx2.TransportError:
                return
            if known.all >= ENOUGH:
                known.enough.set()


def test_nothing_acknowledged_is_lost_by_a_kill(tmp_path: Path) -> None:
    sample_workspace(tmp_path)
    known = Acknowledged()
    with ServedProcess.start(tmp_path) as served, ThreadPoolExecutor(WORKERS) as pool:
        working = [pool.submit(work, served.url, name, known) for name in range(WORKERS)]
        assert known.enough.wait(120)
        served.kill()
        for one in working:
            one.result(timeout=600)
    assert known.confirmed
    with (
        ServedProcess.start(tmp_path) as again,
        httpx2.Client(base_url=again.url, cookies=VISITOR, timeout=30) as client,
    ):
        for id in known.runs:
            run = client.get(f"/api/v1/runs/{id}").json()
            assert run["state"] == "done", run
            assert run["verified"] or id not in known.confirmed
            assert run["feedback"] or id not in known.feedback


def test_uploads_of_a_server_that_was_killed_are_cleared_by_the_next(tmp_path: Path) -> None:
    sample_workspace(tmp_path)
    uploads = tmp_path / "uploads"
    triples = b"".join(b"<http://e/a> <http://e/b> %d .\n" % at for at in range(200_000))
    with ServedProcess.start(tmp_path) as served:
        with httpx2.Client(base_url=served.url, timeout=600) as client:
            job = upload(client, "more", ("more.nt", triples)).json()["id"]
        served.kill()
    assert (uploads / job).is_dir()
    with sqlite3.connect(tmp_path / "serve.db") as store:  # it is taken for dead after 30 seconds
        assert store.execute("UPDATE processes SET beat = '2020'").rowcount == 1
    with ServedProcess.start(tmp_path):
        until = time.monotonic() + 30
        while (uploads / job).exists() and time.monotonic() < until:
            time.sleep(0.1)
    assert not (uploads / job).exists()
