"""`?search` is restricted by the patterns of a query, wherever it stands."""

import pytest
from tests.methods.tools.exploring import called

from askgraph.errors import QueryError
from askgraph.graph import KnowledgeGraph


async def test_at_the_place_of_an_object(space: KnowledgeGraph) -> None:
    found = await called(
        space,
        "search_autocomplete",
        sparql="SELECT ?search WHERE { ?m a ont:Moon ; ont:orbits ?search }",
        query="",
    )
    assert found.text.splitlines()[1].startswith("- space:Saturn a ont:Planet")
    assert found.text.splitlines()[1].endswith("18× here")


async def test_at_the_place_of_a_property(space: KnowledgeGraph) -> None:
    found = await called(
        space,
        "search_autocomplete",
        sparql="SELECT ?m ?search WHERE { ?m a ont:Moon ; ?search ?o } LIMIT 3",
        query="discovery year",
    )
    assert found.text.splitlines()[1].startswith("- ont:discoveryYear")


async def test_at_the_place_of_a_subject(space: KnowledgeGraph) -> None:
    found = await called(
        space,
        "search_autocomplete",
        sparql="SELECT * WHERE { ?search ont:orbits space:Saturn FILTER(?search != space:Rhea) }",
        query="titan rhea",
    )
    assert "- space:Titan " in found.text and "Rhea" not in found.text.split("\n", 1)[1]


@pytest.mark.parametrize(
    ("sparql", "why"),
    [
        ("SELECT ?x WHERE { ?x a ont:Moon }", "no pattern uses"),
        ("ASK { ?search a ont:Moon }", "a SELECT query is wanted"),
        ("SELECT ?search WHERE { ?search a", "SELECT \\?search WHERE"),
        ("SELECT ?search WHERE { ?search a nope:Moon }", "nope:"),
        ("DELETE WHERE { ?search ?p ?o }", "DELETE|read|update"),
    ],
)
async def test_a_query_that_cannot_restrict_is_refused(
    space: KnowledgeGraph, sparql: str, why: str
) -> None:
    with pytest.raises(QueryError, match=why):
        await called(space, "search_autocomplete", sparql=sparql, query="x")


async def test_what_keeps_a_query_from_running_is_repaired_first(space: KnowledgeGraph) -> None:
    sparql = (
        "```sparql\nSELECT ?search ?searchLabel { ?search ont:orbits space:Saturn "
        'SERVICE wikibase:label { bd:serviceParam wikibase:language "en" } }\n```'
    )
    found = await called(space, "search_autocomplete", sparql=sparql, query="titan")

    assert "- space:Titan " in found.text
