"""Words of IRIs and the choice among labels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.sparql.prefixes import (
    best_label,
    english_plural,
    english_singular,
    language_chain,
    with_article,
    within_sentence,
    words_of_local_name,
)


@for_each(
    ("iri", "words"),
    [
        ("http://x/ship#disposition_of_ship", "disposition of ship"),
        ("http://x/parentFeature", "parent feature"),
        ("http://x/HTTPServer2", "HTTP server 2"),
        ("http://x/Q42", "Q42"),
        ("http://x/New_York", "New York"),
        ("http://x/Dr.%20Curie", "Dr. Curie"),
        ("http://x/Berlin", "Berlin"),
        ("http://x/singer/singer_id=8", "singer id 8"),
        ("http://x/company/we42.ttl#this", "we 42"),
        ("http://x/東京駅", "東京駅"),
        ("http://x/%E6%9D%B1%E4%BA%AC", "東京"),
        ("http://x/großeStraße", "große straße"),
        ("http://x/2ndPlace", "2nd place"),
        ("http://x/3DModel", "3D model"),
        ("http://x/URIs", "URIs"),
        ("http://x/iPhone", "iPhone"),
        ("urn:isbn:123", "123"),
        ("http://x/", "x"),
        ("", ""),
    ],
)
def test_an_iri_is_split_into_words(iri: str, words: str) -> None:
    assert words_of_local_name(iri) == words


@given(st.text())
def test_any_text_gives_words_without_leading_or_trailing_space(text: str) -> None:
    words = words_of_local_name("http://x/" + text)
    assert words


LABELS = [("Moon", "en"), ("Mond", "de"), ("Måne", "da"), ("Mond AT", "de-at"), ("Luna", None)]


@for_each(
    ("languages", "label"),
    [
        (["de"], "Mond"),
        (["de-AT"], "Mond AT"),
        (["de-CH"], "Mond"),
        (["fr", "da"], "Måne"),
        (["fr"], "Luna"),
        ([], "Luna"),
    ],
)
def test_the_label_in_the_best_language_is_taken(languages: list[str], label: str) -> None:
    assert best_label(LABELS, languages) == label


def test_a_regional_label_serves_its_base_language_before_other_languages() -> None:
    assert best_label([("Colour", "en-GB"), ("Farbe", "de")], ["en"]) == "Colour"


def test_multilingual_comes_before_no_language_and_english_before_the_rest() -> None:
    assert best_label([("b", None), ("a", "mul")], ["fr"]) == "a"
    assert best_label([("c", "it"), ("d", "en")], ["fr"]) == "d"
    assert best_label([("c", "it"), ("d", "es")], ["fr"]) == "c"


def test_no_label_gives_none() -> None:
    assert best_label([], ["en"]) is None
    assert best_label([("  ", "en")], ["en"]) is None


def test_the_chain_names_each_language_once() -> None:
    assert language_chain(["de-AT", "de"]) == ("de-at", "de", "mul", "", "en")


@for_each(
    ("noun", "plural"),
    [
        ("moon", "moons"),
        ("space agency", "space agencies"),
        ("launch", "launches"),
        ("person", "people"),
        ("spacecraft", "spacecraft"),
        ("point of departure", "points of departure"),
        ("cars", "cars"),
    ],
)
def test_the_noun_before_the_preposition_is_put_into_the_plural(noun: str, plural: str) -> None:
    assert english_plural(noun) == plural


@pytest.mark.parametrize(
    ("plural", "noun"), [("moons", "moon"), ("cities", "city"), ("bus", "bus")]
)
def test_a_plural_has_a_singular(plural: str, noun: str) -> None:
    assert english_singular(plural) == noun


@pytest.mark.parametrize(
    ("noun", "spoken"), [("age", "an age"), ("radius", "a radius"), ("university", "a university")]
)
def test_the_article_follows_the_sound(noun: str, spoken: str) -> None:
    assert with_article(noun) == spoken


def test_a_label_is_lowered_within_a_sentence_but_an_abbreviation_is_not() -> None:
    assert (within_sentence("Launch site"), within_sentence("GDP")) == ("launch site", "GDP")
