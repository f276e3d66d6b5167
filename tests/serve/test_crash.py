"""What was acknowledged is there after kill -9, in the middle of work."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
from tests.servers.served import ServedProcess, sample_workspace

from askgraph.serve.identity.identify import new_visitor

VISITOR = {"askgraph_visitor": new_visitor()}
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
                kept = client.post(f"/api/v1/runs/{id}/confirm", json={})
                if kept.status_code == 200:
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
            one.result(timeout=60)
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
