"""Faults of queries are told; what a strict parser cannot take, a lenient one judges."""

import pytest

from askgraph.graph.examples.shacl import syntax_fault


@pytest.mark.parametrize(
    "query",
    ["ASK { ?s ?p ?o }", "SELECT * { " + "{" * 90 + " ?s ?p ?o " + "}" * 90 + " }"],
)
def test_a_query_that_can_be_read_has_no_fault(query: str) -> None:
    assert syntax_fault(query) is None


@pytest.mark.parametrize("query", ["SELECT WHERE", "", "SELECT ?x { ?x ?p }", "ASK { ex:a ?p 1 }"])
def test_a_query_that_cannot_be_read_has_one(query: str) -> None:
    assert syntax_fault(query)
