"""Results as files."""

import csv
import io

import httpx2
import pytest
from pyoxigraph import RdfFormat, parse

QUESTION = "Which moons are larger than Mercury?"


@pytest.fixture
def run(client: httpx2.Client) -> str:
    id: str = client.post("/api/v1/ask", json={"question": QUESTION}).json()["id"]
    return id


def test_all_rows_come_as_csv(client: httpx2.Client, run: str) -> None:
    file = client.get(f"/api/v1/runs/{run}/result")
    assert file.headers["content-type"].startswith("text/csv")
    assert file.headers["content-disposition"].startswith("attachment")
    rows = list(csv.reader(io.StringIO(file.text)))
    assert rows == [
        ["moon"],
        ["https://example.org/space/Ganymede"],
        ["https://example.org/space/Titan"],
    ]


def test_the_triples_behind_the_rows_come_as_turtle(client: httpx2.Client, run: str) -> None:
    file = client.get(f"/api/v1/runs/{run}/result", params={"format": "ttl"})
    triples = {str(quad.triple.subject) for quad in parse(file.content, RdfFormat.TURTLE)}
    assert "<https://example.org/space/Ganymede>" in triples
    assert "<https://example.org/space/Mercury>" in triples
    assert "@prefix space:" in file.text


def test_a_result_that_is_not_there_is_said(client: httpx2.Client) -> None:
    id = client.post("/api/v1/ask", json={"question": "Colourless green ideas?"}).json()["id"]
    missing = client.get("/api/v1/runs/nothing/result")
    assert missing.status_code == 404
    assert client.get(f"/api/v1/runs/{id}/result", params={"format": "exe"}).status_code == 422
