"""Examples written as Turtle are the same examples when they are read."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgraph.errors import SetupError
from askgraph.graph.examples import Confirmation, QueryExample, Wording
from askgraph.graph.examples.folder import (
    collect_prefixes,
    format_declarations,
    format_document,
    format_example,
)
from askgraph.graph.examples.shacl import read_shacl

EX = "PREFIX ex: <http://example.org/>\n"
TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]) | st.sampled_from('"\\\n\r\t')
)
WORDS = TEXTS.map(lambda text: " ".join(text.split())).filter(bool)
LANGUAGES = st.sampled_from([None, "en", "de", "pt-br"])
IRIS = st.integers(0, 99).map(lambda number: f"http://example.org/{number}")
QUERIES = st.builds(
    "{}{} # {}\nFILTER(?o != {!r})".format,
    st.sampled_from(["", EX, f"{EX}PREFIX b: <http://b/>\n", "PREFIX ex: <http://other/>\n"]),
    st.sampled_from(
        "SELECT * { ?s ?p ?o }|ASK { }|DESCRIBE <http://a>|SELECT ?s { ?s ?p ex:o ; b:p 1 }".split(
            "|"
        )
    ),
    TEXTS.map(lambda text: " ".join(text.split())),
    st.integers(),
)
EXAMPLES = st.builds(
    QueryExample,
    WORDS,
    QUERIES,
    LANGUAGES,
    others=st.lists(st.builds(Wording, WORDS, LANGUAGES), max_size=3).map(tuple),
    iri=st.none() | IRIS,
    keywords=st.lists(TEXTS, unique=True, max_size=3).map(tuple),
    targets=st.lists(IRIS, unique=True, max_size=2).map(tuple),
    federates_with=st.lists(IRIS, unique=True, max_size=2).map(tuple),
    origin=st.sampled_from(["written", "confirmed", "generated"]),
    confirmation=st.none()
    | st.builds(
        Confirmation,
        st.just("2026-01-01T00:00:00+00:00"),
        WORDS,
        WORDS,
        st.integers(0, 10**9),
        st.none() | st.text("0123456789abcdef", min_size=64, max_size=64),
        st.none() | WORDS,
    ),
)


def plainly(example: QueryExample) -> QueryExample:
    """An example whose wordings differ from each other, as those of one subject do."""
    from dataclasses import replace

    return replace(example, others=tuple(dict.fromkeys(example.wordings))[1:])


@given(st.lists(EXAMPLES.map(plainly), min_size=1, max_size=4, unique_by=lambda e: e.iri or id(e)))
def test_what_is_written_is_read_again(examples: list[QueryExample]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "examples.ttl"
        path.write_text(format_document(examples), encoding="utf-8", newline="")
        found = read_shacl(path)
    assert found.skipped == ()
    assert sorted(map(repr, found.examples)) == sorted(map(repr, examples))


def test_prefixes_are_declared_once_and_left_out_of_the_queries() -> None:
    example = QueryExample("Which moons?", f"{EX}SELECT ?m {{ ?m a ex:Moon }}", "en", iri="urn:a:1")
    declared = collect_prefixes([example])

    text = format_example(example, declared)

    assert declared == {"ex": "http://example.org/"}
    said = 'sh:prefix "ex" ; sh:namespace "http://example.org/"^^xsd:anyURI'
    assert said in format_declarations(declared)
    assert 'sh:select "SELECT ?m { ?m a ex:Moon }"' in text and "PREFIX" not in text
    # Of two namespaces under one prefix the frequent one is shared.
    rare = QueryExample("1", "PREFIX ex: <http://a/>\nASK { ex:a ?p ?o }")
    common = [QueryExample(text, f"{EX}ASK {{ ex:a ?p ?o }}") for text in "23"]
    assert collect_prefixes([rare, *common]) == declared
    assert "PREFIX ex: <http://a/>" in format_example(rare, declared)
    # A prefix that a query leaves open is not declared for it.
    assert collect_prefixes([QueryExample("1", "ASK { ex:a ?p ?o }"), *common]) == {}


def test_what_rdf_does_not_allow_is_a_setup_error_with_the_question() -> None:
    for bad in (
        QueryExample("Which moons?", "ASK { }", "not a language"),
        QueryExample("Which moons?", "ASK { }", iri="no iri"),
    ):
        with pytest.raises(SetupError, match=r"'Which moons\?' cannot be written"):
            format_example(bad, {})
