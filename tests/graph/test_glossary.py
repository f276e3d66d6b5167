"""A graph's glossary as a file: what was written is read again, what is wrong is said."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.errors import SetupError
from askgraph.graph.glossary import (
    Glossary,
    GlossaryEntry,
    format_glossary,
    format_turtle_glossary,
    parse_glossary,
    parse_turtle_glossary,
)
from askgraph.graph.names import extract_code, group_by_code, group_by_property
from askgraph.sparql.prefixes import PrefixMap

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40).map(str.strip)
WORDS = st.from_regex(r"[a-z]{3,9}[0-9]", fullmatch=True)
ENTRIES = st.one_of(
    st.builds(GlossaryEntry, WORDS, means=st.just(("urn:a:b", "urn:a:c"))),
    st.builds(GlossaryEntry, WORDS, same_as=TEXTS.filter(bool)),
    st.builds(GlossaryEntry, WORDS, query=TEXTS.filter(bool)),
)


@given(st.lists(ENTRIES, max_size=5), TEXTS)
def test_what_is_written_is_read_again(entries: list[GlossaryEntry], instructions: str) -> None:
    made = Glossary(instructions=instructions).add_entries(*entries)
    assert parse_glossary(format_glossary(made), "x.toml") == made


def test_many_words_are_read_in_a_moment() -> None:
    every = Glossary().add_entries(*(GlossaryEntry(f"word {n}", ("urn:a:b",)) for n in range(5000)))
    began = time.monotonic()
    assert parse_glossary(format_glossary(every), "x.toml") == every
    assert time.monotonic() - began < 40  # seconds; one by one it were eighty, if idle


@for_each(
    ("text", "said"),
    ("word = ", "x.toml is not TOML"),
    ("words = 1", "'words' is neither 'instructions' nor"),
    ("entry = 1", "with two brackets"),
    ("[entry]\nword = 'a1'", "with two brackets"),
    ("instructions = 3", "'instructions' must be a text"),
    ("[[entry]]\nword = 'a1'\n", "say what 'a1' means by one of means, same_as, query"),
    ("[[entry]]\nword = 'a1'\nmeans = 'x'\nquery = 'y'", "by one of"),
    ("[[entry]]\nmeans = 'x'", "'word' must be the word or phrase to explain"),
    ("[[entry]]\nword = '?!'\nmeans = 'x'", "'word' must be the word or phrase to explain"),
    ("[[entry]]\nword = 'a1'\nmeans = [1]", "'means' must be a text"),
    ("[[entry]]\nword = 'a1'\nmeans = 1", "'means' must be a text"),
    ("[[entry]]\nword = 'a1'\nmeans = 'x'\nwhy = 1", "'why' is not one of word, means"),
    (
        "[[entry]]\nword = 'car'\nmeans = 'x'\n[[entry]]\nword = 'Cars'\nmeans = 'y'",
        r"\[\[entry\]\] 2: 'Cars' is explained twice, also as 'car'",
    ),
)
def test_what_is_wrong_with_a_file_is_said(text: str, said: str) -> None:
    with pytest.raises(SetupError, match=said):
        parse_glossary(text, "x.toml")


HEAD = """
@prefix o: <http://o.example/> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
"""


def read(text: str) -> Glossary:
    return parse_turtle_glossary(HEAD + text, "x.ttl")


@given(st.lists(ENTRIES, max_size=5), TEXTS, st.sampled_from(["a", "skos", "rdfs"]))
def test_turtle_that_is_written_is_read_again(
    entries: list[GlossaryEntry], instructions: str, prefix: str
) -> None:
    made = Glossary(instructions=instructions).add_entries(*entries)
    text = format_turtle_glossary(made, PrefixMap({prefix: "urn:a:"}))
    if made:
        assert parse_turtle_glossary(text, "x.ttl") == made


@for_each(
    ("text", "entry"),
    ('o:kick skos:altLabel "start"@en .', GlossaryEntry("start", ("http://o.example/kick",))),
    ('o:kick skos:hiddenLabel "strat" .', GlossaryEntry("strat", ("http://o.example/kick",))),
    (
        'o:A skos:altLabel "thing" . o:B skos:prefLabel "things" .',
        GlossaryEntry("thing", ("http://o.example/A", "http://o.example/B")),
    ),
    (
        'o:c a skos:Concept ; skos:prefLabel "start" ; skos:exactMatch o:kick .',
        GlossaryEntry("start", ("http://o.example/kick",)),
    ),
    (
        '[] owl:unionOf ( o:B o:A ) ; skos:altLabel "things" .',
        GlossaryEntry("things", ("http://o.example/B", "http://o.example/A")),
    ),
    ('[] skos:prefLabel "ship" ; skos:altLabel "boat" .', GlossaryEntry("boat", same_as="ship")),
    (
        '[] sh:ask "ASK { ?s ?p ?o }" ; skos:prefLabel "anything" .',
        GlossaryEntry("anything", query="ASK { ?s ?p ?o }"),
    ),
    (
        '[] sh:select "SELECT * { ?s e:p ?o }" ; skos:altLabel "pairs" ; sh:prefixes _:p . '
        '_:p sh:declare [ sh:prefix "e" ; sh:namespace "http://e.example/" ] .',
        GlossaryEntry("pairs", query="PREFIX e: <http://e.example/>\nSELECT * { ?s e:p ?o }"),
    ),
)
def test_standard_terms_say_what_a_word_means(text: str, entry: GlossaryEntry) -> None:
    assert read(text).entries == (entry,)


def test_comments_are_the_instructions_those_of_a_term_behind_its_name() -> None:
    known = read(
        '<> a owl:Ontology ; rdfs:comment "Old ships." .\n'
        'o:weight skos:definition "In kilograms."@en ; skos:altLabel "heft" .'
    )
    assert known.instructions == "Old ships.\no:weight: In kilograms."


@for_each(
    ("text", "said"),
    ("o:a o:b .", r"x\.ttl, line 7"),
    ('o:a rdfs:label "a" .', "explains no word: put skos:altLabel on"),
    ('[] skos:altLabel "boats" .', "nothing says what 'boats' means: put its skos:altLabel"),
    ('[] sh:select "SELECT * {}" .', "has a query but no word"),
    ('o:a skos:altLabel "?!" .', "'word' must be the word or phrase to explain"),
    (
        'o:a skos:altLabel "x1" . [] skos:prefLabel "y" ; skos:altLabel "x1" .',
        "'x1' is explained twice",
    ),
)
def test_what_is_wrong_with_turtle_is_said(text: str, said: str) -> None:
    with pytest.raises(SetupError, match=said):
        read(text)


BASE = "http://example.org/prop/"


def test_a_code_in_several_namespaces_of_one_host_is_one_property() -> None:
    iris = [BASE + "direct/P3", BASE + "name", BASE + "statement/P3", BASE + "direct/P4"]
    assert group_by_property(iris) == [(iris[0], iris[2]), (iris[1],), (iris[3],)]
    iris = [BASE + "b/P3", BASE + "a/P3"]
    assert group_by_code(iris) == {("example.org", "P3"): (iris[0], iris[1])}
    # Names that can be read, and codes of two hosts, are never put together.
    for iris in (
        ["http://example.org/moon/radius", "http://example.org/planet/radius"],
        ["http://example.org/P3", "http://example.com/P3"],
    ):
        assert group_by_property(iris) == [(iris[0],), (iris[1],)]
    assert extract_code("http://example.org/moon/radius") is None
