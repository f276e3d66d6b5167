"""FROM clauses put in by the protocol: at their place, in the place of the query's own."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgraph.errors import QueryError
from askgraph.server.graphs.queries import with_dataset
from askgraph.sparql.judge import checked, datasets

A, B = "http://example.org/a", "http://example.org/b"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * WHERE { ?s ?p ?o }",
        "select*{?s ?p ?o}limit 3",
        "SELECT (COUNT(?s) AS ?n) ?p { ?s ?p ?o } GROUP BY ?p",
        "ASK { ?s ?p ?o }",
        "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o . { ?o ?p ?s } }",
        "CONSTRUCT WHERE { ?s ?p ?o }",
        "DESCRIBE <http://example.org/x>",
        "DESCRIBE <http://example.org/x> LIMIT 3",
        "DESCRIBE ?s { ?s ?p ?o }",
        f"SELECT * FROM <{B}/own> FROM NAMED <{B}/other> WHERE {{ ?s ?p ?o }}",
        f"# FROM <{B}>\nPREFIX from: <{B}> SELECT * {{ ?s from:FROM 'FROM' }}",
    ],
)
def test_the_dataset_of_a_query_is_the_one_given(query: str) -> None:
    text = with_dataset(query, [A], [B])
    assert datasets(checked(text).text) == (A, B)


def test_a_query_without_a_dataset_to_give_stays_as_it_is() -> None:
    query = f"SELECT * FROM <{B}> {{ ?s ?p ?o }}"
    assert with_dataset(query, (), ()) == query


@pytest.mark.parametrize("iri", ["a b", "x", "", "http://x/> { } #", "http://x/>FROM<http://y"])
def test_what_is_no_iri_is_refused(iri: str) -> None:
    with pytest.raises(QueryError, match="is no IRI of a graph"):
        with_dataset("ASK { ?s ?p ?o }", [iri], ())


@given(st.text())
def test_any_text_is_either_refused_or_given_back(text: str) -> None:
    with contextlib.suppress(QueryError):
        assert f"FROM <{A}>" in with_dataset(text, [A], ())
