"""Queries are made runnable where that can be told for sure; sound ones stay as they are."""

from hypothesis import example, given
from hypothesis import strategies as st
from tests.each import for_each
from tests.graphs import MOONS, store_of

from askgraph.sparql.judge import check_query, get_query_form
from askgraph.sparql.lexer import declare_prefixes
from askgraph.sparql.rewrite import repair_query

PREFIXES = {"": "http://example.org/", "onto": "http://example.org/onto#"}


def rows(query: str) -> list[list[str]]:
    """What a query gives on the moons, as sorted rows of values."""
    store = store_of(MOONS)
    known = {**PREFIXES, "rdfs": "http://www.w3.org/2000/01/rdf-schema#"}
    found = store.query(declare_prefixes(query, known))
    return sorted([[getattr(term, "value", "") for term in row] for row in found])  # type: ignore[union-attr]


@for_each(
    "written",
    "```sparql\nSELECT ?m WHERE { ?m a onto:Moon }\n```",
    "```\nSELECT ?m WHERE { ?m a onto:Moon }\n```\nThis finds the moons.",
    "Here's the query:\n\n```SPARQL\nSELECT ?m WHERE { ?m a onto:Moon }",
    "Query: SELECT ?m WHERE { ?m a onto:Moon }",
    "I select the moons, then ask: SELECT ?m WHERE { ?m a onto:Moon };",
)
def test_words_and_fences_around_a_query_are_taken_off(written: str) -> None:
    assert repair_query(written).query == "SELECT ?m WHERE { ?m a onto:Moon }"


@for_each(
    ("written", "sound"),
    ("SELECT COUNT(?m) WHERE { ?m ?p ?o }", "SELECT (COUNT(?m) AS ?count) WHERE { ?m ?p ?o }"),
    ("SELECT (COUNT(*)) { ?m ?p ?o }", "SELECT (COUNT(*) AS ?count) { ?m ?p ?o }"),
    (
        "SELECT ?p COUNT(DISTINCT ?m) AS ?n { ?m ?p ?o } GROUP BY ?p",
        "SELECT ?p (COUNT(DISTINCT ?m) AS ?n) { ?m ?p ?o } GROUP BY ?p",
    ),
    (
        "SELECT min(?count) { { SELECT COUNT(?m) { ?m ?p ?count } } }",
        "SELECT (min(?count) AS ?min) { { SELECT (COUNT(?m) AS ?count2) { ?m ?p ?count } } }",
    ),
)
def test_a_bare_aggregate_gets_parentheses_and_a_name(written: str, sound: str) -> None:
    found = repair_query(written)
    assert found.query == sound
    assert found.notes == ("an aggregate was given parentheses and a name",)
    assert check_query(found.query).form == "SELECT"


def test_a_label_service_becomes_labels_in_the_askers_language_or_in_english() -> None:
    query = """SELECT ?m ?mLabel WHERE { ?m onto:orbits :Jupiter .
        SERVICE wikibase:label { bd:serviceParam wikibase:language "[AUTO_LANGUAGE],de". } }"""
    found = repair_query(query, language="de")
    assert "SERVICE" not in found.query
    labels = [["http://example.org/Europa", "Europa"], ["http://example.org/Io", "Io"]]
    assert rows(found.query) == labels
    assert '"de"' in found.query and '"de"' not in repair_query(query).query

    query = """SELECT ?name { ?m onto:orbits :Mars .
        SERVICE wikibase:label { bd:serviceParam wikibase:language "en" .
                                 ?m rdfs:label ?name . } }"""
    assert rows(repair_query(query).query) == [["Phobos"]]


@for_each(
    "query",
    "SELECT ?m { SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' } "
    "?m onto:orbits :Mars . ?m a onto:Moon }",
    "SELECT ?m { ?m onto:orbits :Mars SERVICE wikibase:label { } . ?m a onto:Moon }",
    "SELECT ?m { ?m onto:orbits :Mars . SERVICE wikibase:label { } . ?m a onto:Moon }",
    "SELECT ?m { ?m onto:orbits :Mars SERVICE <http://wikiba.se/ontology#label> { } "
    "?m a onto:Moon }",
)
def test_a_label_service_whose_labels_nobody_uses_is_only_taken_out(query: str) -> None:
    found = repair_query(query).query
    assert "SERVICE" not in found and "OPTIONAL" not in found
    assert rows(found) == [["http://example.org/Phobos"]]


@for_each(
    "query",
    "SELECT * { SERVICE <http://example.org/sparql> { ?s ?p ?o } }",
    "INSERT DATA { <a:a> <b:b> <c:c> } ; SELECT ?x { ?x ?y ?z }",
)
def test_another_service_and_an_update_are_left_for_others_to_judge(query: str) -> None:
    assert repair_query(query).query == query


def test_the_form_is_read_past_comments_and_prefixes() -> None:
    query = "# SELECT\nPREFIX select: <http://x/> BASE <http://ask/> ask { ?s ?p ?o }"
    assert get_query_form(query) == "ASK"


TEXTS = st.sampled_from(
    [
        "```sparql",
        "SELECT COUNT(?x) WHERE",
        "SERVICE wikibase:label { }",
        "Here is it: SELECT ?x { }",
        "}",
        "; # '",
        "泰坦",
    ]
)


@st.composite
def sound_queries(draw: st.DrawFn) -> str:
    """Queries that run, with texts in strings and comments that look like faults."""
    text = draw(TEXTS).replace('"', "'")
    columns, tail = draw(
        st.sampled_from(
            [
                ("*", ""),
                ("?s ?sLabel", " LIMIT 3"),
                ("DISTINCT ?s", " ORDER BY DESC(?s)"),
                ("(COUNT(?s) AS ?n)", ""),
                ("?p (MAX(?o) AS ?m) (COUNT(*) AS ?n)", " GROUP BY ?p HAVING (COUNT(*) > 1)"),
            ]
        )
    )
    comment = draw(st.sampled_from(["", f"# {text}\n"]))
    where = draw(
        st.sampled_from(
            [
                "?s ?p ?o",
                f'?s ?p ?o FILTER(STR(?o) != "{text}")',
                "?s ?p ?o . { SELECT ?s { ?s a ?c } }",
                "?s ?p ?o OPTIONAL { ?s <http://x/SELECT> ?sLabel }",
                f'?s ?p """{text}""" ; ?p ?o .',
            ]
        )
    )
    return f"{comment}SELECT {columns} WHERE {{ {comment}{where} }}{tail}"


@given(sound_queries())
def test_a_sound_query_is_left_as_it_is(query: str) -> None:
    assert check_query(query).text == query
    found = repair_query(query)
    assert (found.query, found.notes) == (query, ())


@example("```sparql ```sparql SELECT COUNT(?x) WHERE ```sparql SELECT COUNT(?x) WHERE")
@example("SELECT ?x { } SELECT COUNT(?x) WHERE Here is it: SELECT ?x { } Here is it: SELECT ?x { }")
@given(st.lists(TEXTS | st.text(max_size=8), max_size=6).map(" ".join))
def test_what_was_repaired_needs_no_more_repair(text: str) -> None:
    once = repair_query(text).query
    assert repair_query(once).query == once
