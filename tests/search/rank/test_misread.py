"""The direction of a relation is the one that the grammar of the question says."""

import pytest
from pyoxigraph import RdfFormat, Store
from tests.search.asking import Known

from askgraph.search.rank.clusters import clusters

GRAPH = """
@prefix : <https://art.example/> .
@prefix a: <https://art.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .

a:Painter rdfs:label "painter" . a:taught rdfs:label "taught" .
a:praisedBy rdfs:label "praised by" . a:mentor rdfs:label "mentor" .

:ada a a:Painter ; rdfs:label "Ada" ; a:taught :ben ; a:praisedBy :ben ; a:mentor :ben .
:ben a a:Painter ; rdfs:label "Ben" ; a:taught :cleo ; a:praisedBy :cleo ; a:mentor :cleo .
:cleo a a:Painter ; rdfs:label "Cleo" ; a:taught :dan ; a:praisedBy :dan ; a:mentor :dan .
:dan a a:Painter ; rdfs:label "Dan" ; a:taught :ada ; a:praisedBy :ada ; a:mentor :ada .
"""

ASKED = [
    ("Who taught Ben?", "ada"),
    ("Whom has Ben taught?", "cleo"),
    ("Who was taught by Ben?", "cleo"),
    ("Who was praised by Cleo?", "ben"),
    ("Who praised Ben?", "cleo"),
    ("Who is the mentor of Ben?", "cleo"),
    ("Who is Ben's mentor?", "cleo"),
]


@pytest.fixture(scope="module")
def art() -> Known:
    """Painters in rings of pupils, of praise and of mentors."""
    store = Store()
    store.load(GRAPH.encode(), RdfFormat.TURTLE)
    return Known(store)


@pytest.mark.parametrize(("question", "expected"), ASKED)
def test_a_relation_is_read_as_the_grammar_says(question: str, expected: str, art: Known) -> None:
    best = clusters(art.proposal(question).candidates)[0].best
    rows = art.rows(art.query(best.query))
    assert not isinstance(rows, bool)
    assert {str(row[0])[1:-1].rpartition("/")[2] for row in rows} == {expected}
