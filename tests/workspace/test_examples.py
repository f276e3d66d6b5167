"""Confirmed examples: kept with what they gave, found again, checked, withdrawn."""

import logging
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat
from tests.each import for_each
from tests.graphs import EXTRA, MOONS, store_of
from tests.servers.sparql import SparqlServer

from askgraph.errors import QueryError, SetupError
from askgraph.evaluation.benchmarks.formats import read_example_file
from askgraph.graph.examples import QueryExample, Wording
from askgraph.sample import questions_path
from askgraph.workspace import Workspace
from askgraph.workspace.examples import (
    check_examples,
    confirm_example,
    convert_examples,
    list_stored,
    read_examples,
    withdraw_example,
)
from askgraph.workspace.run_sync import run_coroutine

MARS = "SELECT ?m { ?m onto:orbits <http://example.org/Mars> }"
COUNT = "SELECT (COUNT(*) AS ?n) { ?m a onto:Moon }"
ASKED = QueryExample("Which moons has Mars?", MARS, "en", (Wording("Welche Monde?", "de"),))


def known(workspace: Workspace) -> list[tuple[str, str]]:
    graph = workspace.graph("moons")
    run_coroutine(graph.endpoint.close())
    return [(example.question, example.origin) for example in graph.examples]


def statuses(workspace: Workspace) -> list[tuple[str, str]]:
    return [(one.status, one.detail) for one in check_examples(workspace)]


def test_a_confirmed_question_is_kept_with_what_its_query_gives(workspace: Workspace) -> None:
    kept = confirm_example(workspace, ASKED)

    graph = workspace.graph("moons")
    run_coroutine(graph.endpoint.close())
    assert graph.examples == (kept.example,)
    assert kept.path.parent == workspace.folder / "examples" / "moons"
    assert kept.example.query.startswith("PREFIX onto: <http://example.org/onto#>\n")
    confirmation = kept.example.confirmation
    assert confirmation is not None
    assert (confirmation.graph, confirmation.rows) == ("moons", 1)
    assert confirmation.snapshot == graph.snapshot


def test_another_query_for_the_same_question_takes_its_place(workspace: Workspace) -> None:
    confirm_example(workspace, ASKED)
    confirm_example(workspace, QueryExample("which moons has Mars", "ASK { ?s ?p ?o }"))
    with pytest.raises(QueryError):  # what fails is not kept
        confirm_example(workspace, QueryExample("Why?", "SELECT ?m { ?m nosuch:prefix 1 }"))
    ((_, one),) = list_stored(workspace)
    assert (one.example.query, one.example.language) == ("ASK { ?s ?p ?o }", "en")


@for_each(
    ("query", "text", "status"),
    (MARS, MOONS, ("same", "")),
    (MARS, MOONS + EXTRA, ("changed", "more rows: 1 then, 2 now")),
    ("SELECT ?p { ?p a onto:Planet }", MOONS + EXTRA, ("same", "")),
    (MARS, MOONS.replace("orbits :Mars", "orbits :Sun"), ("changed", "no rows: 1 then, 0 now")),
    (COUNT, MOONS + EXTRA, ("changed", "other values")),
)
def test_a_graph_that_changed_is_flagged_with_how_the_result_did(
    tmp_path: Path, query: str, text: str, status: tuple[str, str]
) -> None:
    source, place = tmp_path / "moons.ttl", Workspace(tmp_path / "own")
    source.write_text(MOONS)
    place.add("moons", [source])
    confirm_example(place, QueryExample("What?", query))
    source.write_text(text)
    assert statuses(place) == [status]


def test_examples_of_a_graph_that_is_gone_are_gone_but_stay(workspace: Workspace) -> None:
    confirm_example(workspace, ASKED)
    workspace.remove("moons")
    assert [status for status, _ in statuses(workspace)] == ["gone"]
    assert len(list_stored(workspace)) == 1


def test_a_query_that_no_longer_runs_is_failed(workspace: Workspace) -> None:
    kept = confirm_example(workspace, ASKED)
    kept.path.write_text(kept.path.read_text().replace("onto:orbits", "nosuch:orbits"))
    ((status, detail),) = statuses(workspace)
    assert status == "failed" and "nosuch" in detail


def test_an_example_written_by_hand_runs_but_cannot_be_compared(workspace: Workspace) -> None:
    folder = workspace.get_examples_folder("moons")
    folder.mkdir(parents=True)
    (folder / "mine.ttl").write_text(
        "prefix sh: <http://www.w3.org/ns/shacl#> "
        '[] a sh:SPARQLExecutable ; sh:ask "ASK { ?s ?p ?o }" ; '
        '<http://www.w3.org/2000/01/rdf-schema#comment> "Is there anything?"@en .'
    )
    assert known(workspace) == [("Is there anything?", "written")]
    assert statuses(workspace) == [("not compared", "1 rows")]


