"""TEXT2SPARQL: its published client works, and a dataset is found by its IRI or its name."""

import json
import subprocess
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each
from tests.servers.clients import clients_python

from askgraph.server.problems import NotFound
from askgraph.server.sparql import find_graph

ASK = "from text2sparql_client.commands.ask import ask_command; ask_command()"
QUESTIONS = """
dataset: {id: "https://text2sparql.aksw.org/YEAR/space/", prefix: space}
questions:
  - {id: 1, question: {en: "Which moons are larger than Mercury?"}}
  - {id: 2, question: {en: "Who discovered Titan?", de: "Wer entdeckte Titan?",
                       es: "¿Quién descubrió Titan?"}}
  - {id: 3, question: {en: "What is the capital of Mongolia?"}}
"""


@for_each(("year", "path"), ("2025", ""), ("2026", "/text2sparql"))
def test_the_published_client_gets_its_answers(
    served: str, tmp_path: Path, year: str, path: str
) -> None:
    # The description of 2026's interface has a path of its own.
    questions, answers = tmp_path / f"{year}.yml", tmp_path / f"{year}.json"
    questions.write_text(QUESTIONS.replace("YEAR", year))
    options = [f"--{name}={tmp_path / year}{name}" for name in ("answers-db", "retries-log")]

    done = subprocess.run(
        [clients_python(), "-c", ASK, questions, served + path, "-o", answers, "-r", "0", *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )

    assert done.returncode == 0, done.stderr
    found = {one["qname"]: one["query"] for one in json.loads(answers.read_text())}
    assert sorted(found) == [f"space:{name}" for name in ("1-en", "2-de", "2-en", "2-es", "3-en")]
    assert "FILTER(?diameter > ?their_diameter)" in found["space:1-en"]
    assert all("ont:discoverer" in found[f"space:2-{language}"] for language in ("en", "de", "es"))
    assert found["space:3-en"] == ""


def test_the_protocol_of_the_challenge(client: httpx2.Client) -> None:
    # The query comes with how sure it is.
    reply = client.get("/", params={"dataset": "space", "question": "Who discovered Titan?"})
    content = reply.json()
    assert content["dataset"] == "space" and content["question"] == "Who discovered Titan?"
    assert content["confidence"] > 0.8
    assert client.get(f"/api/v1/runs/{content['run']}").json()["state"] == "done"
    # Without a question the address is the page.
    assert client.get("/").headers["content-type"].startswith("text/html")
    assert client.get("/", params={"utm": "x"}).headers["content-type"].startswith("text/html")


@for_each(
    ("given", "status"),
    ({"question": "Moons?"}, 422),
    ({"dataset": "space"}, 422),
    ({"dataset": "space", "question": ""}, 422),
    ({"dataset": "https://example.org/other/", "question": "Moons?"}, 404),
)
def test_what_is_missing_is_said(client: httpx2.Client, given: dict[str, str], status: int) -> None:
    reply = client.get("/", params=given)

    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"


GRAPHS = ["products", "Space", "täst"]
CORPORATE = {year: f"https://text2sparql.aksw.org/{year}/corporate/" for year in (2025, 2026)}
DATASETS = dict.fromkeys(CORPORATE.values(), "products") | {"urn:x": "gone"}


@for_each(
    ("dataset", "graph"),
    (CORPORATE[2025], "products"),
    (CORPORATE[2026].rstrip("/"), "products"),
    ("products", "products"),
    ("https://example.org/space/", "Space"),
    ("https://example.org/space#", "Space"),
    ("https://example.org/t%C3%A4st/", "täst"),
)
def test_a_dataset_is_a_graph_by_its_iri_or_its_name(dataset: str, graph: str) -> None:
    assert find_graph(dataset, GRAPHS, DATASETS) == graph


@for_each("dataset", ["urn:x", "", "https://example.org/", "https://[/x"])
def test_a_dataset_that_is_none_says_how_to_name_one(dataset: str) -> None:
    with pytest.raises(NotFound, match=r"\[serve.datasets\]"):
        find_graph(dataset, GRAPHS, DATASETS)


@given(st.text(max_size=50))
def test_any_dataset_is_one_of_the_graphs_or_missing(dataset: str) -> None:
    with suppress(NotFound):
        assert find_graph(dataset, GRAPHS, DATASETS) in GRAPHS
