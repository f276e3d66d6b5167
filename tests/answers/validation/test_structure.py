"""Blocks that nothing joins are told, products on purpose less surely."""

import pytest
from tests.answers.validation.conftest import only

from askgraph.answers.validation import Kind, Services

PRODUCTS = [
    ("SELECT * { ?m a onto:Moon . ?p a onto:Planet }", 0.6),
    ("SELECT ?m { ?m onto:orbits ?p . ?q onto:code 'JUP' }", 0.6),
    ("SELECT ?r ?s { :Io onto:radius ?r . :Europa onto:radius ?s }", 0.4),
    ("SELECT ?r ?s { ?a rdfs:label 'Io'@en ; onto:radius ?r . ?b onto:radius ?s }", 0.4),
    ("SELECT ?m ?n { ?m onto:orbits :Jupiter . ?n onto:orbits :Mars }", 0.4),
]


@pytest.mark.parametrize(("query", "sure"), PRODUCTS)
def test_things_that_are_named_are_compared_on_purpose(
    query: str, sure: float, moons: Services
) -> None:
    finding = only(query, moons)
    assert (finding.kind, finding.certainty) == (Kind.UNJOINED, sure)
