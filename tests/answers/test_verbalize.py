"""Queries read back in words: every construct, every gold query, four languages."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Variable
from tests.each import for_each
from tests.readings import read_readings, read_table

from askgraph.answers.verbalize import list_query_iris, verbalize_query
from askgraph.sample import graph_path
from askgraph.sparql.elapsed import format_elapsed_time
from askgraph.sparql.prefixes import choose_label
from askgraph.sparql.vocabulary import RDFS_LABEL

FOLDER = Path(__file__).parent
DATA = Path(os.environ.get("ASKGRAPH_DATA", "../shared/data"))
PREFIX = "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "


def words(query: str, language: str = "en") -> str:
    return verbalize_query(PREFIX + query, {}, language=language)


@for_each(("query", "language", "text"), read_readings(FOLDER / "readings.txt"))
def test_a_query_is_read_as_the_file_says(query: str, language: str, text: str) -> None:
    assert words(query, language) == text


LABELS = {
    "de": {
        "Ship": "Schiff",
        "locatedIn": "liegt in",
        "carries": "trägt",
        "length": "Länge",
        "Moon": "Mond",
        "orbits": "umkreist",
        "Neptune": "Neptun",
        "height": "Höhe",
    },
    "es": {"Ship": "barco", "locatedIn": "situado en", "carries": "transporta"},
    "fr": {"Ship": "navire", "locatedIn": "situé à", "carries": "transporte"},
}


@for_each(("query", "language", "text"), read_readings(FOLDER / "readings_of_labels.txt"))
def test_a_query_reads_like_a_sentence_with_labels(query: str, language: str, text: str) -> None:
    names = {
        f"http://example.org/{name}": label for name, label in LABELS.get(language, {}).items()
    }
    prefix = PREFIX + "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
    assert verbalize_query(prefix + query, names, language=language) == text


BORN = format_elapsed_time("years", Variable("b"), Variable("d"))


@for_each(
    ("language", "text"),
    ("en", "The number of years from the birth of Ada to the death of Ada."),
    ("de", "Die Jahre von „birth“ von Ada bis „death“ von Ada."),
    ("es", "Años desde «birth» de Ada hasta «death» de Ada."),
    ("fr", "Années de « birth » d’Ada à « death » d’Ada."),
)
def test_the_time_between_two_dates_is_called_so(language: str, text: str) -> None:
    query = f"SELECT ?age {{ :Ada :birth ?b ; :death ?d . BIND({BORN} AS ?age) }}"
    assert words(query, language) == text


def test_a_condition_on_an_age_tells_from_when_to_when() -> None:
    bound = 'BIND("2024-06-30"^^xsd:date AS ?d)'
    query = f"SELECT ?s {{ ?s a :Singer ; :born ?b . {bound} BIND({BORN} AS ?a) FILTER(?a < 30) }}"

    assert words(query) == (
        "Singers, where the number of years from their “born” to 30 June 2024 is less than 30."
    )


@for_each(
    ("language", "text"),
    ("de", "„Band“ mit „country“ France."),
    ("es", "«Band» con «country» France."),
    ("fr", "« Band » dont « country » est France."),
    ("nl", "Bands whose country is France."),
    ("de-AT", "„Band“ mit „country“ France."),
)
def test_other_languages_have_their_own_phrases(language: str, text: str) -> None:
    query = "SELECT ?s { ?s a :Band ; :country :France }"
    assert words(query, language).casefold() == text.casefold()


@for_each(
    ("language", "labels", "text"),
    ("en", ("planet", "moon"), "The number of planets or moons."),
    ("de", ("Planet", "Mond"), "Anzahl der Planeten oder Monde."),
    ("es", ("planeta", "luna"), "Número de planetas o lunas."),
    ("fr", ("planète", "lune"), "Nombre de planètes ou lunes."),
)
def test_things_of_one_of_two_classes_are_told_once(
    language: str, labels: tuple[str, str], text: str
) -> None:
    query = "SELECT (COUNT(?w) AS ?n) { { ?w a <urn:a:p> } UNION { ?w a <urn:a:m> } }"
    named = dict(zip(("urn:a:p", "urn:a:m"), labels, strict=True))
    assert verbalize_query(query, named, language=language) == text


def test_a_verb_does_not_stand_behind_its_own_clause() -> None:
    query = PREFIX + "SELECT ?x { :Io :o ?b . ?b a :M ; :o ?x . ?x a :M }"
    for language, verb, noun, text in (
        ("de", "kennt", "Ort", "Orte, zu denen „kennt“ von Ort (Ziel von „kennt“ von Io) führt."),
        ("es", "orbita", "luna", "Lunas que figuran como «orbita» de luna que Io orbita."),
        ("fr", "orbite", "lune", "Lunes qui figurent comme « orbite » de lune qu’Io orbite."),
    ):
        labels = {"http://example.org/o": verb, "http://example.org/M": noun}
        assert verbalize_query(query, labels, language=language) == text


@for_each("text", ["", "hello", "SELECT", "DELETE WHERE { ?s ?p ?o }", "{{{", "😀"])
def test_what_is_no_query_gives_a_phrase(text: str) -> None:
    assert verbalize_query(text, {}) == "A query that cannot be put into words."
    assert list_query_iris(text) == ()


def test_labels_are_used_and_their_iris_are_told() -> None:
    query = PREFIX + "SELECT ?x { ?x a :C1 ; :P2 :Q3 FILTER(:f(?x) > 2) }"
    iris = list_query_iris(query)
    assert iris == tuple(f"http://example.org/{name}" for name in ("C1", "P2", "Q3", "f"))
    labels = dict(zip(iris, ("firm", "kind", "IDM", "score"), strict=True))
    assert verbalize_query(query, labels) == (
        "Firms whose kind is IDM, where the score of that firm is more than 2."
    )


def test_a_deep_query_does_not_break() -> None:
    deep = "SELECT ?x0 { " + " ".join(f"?x{n} :p ?x{n + 1} ." for n in range(300)) + " }"
    nested = "SELECT ?x " + "{ ?x :p ?y . OPTIONAL " * 300 + "{ ?x :q ?y }" + " }" * 300
    assert words(deep)
    assert words(nested)


@settings(max_examples=200, deadline=None)
@given(st.text("{}()<>?:.;,'\"\\|&!=*+^ aSELCTWHRxyFIUNO123", max_size=80))
def test_no_text_raises(text: str) -> None:
    assert verbalize_query("SELECT * { " + text + " }", {})
    assert verbalize_query(text, {})


def _sample() -> Iterator[tuple[str, dict[str, dict[str, str]]]]:
    store = pyoxigraph.Store()
    store.load(path=str(graph_path()), format=pyoxigraph.RdfFormat.TURTLE)
    found: dict[str, list[tuple[str, str | None]]] = {}
    for quad in store.quads_for_pattern(None, pyoxigraph.NamedNode(RDFS_LABEL), None):
        assert isinstance(quad.object, pyoxigraph.Literal)
        assert isinstance(quad.subject, pyoxigraph.NamedNode)
        found.setdefault(quad.subject.value, []).append((quad.object.value, quad.object.language))
    labels = {
        language: {iri: choose_label(given, [language]) or "" for iri, given in found.items()}
        for language in ("en", "de", "es")
    }
    path = graph_path().with_name("questions.jsonl")
    for line in path.read_text(encoding="utf-8").splitlines():
        if query := json.loads(line).get("sparql"):
            yield query, labels


def test_every_gold_query_of_the_sample_graph_reads_without_residue() -> None:
    for query, labels in _sample():
        for language, names in labels.items():
            text = verbalize_query(query, names, language=language)
            assert not any(
                mark in text.rstrip("?") for mark in ("?", "http", "_", "  ", " ,", ",,")
            )
            assert "cannot be" not in text
            assert 3 < len(text) < 300


@pytest.mark.data
@pytest.mark.parametrize("folder", ["supply-kgrep", "spider4sparql"])
def test_gold_queries_read_without_residue_and_fast(folder: str) -> None:
    path = DATA / folder / "questions.jsonl"
    if not path.exists():
        pytest.skip(f"needs the benchmark data: {path} is not there")
    queries = [json.loads(line)["sparql"] for line in path.read_text(encoding="utf-8").splitlines()]
    began = time.process_time()
    texts = [verbalize_query(query, {}) for query in queries]
    assert (time.process_time() - began) / len(queries) < 0.01
    for text in texts:
        assert not any(mark in text.rstrip("?") for mark in ("?", "http", "cannot be put"))


@for_each(("query", "words"), read_table(__file__, "readings_of_many.txt"))
def test_many_values_and_nodes_without_a_noun_read_well(query: str, words: str) -> None:
    assert words in verbalize_query("PREFIX : <http://example.org/> " + query, {})


def test_many_dates_are_told_by_the_first_and_the_last() -> None:
    days = ", ".join(
        f'"{year}-0{month}-01"^^<http://www.w3.org/2001/XMLSchema#date>'
        for year in (1969, 1961, 1964)
        for month in (1, 2)
    )
    query = f"SELECT ?a {{ ?a <http://x/founded> ?d FILTER(?d IN ({days})) }}"
    assert verbalize_query(query, {}) == (
        "Things whose “founded” is one of 6 values from 1 January 1961 to 1 February 1969."
    )


def test_labels_of_another_language_are_not_bent_as_if_they_were_of_this_one() -> None:
    query = PREFIX + "SELECT ?s { ?s a :LaunchSite ; :orbits :Mars }"
    assert (
        verbalize_query(query, {}, language="fr", nouns="en")
        == "Launch sites dont « orbits » est Mars."
    )
    assert (
        verbalize_query(query, {}, language="fr", nouns="")
        == "« Launch site » dont « orbits » est Mars."
    )


@pytest.mark.parametrize("form", ["binds", "sums", "keys"])
def test_names_that_stand_for_others_twice_each_end_in_a_phrase_at_once(form: str) -> None:
    binds = " ".join(f"BIND(?a{at} + ?a{at} AS ?a{at + 1})" for at in range(60))
    sums = keys = "{ ?s ?p ?a0 }"
    for at in range(40):
        new = f"?a{at + 1}"
        sums = f"{{ SELECT (SUM(?a{at}) + MAX(?a{at}) AS {new}) WHERE {sums} }}"
        group = f"GROUP BY (?a{at} + ?a{at} AS {new})"
        keys = f"{{ SELECT {new} (COUNT(*) AS ?c{at}) WHERE {keys} {group} }}"
    wheres = {"binds": f"{{ ?s ?p ?a0 . {binds} }}", "sums": sums, "keys": keys}

    said = verbalize_query(f"SELECT * {wheres[form]}", {})
    assert said == "A query that cannot be put into words." or len(said) < 5_000
