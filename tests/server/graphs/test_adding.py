"""Graphs are added over the web by upload and by address, and taken away again."""

import gzip
import io
import socket
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from tests.servers import faults
from tests.servers.served import ServedThread, job_ended, upload
from tests.servers.sparql import SparqlServer

from askgraph.sample import graph_path
from askgraph.workspace import Workspace

Left = Callable[[str], bool]
MOONS = b"@prefix e: <http://e.org/> . e:io a e:Moon ; e:orbits e:jupiter .\n"


def test_graphs_from_files_and_addresses(
    adding: httpx2.Client, adding_place: Workspace, sparql_server: SparqlServer
) -> None:
    # An uploaded graph can be asked.
    response = upload(adding, "space", ("space.ttl", graph_path().read_bytes()))
    assert response.status_code == 202, response.text
    job = job_ended(adding, response.json()["id"])
    assert (job["state"], job["graph"], job["kind"]) == ("done", "space", "upload")
    assert job["added"]["triples"] > 1000
    asked = {"question": "Which moons are larger than Mercury?", "graphs": ["space"]}
    run = adding.post("/api/v1/ask", json=asked).json()
    assert [row[0]["label"] for row in run["answer"]["cells"]] == ["Ganymede", "Titan"]
    assert adding_place.graphs()["space"].added_by == "anonymous"
    told = adding.get("/api/v1/graphs/space").json()
    assert told["addable_by_web"] is True and "anonymous" not in told.values()
    assert adding.post(f"/api/v1/runs/{run['id']}/confirm", json={}).json()["verified"] is True
    assert adding.delete("/api/v1/graphs/space").status_code == 204
    assert adding.get(f"/api/v1/runs/{run['id']}").json()["verified"] is False
    assert adding_place.graphs() == {} and not list((adding_place.folder / "uploads").glob("[!.]*"))
    assert adding.post("/api/v1/ask", json=asked).status_code == 404
    # Several files packed or not become one graph.
    xml = (
        b'<?xml version="1.0"?><!DOCTYPE rdf:RDF [<!ENTITY e "http://e.org/">]>'
        b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="&e;">'
        b'<rdf:Description rdf:about="&e;a"><e:p>x</e:p></rdf:Description></rdf:RDF>'
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("sales.csv", b"region,sum\nnorth,3\nsouth,4\n")
    for name, files, triples in (
        ("several", [("a.ttl", gzip.compress(MOONS)), ("a.owl", xml)], 3),
        ("rules", [("a.n3", b"@prefix : <e:> . :a :p 1 . { ?x :p ?y } => { ?y :q ?x } .")], 1),
        ("sales", [("sales.csv", b"region,sum\nnorth,3\nsouth,4\n")], 6),
        ("packed", [("sales.zip", packed.getvalue())], 6),
        ("prices", [("prices.tsv", b"item\tprice\nlamp\t3.5\n")], 3),
    ):
        response = upload(adding, name, *files)
        assert response.status_code == 202, response.text
        assert job_ended(adding, response.json()["id"])["added"]["triples"] >= triples, name
    # A graph is added by its address and stays guarded.
    response = adding.post("/api/v1/graphs", json={"name": "far", "url": sparql_server.url})
    assert response.status_code == 202, response.text
    job = job_ended(adding, response.json()["id"])
    assert (job["state"], job["kind"]) == ("done", "address")
    settings = adding_place.graphs()["far"]
    assert settings.public_only and settings.private_addresses == ("127.0.0.1",)
    sparql_server.always = faults.redirect(sparql_server.url.replace("127.0.0.1", "127.0.0.2"))
    query = {"query": "SELECT ?s { ?s a <http://example.org/Body> . FILTER(?s != ?p) }"}
    assert adding.post("/sparql/far", data=query).status_code >= 400


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"this is no RDF at all", "has an unknown file type"), (b"Rar!zip", "is an archive")],
)
def test_what_is_no_rdf_is_refused_at_once(
    adding: httpx2.Client, nothing_left: Left, content: bytes, words: str
) -> None:
    response = upload(adding, "none", ("notes.txt", content))
    assert response.status_code == 422 and words in response.json()["detail"]
    assert nothing_left("none")


