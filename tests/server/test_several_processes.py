"""Two server processes on one PostgreSQL: what is begun on one goes on on the other."""

import json
import shutil
import threading
from collections.abc import Iterator

import httpx2
import pytest
from tests.servers.faults import slow_first_byte
from tests.servers.postgres import PostgresServer
from tests.servers.served import ServedProcess
from tests.servers.sparql import SparqlServer

from askgraph.server.auth.identify import generate_visitor
from askgraph.workspace import Workspace

VISITOR = {"askgraph_visitor": generate_visitor()}
LARGER = "Which moons are larger than Mercury?"
Pair = tuple[httpx2.Client, httpx2.Client]


@pytest.fixture(scope="module")
def pair(
    sample_place: Workspace,
    sample_endpoint: SparqlServer,
    postgres: PostgresServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("pair") / "workspace"
    shutil.copytree(sample_place.folder, folder)
    Workspace(folder).add("slow", [sample_endpoint.url], settings={"cache_mb": 0, "timeout": 120.0})
    options = ("--database", postgres.database())
    with (
        ServedProcess.start(folder, *options) as one,
        ServedProcess.start(folder, *options) as other,
        httpx2.Client(base_url=one.url, cookies=VISITOR, timeout=600) as first,
        httpx2.Client(base_url=other.url, cookies=VISITOR, timeout=600) as second,
    ):
        yield first, second


def test_one_visitor_on_two_processes(pair: Pair, sample_endpoint: SparqlServer) -> None:
    # A session begun on one goes on on the other.
    first, second = pair
    session = first.post("/api/v1/sessions", json={"title": "Moons"}).json()["id"]
    body = {"question": LARGER, "graphs": ["space"], "session": session}
    id = first.post("/api/v1/ask", json=body).json()["id"]
    after = {**body, "question": "How many moons does Neptune have?", "after": id}
    run = second.post("/api/v1/ask", json=after).json()
    assert run["before"] == [{"question": LARGER}]
    view = first.get(f"/api/v1/sessions/{session}").json()
    assert [one["question"] for one in view["questions"]] == [run["question"], LARGER]
    # An answer confirmed on one is given by the other.
    first, second = pair
    body = {"question": "How many moons has Uranus got?", "graphs": ["space"]}
    id = first.post("/api/v1/ask", json=body).json()["id"]
    second.post("/api/v1/ask", json=body).raise_for_status()
    first.post(f"/api/v1/runs/{id}/confirm", json={}).raise_for_status()
    again = second.post("/api/v1/ask", json=body).json()
    assert again["answer"]["confirmed"]["question"] == body["question"]
    # A question on one is followed and stopped on the other.
    first, second = pair
    sample_endpoint.always = slow_first_byte(60)
    body, head = {"question": LARGER, "graphs": ["slow"]}, {"Accept": "text/event-stream"}
    told: list[str] = []

    def follow(id: str) -> None:
        with second.stream("GET", f"/api/v1/runs/{id}/events") as response:
            told.extend(line for line in response.iter_lines() if line.startswith("event: "))

    try:
        with first.stream("POST", "/api/v1/ask", json=body, headers=head) as response:
            lines = (line for line in response.iter_lines() if line.startswith("data: "))
            id = json.loads(next(lines)[6:])["id"]
            following = threading.Thread(target=follow, args=(id,))
            following.start()
            second.post(f"/api/v1/runs/{id}/cancel").raise_for_status()
            assert [json.loads(line[6:])["event"] for line in lines][-1] == "cancelled"
            following.join(30)
    finally:
        sample_endpoint.always = None
    assert told == ["event: cancelled"]
