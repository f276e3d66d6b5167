"""`askgraph metadata`: what is known of a graph, from the command line."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, Store
from tests.cli.running import Done, askgraph
from tests.each import for_each
from tests.graphs import store_of
from tests.servers import faults
from tests.servers.capped import CappedServer
from tests.servers.described import DescribedServer

from askgraph.graph.glossary import add_note
from askgraph.sample import graph_path
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

MOONS = """
@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Io a :Moon ; rdfs:label "Io"@en ; :orbits :Jupiter ; :radius 1821.6 .
:Phobos a :Moon ; rdfs:label "Phobos"@en ; :orbits :Mars ; :radius 11.2667 .
:Jupiter a :Planet ; rdfs:label "Jupiter"@en . :Mars a :Planet ; rdfs:label "Mars"@en .
"""
VOID = """
@prefix : <http://example.org/> . @prefix void: <http://rdfs.org/ns/void#> .
:d void:triples 99 ; void:classes 1 ; void:classPartition [ void:class :Comet ; void:entities 9 ] .
"""
SHACL = """
@prefix : <http://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
:S sh:targetClass :Moon ; sh:property [ sh:path :orbits ; sh:class :Planet ; sh:minCount 1 ] .
"""
PAGE = """<script type="application/ld+json">
{"@context": "https://schema.org/", "@type": "Dataset", "name": "Moons", "description": "All."}
</script>"""


@pytest.fixture(scope="module")
def server() -> Iterator[DescribedServer]:
    store = store_of(MOONS)
    documents = {
        "/.well-known/void": ("text/turtle", VOID),
        "/home": ("text/html", f"<html>{PAGE}</html>"),
    }
    with DescribedServer(store, documents) as server:
        yield server


@pytest.fixture
def sample() -> Store:
    store = Store()
    store.bulk_load(graph_path().read_bytes(), RdfFormat.TURTLE)
    return store


@pytest.fixture
def place(tmp_path: Path, server: DescribedServer) -> Path:
    (tmp_path / "moons.ttl").write_text(MOONS)
    Workspace(tmp_path).add("moons", [tmp_path / "moons.ttl"])
    Workspace(tmp_path).add("far", [server.url])
    return tmp_path


def run(place: Path, *words: object) -> Done:
    return askgraph("metadata", *words, workspace=place, folder=place)


@pytest.mark.parametrize("graph", ["moons", "far"])
def test_show_writes_shapes(place: Path, graph: str) -> None:
    done = run(place, "show", graph, "Moon")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert any(line.startswith("# 2 instances") for line in lines)
    row = next(line for line in lines if ":orbits" in line)
    assert "{ a [ " in row and row.endswith((":Jupiter", ":Mars"))


def test_showing_and_fetching(place: Path, server: DescribedServer) -> None:
    # Show as json has shares and counts.
    (shape,) = json.loads(run(place, "show", "moons", "http://example.org/Moon", "--json").stdout)
    orbits = next(x for x in shape["lines"] if x["predicate"] == "http://example.org/orbits")
    assert (orbits["share"], orbits["triples"], orbits["inverse"]) == (1.0, 2, False)
    # A class that is not there is told with a near one.
    done = run(place, "show", "moons", "Mon")
    assert done.returncode == 2 and "did you mean 'moon'" in done.stderr
    # Shacl in a file is shown.
    (place / "shapes.ttl").write_text(SHACL)
    assert ":orbits { a [ :Planet ] } +" in run(place, "show", "shapes.ttl").stdout
    # Completeness tells each part.
    done = run(place, "completeness", "moons")
    assert done.returncode == 0, done.stderr
    figures = json.loads(run(place, "completeness", "moons", "--json").stdout)
    assert {part["name"]: part["share"] for part in figures["completeness"]}["partitions"] == 1.0
    # What is incomplete has an exit code.
    (place / "void.ttl").write_text(VOID)
    done = run(place, "completeness", "void.ttl")
    assert done.returncode == 1 and done.stdout.startswith("99 triples, 1 classes")
    # Profile asks an endpoint and writes void.
    done = run(place, "profile", server.url, "--out", "void.ttl", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["triples"] == 12
    assert run(place, "completeness", "void.ttl").returncode == 0
    # Fetch completes the profile of a graph.
    before = Workspace(place).load_profile("far")
    done = run(place, "fetch", "far")
    after = Workspace(place).load_profile("far")
    assert done.returncode == 0, done.stderr
    assert "well-known: 1 classes, 0 predicates" in done.stdout and after.triples == before.triples
    assert {c.iri for c in after.classes} - {c.iri for c in before.classes} == {
        "http://example.org/Comet"
    }


def test_fetching_descriptions(place: Path, server: DescribedServer) -> None:
    # Fetch reads the description of a page.
    page = server.url.replace("/sparql", "/home")
    done = run(place, "fetch", server.url, "--page", page, "--json")
    (described,) = json.loads(done.stdout)["descriptions"]
    assert (described["name"], described["description"]) == ("Moons", "All.")
    # A description is kept with its graph and shown.
    done = run(place, "fetch", "moons", "--page", server.url.replace("/sparql", "/home"))
    assert done.returncode == 0, done.stderr
    graph = Workspace(place).graph("moons")
    run_coroutine(graph.endpoint.close())
    assert [one.name for one in graph.descriptions] == ["Moons"]
    assert run(place, "show", "moons").stdout.startswith("# Dataset Moons: All.\n")
    Workspace(place).remove("moons")
    assert not Workspace(place).get_description_file("moons").exists()
    # Without a page that of the endpoint is read.
    server.documents = {**server.documents, "/": ("text/html", PAGE)}
    done = run(place, "fetch", "far", "--json")
    assert [one["name"] for one in json.loads(done.stdout)["descriptions"]] == ["Moons"]


def test_a_description_that_is_broken_says_where(place: Path) -> None:
    file = Workspace(place).get_description_file("moons")
    file.parent.mkdir()
    file.write_text('{"@type": ')
    done = run(place, "show", "moons")
    assert done.returncode == 2 and str(file) in done.stderr and "is invalid" in done.stderr


def test_interrupted_and_refused_profiles(place: Path, sample: Store) -> None:
    # Killed and started again profiling goes on.
    with CappedServer(sample, cap=300) as server:
        started = subprocess.Popen(
            [sys.executable, "-m", "askgraph", "metadata", "profile", server.url],
            env={**os.environ, "ASKGRAPH_WORKSPACE": str(place)},
        )
        server.always = faults.slow_first_byte(0.1)
        while len(server.requests) < 8 and started.poll() is None:
            time.sleep(0.01)
        started.kill()
        assert started.wait() == -signal.SIGKILL
        server.always = None
        first = len(server.requests)
        again = run(place, "profile", server.url, "--json")
        second = len(server.requests) - first
        whole = run(place, "profile", server.url, "--json")
        third = len(server.requests) - first - second
    assert second <= third - first + 1 and _content(again.stdout) == _content(whole.stdout)
    # Fetch of a graph that lies here is refused.
    done = run(place, "fetch", "moons")
    assert done.returncode == 2 and "fully counted" in done.stderr
    # Where nothing is published the exit code is 1.
    done = run(place, "fetch", "moons.ttl")
    assert done.returncode == 1 and "file: no VoID" in done.stderr


def _content(profile: str) -> dict[str, object]:
    return {key: value for key, value in json.loads(profile).items() if key != "created"}


@for_each(
    ("words", "code", "said"),
    (["profile", "http://127.0.0.1:9/sparql"], 4, "cannot be reached"),
    (["profile", "nothing.ttl"], 2, "nothing.ttl"),
    (["fetch", "nothing.ttl"], 2, "nothing.ttl"),
    (["show", "nothing"], 2, "no graph 'nothing'"),
    (["fetch", "moons", "--page", "nothing.html"], 2, "nothing.html"),
)
def test_what_is_not_there_is_named(place: Path, words: list[str], code: int, said: str) -> None:
    done = run(place, *words)
    assert done.returncode == code and said in done.stderr and "Traceback" not in done.stderr


def test_notes_of_agents_are_listed_and_removed(tmp_path: Path) -> None:
    (tmp_path / "moons.ttl").write_text(MOONS)
    place = Workspace(tmp_path / "workspace")
    place.add("moons", [tmp_path / "moons.ttl"])
    graph = place.graph("moons")
    run_coroutine(graph.endpoint.close())
    assert graph.notes is not None
    for text, snapshot in (("One.", "before"), ("Two.", graph.snapshot), ("Three.", "before")):
        add_note(graph.notes, text, snapshot)

    def run(*words: object) -> Done:
        return askgraph("metadata", "notes", *words, workspace=place.folder, folder=tmp_path)

    listed = json.loads(run("moons", "--json").stdout)
    assert [(one["text"], one["older"]) for one in listed] == [
        ("One.", True),
        ("Two.", False),
        ("Three.", True),
    ]
    assert listed[0].keys() == {"text", "kept", "snapshot", "older"}
    assert "changed since" in run("moons").stdout
    wrong = run("moons", "--remove", 1, "--remove", 4)
    assert wrong.returncode == 2 and "there is no note 4: graph 'moons' has 3" in wrong.stderr
    assert len(json.loads(run("moons", "--json").stdout)) == 3, "then nothing is removed"
    left = run("moons", "--remove", 1, "--remove", 3, "--json")
    assert [one["text"] for one in json.loads(left.stdout)] == ["Two."]
    assert "no notes" in run("moons", "--clear").stderr
    assert run("moons", "--json").stdout.strip() == "[]"
    nowhere = run("comets")
    assert nowhere.returncode == 2 and "there is no graph 'comets'" in nowhere.stderr
