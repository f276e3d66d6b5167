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
from tests.graphs import store_of
from tests.servers import faults
from tests.servers.capped import CappedServer
from tests.servers.described import DescribedServer

from askgraph.graph.glossary import keep
from askgraph.sample import graph_path
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import result_of

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


def test_show_as_json_has_shares_and_counts(place: Path) -> None:
    (shape,) = json.loads(run(place, "show", "moons", "http://example.org/Moon", "--json").stdout)
    orbits = next(x for x in shape["lines"] if x["predicate"] == "http://example.org/orbits")
    assert (orbits["share"], orbits["triples"], orbits["inverse"]) == (1.0, 2, False)


def test_a_class_that_is_not_there_is_told_with_a_near_one(place: Path) -> None:
    done = run(place, "show", "moons", "Mon")
    assert done.returncode == 2
    assert "did you mean 'moon'" in done.stderr


def test_shacl_in_a_file_is_shown(place: Path) -> None:
    (place / "shapes.ttl").write_text(SHACL)
    done = run(place, "show", "shapes.ttl")
    assert ":orbits { a [ :Planet ] } +" in done.stdout


def test_completeness_tells_each_part(place: Path) -> None:
    done = run(place, "completeness", "moons")
    assert done.returncode == 0, done.stderr
    figures = json.loads(run(place, "completeness", "moons", "--json").stdout)
    assert {part["name"]: part["share"] for part in figures["completeness"]}["partitions"] == 1.0


def test_what_is_incomplete_has_an_exit_code(place: Path) -> None:
    (place / "void.ttl").write_text(VOID)
    done = run(place, "completeness", "void.ttl")
    assert done.returncode == 1
    assert done.stdout.startswith("99 triples, 1 classes")


def test_profile_asks_an_endpoint_and_writes_void(place: Path, server: DescribedServer) -> None:
    done = run(place, "profile", server.url, "--out", "void.ttl", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["triples"] == 12
    assert run(place, "completeness", "void.ttl").returncode == 0


def test_fetch_completes_the_profile_of_a_graph(place: Path) -> None:
    before = Workspace(place).profile("far")
    done = run(place, "fetch", "far")
    after = Workspace(place).profile("far")
    assert done.returncode == 0, done.stderr
    assert "well-known: 1 classes, 0 predicates" in done.stdout
    assert after.triples == before.triples
    assert {c.iri for c in after.classes} - {c.iri for c in before.classes} == {
        "http://example.org/Comet"
    }


def test_fetch_reads_the_description_of_a_page(place: Path, server: DescribedServer) -> None:
    page = server.url.replace("/sparql", "/home")
    done = run(place, "fetch", server.url, "--page", page, "--json")
    (described,) = json.loads(done.stdout)["descriptions"]
    assert (described["name"], described["description"]) == ("Moons", "All.")


def test_a_description_is_kept_with_its_graph_and_shown(
    place: Path, server: DescribedServer
) -> None:
    done = run(place, "fetch", "moons", "--page", server.url.replace("/sparql", "/home"))
    assert done.returncode == 0, done.stderr
    graph = Workspace(place).graph("moons")
    result_of(graph.endpoint.close())
    assert [one.name for one in graph.described] == ["Moons"]
    assert run(place, "show", "moons").stdout.startswith("# Dataset Moons: All.\n")
    Workspace(place).remove("moons")
    assert not Workspace(place).description("moons").exists()


def test_without_a_page_that_of_the_endpoint_is_read(place: Path, server: DescribedServer) -> None:
    server.documents = {**server.documents, "/": ("text/html", PAGE)}
    done = run(place, "fetch", "far", "--json")
    assert [one["name"] for one in json.loads(done.stdout)["descriptions"]] == ["Moons"]


def test_a_description_that_is_broken_says_where(place: Path) -> None:
    file = Workspace(place).description("moons")
    file.parent.mkdir()
    file.write_text('{"@type": ')
    done = run(place, "show", "moons")
    assert done.returncode == 2
    assert str(file) in done.stderr and "broken" in done.stderr


def test_killed_and_started_again_profiling_goes_on(place: Path, sample: Store) -> None:
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
    assert second <= third - first + 1
    assert _content(again.stdout) == _content(whole.stdout)


def _content(profile: str) -> dict[str, object]:
    return {key: value for key, value in json.loads(profile).items() if key != "created"}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["profile", "http://127.0.0.1:9/sparql"], 4, "cannot be reached"),
        (["profile", "nothing.ttl"], 2, "nothing.ttl"),
        (["fetch", "nothing.ttl"], 2, "nothing.ttl"),
        (["show", "nothing"], 2, "no graph 'nothing'"),
        (["fetch", "moons", "--page", "nothing.html"], 2, "nothing.html"),
    ],
)
def test_what_is_not_there_is_named(place: Path, words: list[str], code: int, said: str) -> None:
    done = run(place, *words)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_fetch_of_a_graph_that_lies_here_is_refused(place: Path) -> None:
    done = run(place, "fetch", "moons")
    assert done.returncode == 2
    assert "counted already" in done.stderr


def test_where_nothing_is_published_the_exit_code_is_1(place: Path) -> None:
    done = run(place, "fetch", "moons.ttl")
    assert done.returncode == 1
    assert "file: no VoID" in done.stderr


def test_notes_of_agents_are_listed_and_removed(tmp_path: Path) -> None:
    (tmp_path / "moons.ttl").write_text(MOONS)
    place = Workspace(tmp_path / "workspace")
    place.add("moons", [tmp_path / "moons.ttl"])
    graph = place.graph("moons")
    result_of(graph.endpoint.close())
    assert graph.notes is not None
    for text, snapshot in (("One.", "before"), ("Two.", graph.snapshot), ("Three.", "before")):
        keep(graph.notes, text, snapshot)

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
    assert wrong.returncode == 2 and "there is no note 4: 'moons' has 3" in wrong.stderr
    assert len(json.loads(run("moons", "--json").stdout)) == 3, "then nothing is removed"
    left = run("moons", "--remove", 1, "--remove", 3, "--json")
    assert [one["text"] for one in json.loads(left.stdout)] == ["Two."]
    assert "no notes" in run("moons", "--clear").stderr
    assert run("moons", "--json").stdout.strip() == "[]"
    nowhere = run("comets")
    assert nowhere.returncode == 2 and "there is no graph 'comets'" in nowhere.stderr
