"""SHACL executables become examples, with all that is said of them."""

from pathlib import Path

import pytest
from pyoxigraph import DefaultGraph, RdfFormat
from tests.each import for_each
from tests.graphs import store_of
from tests.servers.sparql import SparqlServer

from askgraph.endpoint.http import HttpEndpoint
from askgraph.errors import SetupError
from askgraph.graph.examples import Confirmation, QueryExample, Wording
from askgraph.graph.examples.shacl import collect_examples, find_syntax_fault, read_shacl
from askgraph.graph.published_metadata import fetch_published_examples

HEAD = """
prefix : <http://example.org/> prefix sh: <http://www.w3.org/ns/shacl#>
prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> prefix schema: <https://schema.org/>
prefix spex: <https://purl.expasy.org/sparql-examples/ontology#>
prefix dcterms: <http://purl.org/dc/terms/> prefix prov: <http://www.w3.org/ns/prov#>
"""
FULL = (
    HEAD
    + """
:1 a sh:SPARQLExecutable, sh:SPARQLSelectExecutable ;
    rdfs:comment "Which <em>moons</em> has  Mars?"@en, "Welche Monde &amp; Ringe?"@de, "x < y > z" ;
    sh:select "SELECT * { ?s ?p ?o }" ;
    schema:keywords "moons", "Mars", "moons" ;
    schema:target <http://example.org/a>, <http://example.org/b> ;
    spex:federatesWith <http://example.org/c> .
"""
)


def written(folder: Path, text: str) -> Path:
    path = folder / "examples.ttl"
    path.write_text(text, encoding="utf-8")
    return path


def test_everything_that_is_said_of_an_example_is_read(tmp_path: Path) -> None:
    found = read_shacl(written(tmp_path, FULL))

    assert found.skipped == ()
    assert found.examples == (
        QueryExample(
            "Which moons has Mars?",
            "SELECT * { ?s ?p ?o }",
            "en",
            (Wording("Welche Monde & Ringe?", "de"), Wording("x < y > z")),
            "http://example.org/1",
            ("moons", "Mars"),
            ("http://example.org/a", "http://example.org/b"),
            ("http://example.org/c",),
        ),
    )


@for_each(
    ("predicate", "query", "form"),
    ("sh:ask", "ASK { ?s ?p ?o }", "ASK"),
    ("sh:construct", "CONSTRUCT WHERE { ?s ?p ?o }", "CONSTRUCT"),
    ("sh:describe", "DESCRIBE <http://example.org/1>", "DESCRIBE"),
    ("spex:describe", "DESCRIBE <http://example.org/1>", "DESCRIBE"),
)
def test_all_forms_are_examples(tmp_path: Path, predicate: str, query: str, form: str) -> None:
    text = f'{HEAD} :1 a sh:SPARQLExecutable ; rdfs:comment "?!" ; {predicate} "{query}" .'
    (example,) = read_shacl(written(tmp_path, text)).examples
    assert (example.query, example.form) == (query, form)


def test_prefixes_that_an_example_points_at_come_before_others(tmp_path: Path) -> None:
    text = f"""{HEAD}
        _:one sh:declare [ sh:prefix "ex" ; sh:namespace "http://one/" ] .
        _:two sh:declare [ sh:prefix "ex" ; sh:namespace "http://two/" ] .
        :1 a sh:SPARQLExecutable ; rdfs:comment "1" ; sh:prefixes _:one ;
            sh:ask "ASK {{ ex:a ?p 1 }}" .
        :2 a sh:SPARQLExecutable ; rdfs:comment "2" ; sh:prefixes _:two ;
            sh:ask "ASK {{ ex:a ?p 1 }}" .
    """
    one, two = read_shacl(written(tmp_path, text)).examples
    assert one.query.startswith("PREFIX ex: <http://one/>\nASK")
    assert two.query.startswith("PREFIX ex: <http://two/>\nASK")


def test_what_has_no_query_or_no_question_is_listed(tmp_path: Path) -> None:
    text = f"""{HEAD} :1 a sh:SPARQLExecutable ; rdfs:comment "no query" .
        :2 a sh:SPARQLExecutable ; rdfs:comment "<b></b>" ; sh:ask "ASK {{}}" ."""

    found = read_shacl(written(tmp_path, text))

    assert found.examples == ()
    assert [one.place.rpartition(", ")[2] for one in found.skipped] == [
        "<http://example.org/1>",
        "<http://example.org/2>",
    ]
    assert "no query" in found.skipped[0].reason and "rdfs:comment" in found.skipped[1].reason
    with pytest.raises(SetupError, match=r"examples\.ttl, line 2"):
        read_shacl(written(tmp_path, "\noops"))
    # A file of another format is read by its ending.
    path = tmp_path / "description.rdf"
    dumped = store_of(FULL).dump(format=RdfFormat.RDF_XML, from_graph=DefaultGraph())
    path.write_bytes(dumped or b"")
    assert [one.iri for one in read_shacl(path).examples] == ["http://example.org/1"]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (
            'schema:numberOfItems 3 ; schema:sha256 "f"',
            Confirmation("2026-01-01T00:00:00Z", "g", "v", 3, "f"),
        ),
        ("schema:numberOfItems 3", Confirmation("2026-01-01T00:00:00Z", "g", "v", 3)),
        ('schema:numberOfItems "many"', None),
    ],
)
def test_a_confirmation_without_its_result_is_none(
    tmp_path: Path, result: str, expected: Confirmation | None
) -> None:
    text = f"""{HEAD} :1 a sh:SPARQLExecutable ; rdfs:comment "1" ; sh:ask "ASK {{}}" ;
        dcterms:type "confirmed" ; dcterms:dateAccepted "2026-01-01T00:00:00Z" ;
        prov:wasDerivedFrom [ schema:name "g" ; schema:version "v" ] ;
        schema:result [ {result} ] ."""
    (example,) = read_shacl(written(tmp_path, text)).examples
    assert (example.origin, example.confirmation) == ("confirmed", expected)


async def test_an_endpoint_gives_the_examples_that_it_holds() -> None:
    with SparqlServer(store_of(FULL)) as server:
        endpoint = HttpEndpoint(server.url)
        items = await fetch_published_examples(endpoint, timeout=60)
        await endpoint.close()
    (example,) = collect_examples(items).examples
    assert example.iri == "http://example.org/1"
    assert {wording.language for wording in example.wordings} == {"en", "de", None}


def test_a_query_that_cannot_be_read_has_a_fault() -> None:
    nested = "SELECT * { " + "{" * 90 + " ?s ?p ?o " + "}" * 90 + " }"
    assert find_syntax_fault("ASK { ?s ?p ?o }") is find_syntax_fault(nested) is None
    for query in ("SELECT WHERE", "", "SELECT ?x { ?x ?p }", "ASK { ex:a ?p 1 }"):
        assert find_syntax_fault(query), query
