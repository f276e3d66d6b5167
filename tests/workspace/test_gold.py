"""Gold checked and frozen on the graphs of a workspace."""

import json
from pathlib import Path

import pytest
from pyoxigraph import Store
from tests.graphs import store_of
from tests.servers.sparql import SparqlServer

from askgraph import sample
from askgraph.errors import ServiceError, SetupError
from askgraph.evaluation.benchmarks import BenchmarkContents, UnreadableItem
from askgraph.evaluation.benchmarks.formats import read_benchmark, read_questions
from askgraph.evaluation.gold.frozen import read_frozen_gold
from askgraph.evaluation.questions import GoldQuestion
from askgraph.workspace import Workspace
from askgraph.workspace.gold import GoldCheckOptions, check_gold, convert_questions, freeze_gold


def tell(what: str, done: int, total: int | None) -> None:
    """Nobody listens."""


QUESTIONS = sample.questions_path().with_name("questions.jsonl")


def test_the_gold_of_the_sample_graph_has_no_errors(space: Workspace) -> None:
    _, contents = read_benchmark(QUESTIONS)
    found = check_gold(space, QUESTIONS, contents, GoldCheckOptions(graph="space"), progress=tell)
    assert [finding for finding in found if finding.severity == "error"] == []


def test_findings_stand_in_the_order_of_the_file(space: Workspace, tmp_path: Path) -> None:
    contents = BenchmarkContents(
        (
            GoldQuestion("z", "Which?", sparql="SELECT ?s { ?s a <urn:None> }"),
            GoldQuestion("a", "How?", sparql="SELECT ?s {"),
        ),
        (UnreadableItem("line 3", "no 'id'"),),
    )
    path = tmp_path / "made-up.jsonl"
    found = check_gold(space, path, contents, GoldCheckOptions(graph="space"), progress=tell)
    assert [(f.benchmark, f.id, f.kind) for f in found] == [
        ("made-up", "line 3", "unreadable"),
        ("made-up", "z", "empty"),
        ("made-up", "a", "syntax"),
    ]


def test_frozen_gold_has_not_changed_on_the_same_graph(space: Workspace, tmp_path: Path) -> None:
    _, contents = read_benchmark(QUESTIONS)
    out = tmp_path / "gold.jsonl"

    count, failed = freeze_gold(space, QUESTIONS, contents, out, graph="space", progress=tell)
    checks = GoldCheckOptions(graph="space", frozen=read_frozen_gold(out))
    found = check_gold(space, QUESTIONS, contents, checks, progress=tell)

    assert failed == 0
    assert count == sum(q.sparql is not None for q in contents.questions if not q.unanswerable)
    assert "drift" not in {finding.kind for finding in found}
    graphs = read_frozen_gold(out).header["graphs"]
    assert isinstance(graphs, dict)
    assert graphs["space"]["engine"].startswith("pyoxigraph ")
    assert str(tmp_path) not in out.read_text()


def test_offline_nothing_is_looked_up(tmp_path: Path) -> None:
    contents = BenchmarkContents((GoldQuestion("a", "?", sparql="ASK {}", graph="nowhere.ttl"),))
    none = Workspace(tmp_path / "none")
    found = check_gold(
        none, tmp_path / "q.jsonl", contents, GoldCheckOptions(offline=True), progress=tell
    )
    assert found == ()


EXAMPLES = """
prefix sh: <http://www.w3.org/ns/shacl#> prefix : <http://example.org/>
prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#>
:a a sh:SPARQLExecutable ; rdfs:comment "Moons of Mars"@en ; sh:select "SELECT ?m { ?m ex:p ?o }" ;
    sh:prefixes [ sh:declare [ sh:prefix "ex" ; sh:namespace "http://example.org/" ] ] .
:b a sh:SPARQLExecutable ; rdfs:comment "Everything"@en ;
    sh:construct "CONSTRUCT WHERE { ?s ?p ?o }" .
"""
QALD = {
    "questions": [
        {
            "id": 1,
            "question": [{"language": "en", "string": "Moons of Mars?"}],
            "query": {"sparql": "SELECT ?m { ?m <http://www.wikidata.org/prop/direct/P397> ?p }"},
            "answers": [{"head": {"vars": ["m"]}, "results": {"bindings": []}}],
        }
    ]
}


def test_the_examples_that_an_endpoint_publishes_become_lines(tmp_path: Path) -> None:
    with SparqlServer(store_of(EXAMPLES)) as server:
        read = convert_questions(Workspace(tmp_path), server.url, tmp_path / "out.jsonl")
    [question] = read_questions(tmp_path / "out.jsonl", need_gold=True)
    assert question.text == "Moons of Mars"
    assert question.sparql == "PREFIX ex: <http://example.org/>\nSELECT ?m { ?m ex:p ?o }"
    assert len(read.unreadable) == 1


def test_a_file_of_another_format_becomes_lines(tmp_path: Path) -> None:
    (tmp_path / "qald.json").write_text(json.dumps(QALD))
    convert_questions(Workspace(tmp_path), str(tmp_path / "qald.json"), tmp_path / "out.jsonl")
    [question] = read_questions(tmp_path / "out.jsonl", need_gold=True)
    assert (question.id, question.text, question.language) == ("1", "Moons of Mars?", "en")


def test_where_there_is_nothing_to_write_nothing_is_written(
    space: Workspace, tmp_path: Path
) -> None:
    with SparqlServer(Store()) as server, pytest.raises(SetupError, match="contains no question"):
        convert_questions(Workspace(tmp_path), server.url, tmp_path / "out.jsonl")
    with pytest.raises(ServiceError):
        convert_questions(Workspace(tmp_path), "http://127.0.0.1:1/sparql", tmp_path / "out.jsonl")
    with pytest.raises(SetupError, match="was read from files"):
        convert_questions(space, "space", tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()
