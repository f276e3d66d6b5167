"""Which IRIs of a query count as entities, which as predicates."""

from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.evaluation.metrics import QueryLinks, extract_links, score_linking

PREFIX = "PREFIX ex: <https://example.org/space/> "


def found(query: str) -> tuple[str, str]:
    """The local names of the entities and predicates of a query, sorted."""
    named = extract_links(PREFIX + query)
    return (
        " ".join(sorted(iri.rpartition("/")[2] for iri in named.entities)),
        " ".join(sorted(iri.rpartition("/")[2] for iri in named.predicates)),
    )


@for_each(
    ("query", "entities", "predicates"),
    ("SELECT ?x { ?x ex:orbits ex:Mars }", "Mars", "orbits"),
    ("SELECT ?x { ex:Mars ex:moon ?x }", "Mars", "moon"),
    ("ASK { ex:Io ex:orbits ex:Jupiter }", "Io Jupiter", "orbits"),
    ("SELECT ?x { ?x a ex:Moon ; rdfs:label ?name }", "Moon", ""),
    ("SELECT ?x { ?x ex:a/ex:b*|^ex:c ex:Mars }", "Mars", "a b c"),
    ("SELECT ?x { ?x !(ex:a|^ex:b) ?y }", "", "a b"),
    ("SELECT ?x { VALUES ?p { ex:Mars ex:Venus } ?x ex:orbits ?p }", "Mars Venus", "orbits"),
    ("SELECT ?x { VALUES ?p { ex:a ex:b } ?x ?p ?y }", "", "a b"),
    ("SELECT ?x { VALUES (?p ?o) { (ex:a ex:Io) (UNDEF ex:Io) } ?x ?p ?o }", "Io", "a"),
    ("SELECT ?x { ?x ex:orbits ?y FILTER(?y IN (ex:Mars, ex:Venus)) }", "Mars Venus", "orbits"),
    ("SELECT ?x { ?x ?p ?y FILTER(?p = ex:orbits) }", "", "orbits"),
    ("SELECT ?x { BIND(ex:orbits AS ?p) BIND(ex:Mars AS ?y) ?x ?p ?y }", "Mars", "orbits"),
    ("SELECT ?x { ?x ex:a ?y FILTER NOT EXISTS { ?y ex:b ex:Io } }", "Io", "a b"),
    ("SELECT ?x { { SELECT ?x { ?x ex:a ex:Io } } OPTIONAL { ?x ex:b ?z } }", "Io", "a b"),
    ("SELECT ?x { GRAPH ex:graph { ?x ex:a ex:Io } }", "Io", "a"),
    ("SELECT ?x { ?x ex:a ?y } ORDER BY (?y = ex:Io)", "Io", "a"),
    ('SELECT ?x { ?x ex:a "3"^^ex:metre }', "", "a"),
    ("DESCRIBE ex:Mars", "Mars", ""),
    ("CONSTRUCT { ?x ex:new ex:Mars } WHERE { ?x ex:a ex:Io }", "Io", "a"),
    ("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", "", ""),
)
def test_the_iris_of_a_query(query: str, entities: str, predicates: str) -> None:
    assert found(query) == (entities, predicates)


@for_each("query", [None, "", "SELECT ?x {", "which moons?"])
def test_what_cannot_be_read_has_none(query: str | None) -> None:
    assert extract_links(query) == QueryLinks()


def test_linking() -> None:
    # Undeclared prefixes can be given.
    named = extract_links(
        "ASK { ex:Io ex:orbits ?x }", prefixes={"ex": "https://example.org/space/"}
    )
    assert named.entities == {"https://example.org/space/Io"}
    # Entities and predicates are scored apart.
    gold = PREFIX + "SELECT ?x { ?x ex:orbits ex:Mars }"
    predicted = PREFIX + "SELECT ?x { ?x ex:orbits ex:Mars ; ex:discoverer ?y }"
    scores = score_linking(predicted, gold)
    assert scores.entities.f1 == 1
    assert (scores.predicates.precision, scores.predicates.recall) == (0.5, 1.0)
    # No query finds nothing of gold.
    scores = score_linking(None, PREFIX + "SELECT ?x { ?x ex:orbits ex:Mars }")
    assert (scores.entities.f1, scores.predicates.f1) == (0, 0)
    # Nothing to link and nothing linked is 1.
    assert score_linking("ASK { ?s a ?o }", "ASK { ?s ?p ?o }").entities.f1 == 1


@given(st.text(max_size=60))
def test_any_text_has_links_or_none(text: str) -> None:
    assert isinstance(extract_links(text), QueryLinks)
