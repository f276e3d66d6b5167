"""Questions that are stopped: by their caller, by callers who vanish, by the server's own end."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.servers.faults import slow_first_byte
from tests.servers.served import ServedProcess, ServedThread
from tests.servers.sparql import SparqlServer

from askgraph.server.auth.identify import generate_visitor
from askgraph.workspace import Workspace

QUESTION = "Which moons are larger than Mercury?"


@pytest.fixture(scope="module")
def place(sample_endpoint: SparqlServer, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    workspace = Workspace(tmp_path_factory.mktemp("slow"))
    workspace.add("slow", [sample_endpoint.url], settings={"cache_mb": 0, "timeout": 120.0})
    return workspace


@pytest.fixture
def slow(sample_endpoint: SparqlServer) -> Iterator[SparqlServer]:
    sample_endpoint.always = slow_first_byte(60)
    yield sample_endpoint
    sample_endpoint.always = None


@pytest.fixture
def server(place: Workspace, slow: SparqlServer, tmp_path: Path) -> Iterator[ServedThread]:
    settings = {"patience": 0.3, "parallel": 3, "per_graph": 3, "grace": 0}
    with ServedThread(place, database=str(tmp_path / "serve.db"), **settings) as served:
        yield served


def until(true: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + 120
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def at_rest(server: ServedThread) -> bool:
    runs = server.app.state.hub.runs
    return not runs.running_count and not runs.waiting_count


def states(server: ServedThread) -> set[str]:
    with httpx2.Client(base_url=server.url, cookies=VISITOR, timeout=600) as client:
        return {run["state"] for run in client.get("/api/v1/runs?limit=200").json()["runs"]}


def read_events(response: httpx2.Response) -> Iterator[dict[str, Any]]:
    return (json.loads(line[6:]) for line in response.iter_lines() if line.startswith("data: "))


VISITOR = {"askgraph_visitor": generate_visitor()}
STREAM = {"Accept": "text/event-stream"}
ASK: dict[str, Any] = {"json": {"question": QUESTION}, "headers": STREAM}


def test_fifty_clients_that_vanish_leave_nothing_running(server: ServedThread) -> None:
    async def vanish() -> None:
        async with (
            httpx2.AsyncClient(base_url=server.url, cookies=VISITOR, timeout=600) as client,
            client.stream("POST", "/api/v1/ask", **ASK) as told,
        ):
            await anext(told.aiter_lines())

    async def all_vanish() -> None:
        await asyncio.gather(*(vanish() for _ in range(50)))

    asyncio.run(all_vanish())
    until(lambda: at_rest(server), "questions of clients that are gone still run")
    until(lambda: states(server) == {"cancelled"}, "the history does not say what became of them")


def test_stopping_and_deleting(server: ServedThread) -> None:
    # A caller stops a question.
    with httpx2.Client(base_url=server.url, cookies=VISITOR, timeout=600) as client:
        with client.stream("POST", "/api/v1/ask", **ASK) as response:
            id = next(events := read_events(response))["id"]
            cancel = f"{server.url}/api/v1/runs/{id}/cancel"
            stopped = threading.Thread(
                target=lambda: httpx2.post(cancel, cookies=VISITOR, timeout=600).raise_for_status()
            )
            stopped.start()
            assert [event["event"] for event in events][-1] == "cancelled"
            stopped.join()
        assert client.get(f"/api/v1/runs/{id}").json()["state"] == "cancelled" and at_rest(server)
        # A history deleted while a question runs leaves nothing running.
        with client.stream("POST", "/api/v1/ask", **ASK) as response:
            next(events := read_events(response))
            deleted = httpx2.delete(f"{server.url}/api/v1/runs", cookies=VISITOR, timeout=600)
            assert at_rest(server), "it goes on, and counts for nobody"
            assert [event["event"] for event in events][-1] == "cancelled"
        assert deleted.json()["deleted"] >= 1 and states(server) == set()


def test_a_server_that_ends_hands_its_questions_back(place: Workspace, slow: SparqlServer) -> None:
    settings = {"ASKGRAPH_SERVE_GRACE": "1"}
    told: list[str] = []
    slow.requests.clear()

    def listen(url: str) -> None:
        with httpx2.stream(
            "POST",
            f"{url}/api/v1/ask",
            json={"question": QUESTION},
            headers=STREAM,
            cookies=VISITOR,
            timeout=600,
        ) as response:
            told.extend(event["event"] for event in read_events(response))

    with ServedProcess.start(place.folder, env=settings) as served, ThreadPoolExecutor() as pool:
        listening = pool.submit(listen, served.url)
        until(lambda: bool(slow.requests), "the question is not asked")
        assert served.stop() == 0
        listening.result(timeout=600)
    assert told[-1] == "handed_back"
    with ServedProcess.start(place.folder) as served:
        runs = httpx2.get(f"{served.url}/api/v1/runs", cookies=VISITOR, timeout=600).json()["runs"]
    assert runs[0]["state"] == "handed_back"