def test_files_that_do_not_parse(
    adding: httpx2.Client, nothing_left: Left, adding_place: Workspace
) -> None:
    # What does not parse fails with its line and leaves nothing.
    sent = upload(adding, "wrong", ("moons.ttl", MOONS + b"and then some\n"))
    job = job_ended(adding, sent.json()["id"])
    assert job["state"] == "failed" and job["problem"]["detail"].startswith("moons.ttl, line 2")
    assert str(adding_place.folder) not in str(job) and nothing_left("wrong")
    # What is wrong with a line of megabytes is told in short.
    response = upload(adding, "long", ("moons.ttl", MOONS + b"x" * 2_000_000))
    job = job_ended(adding, response.json()["id"])
    assert (job["state"], job["problem"]["status"]) == ("failed", 422)
    assert job["problem"]["detail"].startswith("moons.ttl, line 2")
    assert len(job["problem"]["detail"]) < 1000 and nothing_left("long")


def test_jobs_that_fail_or_are_stopped(
    adding: httpx2.Client, nothing_left: Left, sparql_server: SparqlServer, adding_place: Workspace
) -> None:
    # An endpoint that fails leaves nothing.
    sparql_server.always = faults.status(404)
    response = adding.post("/api/v1/graphs", json={"name": "gone", "url": sparql_server.url})
    job = job_ended(adding, response.json()["id"])
    assert (job["state"], job["problem"]["status"]) == ("failed", 502) and nothing_left("gone")
    # A job is stopped and leaves nothing.
    sparql_server.always = faults.silence()
    id = adding.post("/api/v1/graphs", json={"name": "slow", "url": sparql_server.url}).json()["id"]
    taken = upload(adding, "slow", ("moons.ttl", MOONS))
    assert "graph 'slow' exists already" in taken.json()["detail"]
    assert adding.delete(f"/api/v1/jobs/{id}").json()["state"] == "cancelled"
    assert job_ended(adding, id)["state"] == "cancelled" and nothing_left("slow")
    # A job is told of and stopped by another process.
    sparql_server.always = faults.silence()
    id = adding.post("/api/v1/graphs", json={"name": "two", "url": sparql_server.url}).json()["id"]
    with ServedThread(adding_place) as second, second.client() as other:
        assert other.get(f"/api/v1/jobs/{id}").json()["state"] in ("queued", "running")
        other.delete(f"/api/v1/jobs/{id}")
        assert job_ended(adding, id)["state"] == "cancelled"
        assert other.get(f"/api/v1/jobs/{id}").json()["state"] == "cancelled"
    assert nothing_left("two")
    # Jobs are their owners.
    id = upload(adding, "mine", ("moons.ttl", MOONS)).json()["id"]
    job_ended(adding, id)
    assert [job["id"] for job in adding.get("/api/v1/jobs").json()["jobs"]][:1] == [id]
    visitor = {"Cookie": "askgraph_visitor=" + "0" * 32}
    for method, path in [("GET", ""), ("DELETE", ""), ("GET", "/events")]:
        reply = adding.request(method, f"/api/v1/jobs/{id}{path}", headers=visitor)
        assert reply.status_code == 404
    # Graphs of the operator are not removed over the web.
    adding_place.add("own", [graph_path()])
    assert adding.delete("/api/v1/graphs/own").status_code == 403 and "own" in adding_place.graphs()


def test_a_server_that_stops_leaves_no_half_of_a_graph(
    tmp_path: Path, sparql_server: SparqlServer
) -> None:
    sparql_server.always = faults.silence()
    place, allowed = Workspace(tmp_path), {"private_addresses": ("127.0.0.1",)}
    with ServedThread(place, **allowed) as server, server.client() as client:
        body = {"name": "half", "url": sparql_server.url}
        id = client.post("/api/v1/graphs", json=body).json()["id"]
    assert (place.graphs(), list((tmp_path / "data").glob("*half*"))) == ({}, [])
    with ServedThread(place) as server, server.client() as client:
        job = client.get(f"/api/v1/jobs/{id}").json()
    assert job["state"] == "handed_back" and "add it again" in job["problem"]["detail"]


def test_an_upload_whose_sender_left_adds_nothing(
    adding: httpx2.Client, nothing_left: Left, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="askgraph")
    files = [("files", ("a.ttl", MOONS + b"#" * 200_000))]  # its last part pauses reading
    request = adding.build_request(
        "POST", "/api/v1/graphs/upload", data={"name": "gone"}, files=files
    )
    head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    with socket.create_connection((request.url.host, request.url.port or 80)) as connection:
        connection.sendall(f"POST {request.url.path} HTTP/1.1\r\n{head}\r\n".encode())
        connection.sendall(request.read())
    deadline = time.monotonic() + 30
    while "upload" not in str([vars(record) for record in caplog.records]):
        assert time.monotonic() < deadline
    assert "failed because of a bug" not in caplog.text
    for job in adding.get("/api/v1/jobs").json()["jobs"]:
        assert job["graph"] != "gone" or job_ended(adding, job["id"])["state"] != "done"
    assert nothing_left("gone")