def test_an_endpoint_is_asked_again_whatever_its_cache_holds(tmp_path: Path) -> None:
    store = store_of(MOONS)
    with SparqlServer(store) as server:
        workspace = Workspace(tmp_path)
        workspace.add("moons", [server.url])
        kept = confirm_example(workspace, ASKED)
        graph = workspace.graph("moons")
        run_coroutine(graph.endpoint.select(kept.example.query))
        run_coroutine(graph.endpoint.close())
        store.load(EXTRA.encode(), RdfFormat.TURTLE)

        found = statuses(workspace)

    assert kept.example.targets == (server.url,)
    assert found == [("changed", "more rows: 1 then, 2 now")]


@for_each("which", ["Which moons has Mars", "welche monde", "id", "iri"])
def test_an_example_is_withdrawn_by_question_id_or_iri(workspace: Workspace, which: str) -> None:
    kept = confirm_example(workspace, ASKED)
    names = {"id": kept.id, "iri": str(kept.example.iri)}

    name, gone = withdraw_example(workspace, names.get(which, which))

    assert (name, gone.example) == ("moons", kept.example)
    assert known(workspace) == []
    with pytest.raises(SetupError, match="there is no example 'Why'"):
        withdraw_example(workspace, "Why")


def test_confirmed_examples_come_before_those_of_the_setting(
    workspace: Workspace, tmp_path: Path
) -> None:
    (workspace.folder / "asked.jsonl").write_text(
        '{"question": "Which planets?", "sparql": "SELECT ?p { ?p a onto:Planet }"}\n'
    )
    workspace.add(
        "moons", [tmp_path / "moons.ttl"], settings={"examples": "asked.jsonl"}, replace=True
    )
    confirm_example(workspace, ASKED)
    assert known(workspace) == [
        ("Which moons has Mars?", "confirmed"),
        ("Which planets?", "written"),
    ]


def test_a_setting_may_name_a_folder_and_tells_what_is_no_example(
    workspace: Workspace, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = confirm_example(workspace, ASKED)
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "prefixes.ttl").write_text((kept.path.parent / "prefixes.ttl").read_text())
    (shared / "1.ttl").write_text(kept.path.read_text())
    (shared / "2.ttl").write_text("oops")
    withdraw_example(workspace, kept.id)

    with caplog.at_level(logging.WARNING, "askgraph"):
        workspace.add(
            "moons", [tmp_path / "moons.ttl"], settings={"examples": str(shared)}, replace=True
        )

    assert known(workspace) == [("Which moons has Mars?", "confirmed")]
    assert "1 items are not examples" in caplog.text and "2.ttl" in caplog.text


def test_examples_are_read_from_a_graph_and_from_the_url_of_an_endpoint(
    workspace: Workspace,
) -> None:
    kept = confirm_example(workspace, ASKED)
    text = kept.path.read_text() + (kept.path.parent / "prefixes.ttl").read_text()
    with SparqlServer(store_of(text)) as server:
        theirs = read_examples(workspace, server.url)
    assert read_examples(workspace, "moons").examples == (kept.example,)
    assert [example.query for example in theirs.examples] == [kept.example.query]
    with pytest.raises(SetupError, match="no file, folder, URL or graph 'nowhere'"):
        read_examples(workspace, "nowhere")


@pytest.mark.parametrize("target", ["folder", "examples.ttl"])
def test_turtle_holds_the_same_examples(tmp_path: Path, target: str) -> None:
    found, faults = convert_examples(Workspace(tmp_path), str(questions_path()), tmp_path / target)
    again = read_example_file(tmp_path / target).examples
    assert {reason.partition(":")[0] for _, reason in faults} == {"it has no query"}
    assert {one.iri: one for one in again} == {one.iri: one for one in found.examples}


def test_lines_hold_every_wording(tmp_path: Path) -> None:
    found, _ = convert_examples(
        Workspace(tmp_path), str(questions_path()), tmp_path / "examples.jsonl"
    )
    wordings = sum(len(example.wordings) for example in found.examples)
    assert len(read_example_file(tmp_path / "examples.jsonl").examples) == wordings


def test_a_query_that_does_not_parse_is_written_and_listed(tmp_path: Path) -> None:
    source = tmp_path / "asked.jsonl"
    source.write_text('{"question": "Why?", "sparql": "SELECT WHERE"}\n')
    found, faults = convert_examples(Workspace(tmp_path), str(source), tmp_path / "out.ttl")
    assert len(found.examples) == 1
    assert [place for place, _ in faults] == ["Why?"]


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "there"
    target.mkdir()
    (target / "mine.txt").write_text("keep me")
    with pytest.raises(SetupError, match="exists already"):
        convert_examples(Workspace(tmp_path), str(questions_path()), target)
    assert [path.name for path in target.iterdir()] == ["mine.txt"]


def test_a_source_without_examples_is_a_setup_error(tmp_path: Path) -> None:
    source = tmp_path / "asked.jsonl"
    source.write_text('{"question": "Why?", "sparql": null}\n')
    with pytest.raises(SetupError, match="contains no examples"):
        convert_examples(Workspace(tmp_path), str(source), tmp_path / "out.ttl")
    assert not (tmp_path / "out.ttl").exists()
