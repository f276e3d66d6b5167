"""Questions of any format as our own lines, from files and from endpoints that publish examples."""

import json
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, Store
from tests.servers.sparql import SparqlServer

from askgraph.errors import ServiceError, SetupError
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.workspace import Workspace
from askgraph.workspace.conversion import convert

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
    store = Store()
    store.load(EXAMPLES.encode(), RdfFormat.TURTLE)
    with SparqlServer(store) as server:
        read = convert(Workspace(tmp_path), server.url, tmp_path / "out.jsonl")
    [question] = read_questions(tmp_path / "out.jsonl", need_gold=True)
    assert question.text == "Moons of Mars"
    assert question.sparql == "PREFIX ex: <http://example.org/>\nSELECT ?m { ?m ex:p ?o }"
    assert len(read.unreadable) == 1


def test_a_file_of_another_format_becomes_lines(tmp_path: Path) -> None:
    (tmp_path / "qald.json").write_text(json.dumps(QALD))
    convert(Workspace(tmp_path), str(tmp_path / "qald.json"), tmp_path / "out.jsonl")
    [question] = read_questions(tmp_path / "out.jsonl", need_gold=True)
    assert (question.id, question.text, question.language) == ("1", "Moons of Mars?", "en")


def test_where_there_is_nothing_to_write_nothing_is_written(tmp_path: Path) -> None:
    with SparqlServer(Store()) as server, pytest.raises(SetupError, match="gives no question"):
        convert(Workspace(tmp_path), server.url, tmp_path / "out.jsonl")
    with pytest.raises(ServiceError):
        convert(Workspace(tmp_path), "http://127.0.0.1:1/sparql", tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_a_graph_of_files_publishes_nothing(tmp_path: Path) -> None:
    (tmp_path / "data.ttl").write_text("<urn:a> <urn:b> <urn:c> .")
    workspace = Workspace(tmp_path / "workspace")
    workspace.add("data", [tmp_path / "data.ttl"])
    with pytest.raises(SetupError, match="was read from files"):
        convert(workspace, "data", tmp_path / "out.jsonl")
