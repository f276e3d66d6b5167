"""The format that a client likes best."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgraph.serve.protocols.sparql.requests import accepted
from askgraph.sparql.result_formats import GRAPH_FORMATS, ROW_FORMATS


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("application/rdf+xml", "rdf"),
        ("application/*", "nt"),
        ("text/turtle;q=0.1, */*;q=0.5", "nt"),
        ("*/*;q=0.5, application/ld+json;q=0.6", "jsonld"),
        ("TEXT/TURTLE; charset=utf-8; Q=0.4, application/n-triples;q=0.3", "ttl"),
        ("text/turtle;q=0, application/n-triples;q=0, application/*;q=0.1", "rdf"),
        ("nonsense", "ttl"),
    ],
)
def test_the_best_of_what_is_accepted_is_taken(header: str, name: str) -> None:
    form = accepted(header, GRAPH_FORMATS)
    assert form is not None
    assert form.name == name


@pytest.mark.parametrize("header", ["image/png", "*/*;q=0", "text/html;q=1.0"])
def test_there_may_be_none(header: str) -> None:
    assert accepted(header, ROW_FORMATS) is None


@given(st.text())
def test_any_header_can_be_read(header: str) -> None:
    assert accepted(header, ROW_FORMATS) in (None, *ROW_FORMATS)
