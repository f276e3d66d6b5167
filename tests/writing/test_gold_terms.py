"""What a query names is found, so that it can be listed."""

from askgraph.index.names import Kind
from askgraph.writing.gold_terms import gold_terms


def test_each_term_has_its_kind_and_what_is_free_is_left_out() -> None:
    query = """
        PREFIX : <http://example.org/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
        SELECT ?m {
          ?m a :Moon ; :orbits+ :Jupiter ; :tag "fr" ; :year 1610 ; rdfs:label "Io"@en
          FILTER(LANG(?l) = "en" && ?n != "Ganymede")
        }"""

    assert gold_terms(query) == (
        (Kind.CLASS, "http://example.org/Moon"),
        (Kind.PREDICATE, "http://example.org/orbits"),
        (Kind.ENTITY, "http://example.org/Jupiter"),
        (Kind.PREDICATE, "http://example.org/tag"),
        (Kind.VALUE, '"fr"'),
        (Kind.PREDICATE, "http://example.org/year"),
        (Kind.VALUE, '"Io"@en'),
        (Kind.VALUE, '"Ganymede"'),
    )
