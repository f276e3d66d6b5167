"""Graphs are added over the web by upload and by address, and taken away again."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.servers import faults
from tests.servers.served import ServedThread
from tests.servers.sparql import SparqlServer

from askgraph.sample import graph_path
from askgraph.workspace import Workspace

Wait = Callable[[str], dict[str, Any]]
Left = Callable[[str], bool]
MOONS = b"@prefix e: <http://e.org/> . e:io a e:Moon ; e:orbits e:jupiter .\n"


def upload(client: httpx2.Client, name: str, *files: tuple[str, bytes]) -> httpx2.Response:
    parts = [("files", (file, content)) for file, content in files]
    return client.post("/api/v1/graphs/upload", data={"name": name}, files=parts)


def test_an_uploaded_graph_can_be_asked(
    adding: httpx2.Client, ended: Wait, adding_place: Workspace
) -> None:
    sample = ("space.ttl", graph_path().read_bytes())
    response = upload(adding, "space", sample)
    assert response.status_code == 202, response.text
    job = ended(response.json()["id"])
    assert (job["state"], job["graph"], job["kind"]) == ("done", "space", "upload")
    assert job["added"]["triples"] > 1000
    asked = {"question": "Which moons are larger than Mercury?", "graphs": ["space"]}
    run = adding.post("/api/v1/ask", json=asked).json()
    answer = run["answer"]
    assert [row[0]["label"] for row in answer["cells"]] == ["Ganymede", "Titan"]
    assert adding_place.graphs()["space"].added_by == "anonymous"
    told = adding.get("/api/v1/graphs/space").json()
    assert told["addable_by_web"] is True
    assert "anonymous" not in told.values()

    assert adding.post(f"/api/v1/runs/{run['id']}/confirm", json={}).json()["verified"] is True
    assert adding.delete("/api/v1/graphs/space").status_code == 204
    assert adding.get(f"/api/v1/runs/{run['id']}").json()["verified"] is False
    assert adding_place.graphs() == {}
    assert not list((adding_place.folder / "uploads").glob("[!.]*"))
    assert adding.post("/api/v1/ask", json=asked).status_code == 404


def test_several_files_packed_or_not_become_one_graph(adding: httpx2.Client, ended: Wait) -> None:
    xml = (
        b'<?xml version="1.0"?><!DOCTYPE rdf:RDF [<!ENTITY e "http://e.org/">]>'
        b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="&e;">'
        b'<rdf:Description rdf:about="&e;a"><e:p>x</e:p></rdf:Description></rdf:RDF>'
    )
    response = upload(adding, "several", ("a.ttl", gzip.compress(MOONS)), ("a.owl", xml))
    assert ended(response.json()["id"])["added"]["triples"] == 3


def test_a_graph_is_added_by_its_address_and_stays_guarded(
    adding: httpx2.Client, ended: Wait, adding_place: Workspace, sparql_server: SparqlServer
) -> None:
    response = adding.post("/api/v1/graphs", json={"name": "far", "url": sparql_server.url})
    assert response.status_code == 202, response.text
    job = ended(response.json()["id"])
    assert (job["state"], job["kind"]) == ("done", "address")
    settings = adding_place.graphs()["far"]
    assert settings.public_only
    assert settings.private_addresses == ("127.0.0.1",)
    sparql_server.always = faults.redirect(sparql_server.url.replace("127.0.0.1", "127.0.0.2"))
    query = {"query": "SELECT ?s { ?s a <http://example.org/Body> . FILTER(?s != ?p) }"}
    assert adding.post("/sparql/far", data=query).status_code >= 400


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"this is no RDF at all", "of no known kind"),
        (b"PK\x03\x04zip", "is an archive"),
    ],
)
def test_what_is_no_rdf_is_refused_at_once(
    adding: httpx2.Client, nothing_left: Left, content: bytes, words: str
) -> None:
    response = upload(adding, "none", ("notes.txt", content))
    assert response.status_code == 422
    assert words in response.json()["detail"]
    assert nothing_left("none")


def test_what_does_not_parse_fails_with_its_line_and_leaves_nothing(
    adding: httpx2.Client, ended: Wait, nothing_left: Left, adding_place: Workspace
) -> None:
    response = upload(adding, "wrong", ("moons.ttl", MOONS + b"and then some\n"))
    job = ended(response.json()["id"])
    assert job["state"] == "failed"
    assert job["problem"]["detail"].startswith("moons.ttl, line 2")
    assert str(adding_place.folder) not in str(job)
    assert nothing_left("wrong")


def test_what_is_wrong_with_a_line_of_megabytes_is_told_in_short(
    adding: httpx2.Client, ended: Wait, nothing_left: Left
) -> None:
    response = upload(adding, "long", ("moons.ttl", MOONS + b"x" * 2_000_000))
    job = ended(response.json()["id"])
    assert (job["state"], job["problem"]["status"]) == ("failed", 422)
    assert job["problem"]["detail"].startswith("moons.ttl, line 2")
    assert len(job["problem"]["detail"]) < 1000
    assert nothing_left("long")


def test_an_endpoint_that_fails_leaves_nothing(
    adding: httpx2.Client, ended: Wait, nothing_left: Left, sparql_server: SparqlServer
) -> None:
    sparql_server.always = faults.status(404)
    response = adding.post("/api/v1/graphs", json={"name": "gone", "url": sparql_server.url})
    job = ended(response.json()["id"])
    assert (job["state"], job["problem"]["status"]) == ("failed", 502)
    assert nothing_left("gone")


def test_a_job_is_stopped_and_leaves_nothing(
    adding: httpx2.Client, ended: Wait, nothing_left: Left, sparql_server: SparqlServer
) -> None:
    sparql_server.always = faults.silence()
    id = adding.post("/api/v1/graphs", json={"name": "slow", "url": sparql_server.url}).json()["id"]
    taken = upload(adding, "slow", ("moons.ttl", MOONS))
    assert "there is a graph 'slow' already" in taken.json()["detail"]
    assert adding.delete(f"/api/v1/jobs/{id}").json()["state"] == "cancelled"
    assert ended(id)["state"] == "cancelled"
    assert nothing_left("slow")


def test_a_job_is_told_of_and_stopped_by_another_process(
    adding: httpx2.Client,
    ended: Wait,
    nothing_left: Left,
    adding_place: Workspace,
    sparql_server: SparqlServer,
) -> None:
    sparql_server.always = faults.silence()
    id = adding.post("/api/v1/graphs", json={"name": "two", "url": sparql_server.url}).json()["id"]
    with (
        ServedThread(adding_place) as second,
        httpx2.Client(base_url=second.url, timeout=60) as other,
    ):
        assert other.get(f"/api/v1/jobs/{id}").json()["state"] in ("queued", "running")
        other.delete(f"/api/v1/jobs/{id}")
        assert ended(id)["state"] == "cancelled"
        assert other.get(f"/api/v1/jobs/{id}").json()["state"] == "cancelled"
    assert nothing_left("two")


def test_a_server_that_stops_leaves_no_half_of_a_graph(
    tmp_path: Path, sparql_server: SparqlServer
) -> None:
    sparql_server.always = faults.silence()
    place, allowed = Workspace(tmp_path), {"private_addresses": ("127.0.0.1",)}
    with (
        ServedThread(place, **allowed) as server,
        httpx2.Client(base_url=server.url, timeout=60) as client,
    ):
        body = {"name": "half", "url": sparql_server.url}
        id = client.post("/api/v1/graphs", json=body).json()["id"]
    assert (place.graphs(), list((tmp_path / "data").glob("*half*"))) == ({}, [])
    with ServedThread(place) as server, httpx2.Client(base_url=server.url, timeout=60) as client:
        job = client.get(f"/api/v1/jobs/{id}").json()
    assert job["state"] == "handed_back"
    assert "add it again" in job["problem"]["detail"]


def test_jobs_are_their_owners(adding: httpx2.Client, ended: Wait) -> None:
    id = upload(adding, "mine", ("moons.ttl", MOONS)).json()["id"]
    ended(id)
    assert [job["id"] for job in adding.get("/api/v1/jobs").json()["jobs"]][:1] == [id]
    other = {"Cookie": "askgraph_visitor=" + "0" * 32}
    for method, path in [("GET", ""), ("DELETE", ""), ("GET", "/events")]:
        assert adding.request(method, f"/api/v1/jobs/{id}{path}", headers=other).status_code == 404


def test_graphs_of_the_operator_are_not_removed_over_the_web(
    adding: httpx2.Client, adding_place: Workspace
) -> None:
    adding_place.add("own", [graph_path()])
    response = adding.delete("/api/v1/graphs/own")
    assert response.status_code == 403
    assert "own" in adding_place.graphs()
