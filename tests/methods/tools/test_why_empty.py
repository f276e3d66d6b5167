"""A query without a result is taken apart, and changes that give one are offered as queries."""

from tests.graphs import MOONS
from tests.tool_graphs import called, served, toolbox

PREFIXES = {"": "http://example.org/", "onto": "http://example.org/onto#"}


def told(query: str) -> tuple[str, tuple[str, ...]]:
    with served(MOONS, PREFIXES) as (_, graph):
        found = called(toolbox(graph), "why_empty", query=query)
    return found.text, found.seen


def test_the_part_that_leaves_nothing_comes_with_queries_that_give_rows() -> None:
    text, seen = told('SELECT ?p { ?p a onto:Planet ; rdfs:label "jupiter" }')
    assert "there are results; with it nothing is left" in text
    assert "with capitals and small letters alike (1 rows): SELECT ?p" in text
    assert "http://example.org/onto#Planet" in seen


def test_names_that_the_graph_lacks_come_first() -> None:
    text, seen = told("SELECT ?m { ?m onto:orbit :Mars }")
    assert text.startswith("the graph has no onto:orbit; nearest: onto:orbits")
    assert "http://example.org/onto#orbits" in seen


def test_a_query_with_a_result_is_told_from_one_without() -> None:
    assert told("SELECT ?m { ?m onto:orbits :Mars }")[0] == "the query has a result: run it"


def test_a_query_that_does_not_run_is_no_query_without_a_result() -> None:
    assert told("SELECT ?m { ?m onto:orbits }")[0].startswith("the query failed: ")
