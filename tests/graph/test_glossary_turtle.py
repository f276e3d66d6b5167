"""A graph's glossary as Turtle: what was written is read again, standard terms are understood."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.graph.test_glossary import ENTRIES, TEXTS

from askgraph.errors import SetupError
from askgraph.graph.glossary import Entry, Glossary, read_turtle_glossary, turtle_glossary
from askgraph.sparql.prefixes import PrefixMap

HEAD = """
@prefix o: <http://o.example/> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
"""


def read(text: str) -> Glossary:
    return read_turtle_glossary(HEAD + text, "x.ttl")


@given(st.lists(ENTRIES, max_size=5), TEXTS, st.sampled_from(["a", "skos", "rdfs"]))
def test_what_is_written_is_read_again(
    entries: list[Entry], instructions: str, prefix: str
) -> None:
    made = Glossary(instructions=instructions).with_entries(*entries)
    text = turtle_glossary(made, PrefixMap({prefix: "urn:a:"}))
    if made:
        assert read_turtle_glossary(text, "x.ttl") == made


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ('o:kick skos:altLabel "start"@en .', Entry("start", ("http://o.example/kick",))),
        ('o:kick skos:hiddenLabel "strat" .', Entry("strat", ("http://o.example/kick",))),
        (
            'o:A skos:altLabel "thing" . o:B skos:prefLabel "things" .',
            Entry("thing", ("http://o.example/A", "http://o.example/B")),
        ),
        (
            'o:c a skos:Concept ; skos:prefLabel "start" ; skos:exactMatch o:kick .',
            Entry("start", ("http://o.example/kick",)),
        ),
        (
            '[] owl:unionOf ( o:B o:A ) ; skos:altLabel "things" .',
            Entry("things", ("http://o.example/B", "http://o.example/A")),
        ),
        ('[] skos:prefLabel "ship" ; skos:altLabel "boat" .', Entry("boat", same_as="ship")),
        (
            '[] sh:ask "ASK { ?s ?p ?o }" ; skos:prefLabel "anything" .',
            Entry("anything", query="ASK { ?s ?p ?o }"),
        ),
        (
            '[] sh:select "SELECT * { ?s e:p ?o }" ; skos:altLabel "pairs" ; sh:prefixes _:p . '
            '_:p sh:declare [ sh:prefix "e" ; sh:namespace "http://e.example/" ] .',
            Entry("pairs", query="PREFIX e: <http://e.example/>\nSELECT * { ?s e:p ?o }"),
        ),
    ],
)
def test_standard_terms_say_what_a_word_means(text: str, entry: Entry) -> None:
    assert read(text).entries == (entry,)


def test_comments_are_the_instructions_those_of_a_term_behind_its_name() -> None:
    known = read(
        '<> a owl:Ontology ; rdfs:comment "Old ships." .\n'
        'o:weight skos:definition "In kilograms."@en ; skos:altLabel "heft" .'
    )
    assert known.instructions == "Old ships.\no:weight: In kilograms."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("o:a o:b .", r"x\.ttl, line 7"),
        ('o:a rdfs:label "a" .', "explains no word: put skos:altLabel on"),
        ('[] skos:altLabel "boats" .', "nothing says what 'boats' means: put its skos:altLabel"),
        ('[] sh:select "SELECT * {}" .', "has a query and no word"),
        ('o:a skos:altLabel "?!" .', "'word' is the word or phrase to explain"),
        (
            'o:a skos:altLabel "x1" . [] skos:prefLabel "y" ; skos:altLabel "x1" .',
            "'x1' is explained twice",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_said(text: str, said: str) -> None:
    with pytest.raises(SetupError, match=said):
        read(text)
