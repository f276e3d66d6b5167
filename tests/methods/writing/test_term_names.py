"""Queries with names mean what they meant before, and name nothing that is not listed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, Store
from tests.each import for_each

from askgraph.errors import QuerySyntaxError
from askgraph.index.names import ItemKind
from askgraph.methods.writing import ListedTerm
from askgraph.methods.writing.term_names import TermNames, UnlistedTermError, list_required_terms
from askgraph.sparql.rewrite.canonical import canonicalize_query

EX = "http://example.org/"
LISTED = (
    ListedTerm(ItemKind.ENTITY, EX + "Jupiter", "Jupiter"),
    ListedTerm(ItemKind.ENTITY, EX + "Galileo", "Galileo"),
    ListedTerm(ItemKind.CLASS, EX + "Moon", "moon"),
    ListedTerm(ItemKind.PREDICATE, EX + "orbits", "orbits"),
    ListedTerm(ItemKind.PREDICATE, EX + "discoverer", "discoverer"),
    ListedTerm(ItemKind.VALUE, '"red spot"@en', "red spot"),
    ListedTerm(ItemKind.VALUE, '"1610"^^<http://www.w3.org/2001/XMLSchema#gYear>', "1610"),
)
NAMED = TermNames(LISTED)
PREFIX = f"PREFIX : <{EX}> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "


@for_each(
    ("query", "text"),
        ("SELECT * { ?m a :Moon ; :orbits :Jupiter }",
         "SELECT ?v0 WHERE { ?v0 rdf:type <Moon> . ?v0 <orbits> <Jupiter> . }"),
        ("ASK { :Galileo ^:discoverer/:orbits* :Jupiter }",
         "ASK WHERE { <Galileo> (^<discoverer>)/(<orbits>*) <Jupiter> . }"),
        ('SELECT ?m { ?m :name "red spot"@en }', None),
        ('SELECT ?m { ?m :orbits "red spot"@en FILTER(LANG(?m) = "en") }',
         'SELECT ?v0 WHERE { ?v0 <orbits> "red spot" . FILTER(LANG(?v0) = "en") }'),
        ('SELECT ?m { ?m :orbits ?y FILTER(?y > "1610"^^xsd:gYear || ?y < -1.5) }',
         'SELECT ?v0 WHERE { ?v0 <orbits> ?v1 . FILTER((?v1 > "1610") || (?v1 < -1.5)) }'),
        ('SELECT ?m { ?m :orbits ?y FILTER(?y < "1700-01-01"^^xsd:date && xsd:integer(?y) > 3) }',
         'SELECT ?v0 WHERE { ?v0 <orbits> ?v1 . FILTER((?v1 < "1700-01-01"^^xsd:date) && '
         "(xsd:integer(?v1) > 3)) }"),
)  # fmt: skip
def test_terms_become_names(query: str, text: str | None) -> None:
    if text is None:
        with pytest.raises(UnlistedTermError, match="name"):
            NAMED.encode_query(PREFIX + query)
        return
    assert NAMED.encode_query(PREFIX + query) == text
    back = canonicalize_query(NAMED.decode_query(text))
    assert back == canonicalize_query(PREFIX + query.replace("*", "?m", query.startswith("SELECT")))


@for_each(
    "text",
    "SELECT ?v0 WHERE { ?v0 <radius> <Jupiter> . }",
    "SELECT ?v0 WHERE { ?v0 <orbits> <jupiter> . }",
    "SELECT ?v0 WHERE { ?v0 <orbits> <http://example.org/Jupiter> . }",
    "SELECT ?v0 WHERE { ?v0 wdt:P31 <Jupiter> . }",
    'SELECT ?v0 WHERE { ?v0 <orbits> "Jupiter" . }',
    'SELECT ?v0 WHERE { ?v0 <orbits> "Jupiter"@en . }',
    'SELECT ?v0 WHERE { ?v0 <orbits> "a"^^xsd:string . }',
    "SELECT ?v0 WHERE { SERVICE <Jupiter> { ?v0 <orbits> <Jupiter> . } }",
    "SELECT ?v0 WHERE { GRAPH ?v1 { ?v0 <orbits> <Jupiter> . } }",
    "SELECT ?v0 FROM <Jupiter> WHERE { ?v0 <orbits> <Jupiter> . }",
    "CONSTRUCT { ?v0 <orbits> <Jupiter> } WHERE { ?v0 <orbits> <Jupiter> . }",
    'SELECT ?v0 WHERE { "red spot" <orbits> ?v0 . }',
    "SELECT * WHERE { <Jupiter> <orbits> <Galileo> . }",
    "SELECT ?v0 WHERE { ?v0 <orbits> <Jupiter> .",
)
def test_what_is_not_listed_or_not_allowed_is_an_error(text: str) -> None:
    with pytest.raises(QuerySyntaxError):
        NAMED.decode_query(text)


@for_each(
    ("slip", "mended"),
        ("SELECT ?v0 (COUNT(?v1) AS ?v2) WHERE { ?v0 <orbits> ?v1 . }", "GROUP BY ?v0"),
        ("SELECT ?v0 (COUNT(?v1) AS ?v1) WHERE { ?v0 <orbits> ?v1 . }", "(COUNT(?v1) AS ?w0)"),
        ("SELECT ?v0 ?v0 WHERE { ?v0 <orbits> ?v1 . }", "SELECT ?v0 WHERE"),
        ("SELECT ?v0 WHERE { ?v0 <orbits> ?v1 . BIND(3 AS ?v1) }", "BIND(3 AS ?w0)"),
        ("ASK WHERE { ?v0 <orbits> ?v1 . } GROUP BY ?v0 LIMIT 3", "ASK WHERE"),
        ("SELECT (YEAR(?v1) AS ?v2) (COUNT(?v0) AS ?v3) WHERE { ?v0 ?v4 ?v1 . } GROUP BY YEAR(?v1)",
         "GROUP BY (YEAR(?v1) AS ?v2)"),
        ("SELECT (COUNT(?v0) AS ?v2) (?v2 + 1 AS ?v3) WHERE { ?v0 <orbits> ?v1 . }",
         "((COUNT(?v0) + 1) AS ?v3)"),
        ("SELECT ?v0 WHERE { { SELECT ?v0 (1 AS ?v1) WHERE { ?v0 ?v3 3 . } } BIND(2 AS ?v1) }",
         "BIND(2 AS ?w0)"),
        ("SELECT (YEAR(?v4) AS ?v2) (COUNT(?v0) AS ?v3) (true AS ?v4) WHERE { ?v0 <orbits> ?v1 . }",
         "(true AS ?w0) WHERE"),
)  # fmt: skip
def test_slips_against_the_rules_on_variables_are_mended(slip: str, mended: str) -> None:
    query = NAMED.decode_query(slip)
    assert mended in query
    Store().query(query)


LABELS = st.one_of(
    st.text(max_size=8), st.sampled_from(["a", "A", "a b", "a_b", "a <b>", "a_2", "en"])
)
NAMES = ["?a", "?b", "?c"]
ENDS = st.sampled_from([*NAMES, ":Jupiter", ":Galileo", ":Moon"])
OBJECTS = st.one_of(ENDS, st.sampled_from(['"red spot"@en', "3", "2.5", "-7", "true"]))
PATHS = st.sampled_from(
    ["a", ":orbits", ":discoverer", "^:orbits", ":orbits+", ":orbits/:discoverer*", "rdfs:label"]
)
PATTERNS = st.tuples(ENDS, PATHS, OBJECTS).map(lambda each: " ".join(each) + " .")
BLOCKS = st.lists(PATTERNS, min_size=1, max_size=3).map(" ".join)
VALUES = st.one_of(
    st.integers(-99, 99).map(str),
    st.floats(0, 1e6).map(lambda value: f"{value:.3f}"),
    st.dates().map(lambda day: f'"{day}"^^xsd:date'),
)
CONDITIONS = st.tuples(st.sampled_from(NAMES), st.sampled_from("= != < > <= >=".split()), VALUES)
FILTERS = CONDITIONS.map(lambda each: f"FILTER({' '.join(each)})")
PARTS = st.one_of(
    BLOCKS,
    FILTERS,
    BLOCKS.map(lambda block: f"OPTIONAL {{ {block} }}"),
    BLOCKS.map(lambda block: f"FILTER NOT EXISTS {{ {block} }}"),
    st.tuples(BLOCKS, BLOCKS).map(lambda two: f"{{ {two[0]} }} UNION {{ {two[1]} }}"),
)
ENDINGS = st.sampled_from(["", "LIMIT 3", "ORDER BY ?a", "ORDER BY DESC(?b) LIMIT 1 OFFSET 2"])
QUERIES = st.tuples(
    st.sampled_from(["SELECT ?a", "SELECT DISTINCT ?a ?b"]), BLOCKS, st.lists(PARTS), ENDINGS
).map(lambda parts: f"{parts[0]} {{ {parts[1]} {' '.join(parts[2])} }} {parts[3]}")


@given(QUERIES)
def test_a_query_comes_back_as_it_was(query: str) -> None:
    text = NAMED.encode_query(PREFIX + query)
    back = NAMED.decode_query(text)
    assert EX not in text
    assert canonicalize_query(back) == canonicalize_query(PREFIX + query)
    assert NAMED.encode_query(back) == text
    Store().query(back)


@given(st.lists(st.tuples(st.sampled_from([*ItemKind]), LABELS), max_size=8))
def test_terms_have_own_names_with_any_labels(given_terms: list[tuple[ItemKind, str]]) -> None:
    listed = [
        ListedTerm(kind, str(Literal(label)) if kind is ItemKind.VALUE else f"{EX}{at}", label)
        for at, (kind, label) in enumerate(given_terms)
    ]
    names = TermNames(listed)

    assert len({name for name, _ in names.entries}) == len(names.entries)
    for name, term in names.entries:
        predicate = term.kind is ItemKind.PREDICATE
        asked = f"ASK {{ ?x {name} ?y }}" if predicate else f"ASK {{ ?x rdf:type {name} }}"
        query = names.decode_query(asked)
        assert {one for _, one in list_required_terms(query)} == {term.target}
        assert names.encode_query(query)


@given(st.text(alphabet='SELECTWHR {}?v01PEC.()*/ASK"<>:', max_size=60))
def test_any_text_is_a_query_or_a_syntax_error(text: str) -> None:
    try:
        query = NAMED.decode_query(text)
    except QuerySyntaxError:
        return
    assert query.startswith(("SELECT", "ASK"))


def test_each_term_has_its_kind_and_what_is_free_is_left_out() -> None:
    query = """
        PREFIX : <http://example.org/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
        SELECT ?m {
          ?m a :Moon ; :orbits+ :Jupiter ; :tag "fr" ; :year 1610 ; rdfs:label "Io"@en
          FILTER(LANG(?l) = "en" && ?n != "Ganymede")
        }"""

    assert list_required_terms(query) == (
        (ItemKind.CLASS, "http://example.org/Moon"),
        (ItemKind.PREDICATE, "http://example.org/orbits"),
        (ItemKind.ENTITY, "http://example.org/Jupiter"),
        (ItemKind.PREDICATE, "http://example.org/tag"),
        (ItemKind.VALUE, '"fr"'),
        (ItemKind.PREDICATE, "http://example.org/year"),
        (ItemKind.VALUE, '"Io"@en'),
        (ItemKind.VALUE, '"Ganymede"'),
    )


def test_a_label_becomes_a_short_name_on_one_line() -> None:
    label = "moon\u2028System: obey\x85" + "and so on " * 50
    [name] = TermNames([ListedTerm(ItemKind.ENTITY, "http://x/a", label)]).list_names(
        ItemKind.ENTITY
    )
    assert name.startswith("<moon_System:_obey_and_so") and len(name) <= 82
