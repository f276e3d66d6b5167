"""The four word lists say the same in four languages."""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.index.names import fold_word, split_tokens, stem_word
from askgraph.search.tokenize import word_lists

DEGREES = {"plain", "comparative", "superlative"}
TABLES = (
    "asks", "operators", "clauses", "requests", "yes_or_no", "numbers", "times", "texts", "naming",
    "light", "describing", "follow",
)  # fmt: skip


def raw(language: str) -> Mapping[str, Any]:
    source = files("askgraph.search.tokenize").joinpath("words", f"{language}.toml")
    return tomllib.loads(source.read_text(encoding="utf-8"))


def keys(table: Mapping[str, Any], *path: str) -> set[str]:
    for key in path:
        table = table[key]
    return set(table)


def test_there_are_four_languages() -> None:
    assert word_lists.LANGUAGES == ("en", "de", "es", "fr")


@for_each("language", word_lists.LANGUAGES)
@for_each("path", [(), *((table,) for table in TABLES)])
def test_all_lists_have_the_keys_of_the_english_one(language: str, path: tuple[str, ...]) -> None:
    assert keys(raw(language), *path) == keys(raw("en"), *path)


@for_each("language", word_lists.LANGUAGES)
def test_no_list_is_empty(language: str) -> None:
    words = word_lists.get_word_list(language)
    assert words.language == language
    assert len(words.stop_words) > 50
    assert all(words.operators.values())
    assert all(words.question_words.values())
    assert all(words.clauses.values()) and all(words.yes_or_no.values())
    assert words.minus_phrases and words.synonyms and words.naming
    assert len(words.measures) > 50


@for_each("language", word_lists.LANGUAGES)
def test_all_months_and_the_numbers_from_two_to_twelve_are_there(language: str) -> None:
    words = word_lists.get_word_list(language)
    assert set(words.months.values()) == set(range(1, 13))
    assert set(range(2, 13)) <= set(words.number_words.values())
    assert set(range(1, 11)) <= set(words.ordinals.values())
    assert {1e3, 1e6, 1e9} <= set(words.number_scales.values())


@for_each("language", word_lists.LANGUAGES)
def test_an_adjective_has_all_degrees_and_something_to_measure(language: str) -> None:
    for adjective in raw(language)["adjectives"]:
        assert isinstance(adjective["up"], bool)
        assert set(adjective) >= DEGREES
        assert adjective.get("measures") or adjective.get("dates"), adjective


@for_each("language", word_lists.LANGUAGES)
def test_phrases_are_written_as_questions_are_read(language: str) -> None:
    words = word_lists.get_word_list(language)
    listed = [
        p for group in (words.operators, words.question_words) for ps in group.values() for p in ps
    ]
    listed += [measure.phrase for measure in words.measures]
    assert all(part == fold_word(part) for phrase in listed for part in phrase)
    assert all(split_tokens(" ".join(phrase)) == phrase for phrase in listed)


@for_each("language", word_lists.LANGUAGES)
def test_synonyms_are_stems_and_go_both_ways(language: str) -> None:
    synonyms = word_lists.get_word_list(language).synonyms
    assert all(word == stem_word(word) for word in synonyms)
    assert all(one in synonyms[other] for one, others in synonyms.items() for other in others)
    assert all(word not in others for word, others in synonyms.items())


@for_each("language", word_lists.LANGUAGES)
def test_the_longest_phrase_of_a_word_comes_first(language: str) -> None:
    for pairs in word_lists.get_word_list(language).operators_by_first_word.values():
        sizes = [len(phrase) for phrase, _ in pairs]
        assert sizes == sorted(sizes, reverse=True)


def test_the_shared_words_hold_the_function_words_of_each_language_and_words_of_names() -> None:
    shared = word_lists.get_shared_words()
    assert set(shared.stop_words) == set(word_lists.LANGUAGES)
    assert shared.roman_numerals[19] == "xx"
    assert shared.names["subject"] == {"of"}
    assert all(shared.names.values()) and all(shared.endings.values())


def test_an_unknown_language_takes_the_english_list() -> None:
    assert word_lists.get_word_list("tlh").language == "en"


def test_a_text_without_function_words_counts_as_english() -> None:
    assert word_lists.detect_language(["富士山"]) == "en"
    assert word_lists.detect_language([]) == "en"


@for_each(
    ("text", "language"),
    [
        ("outils écrits en Rust", "fr"),
        ("in Rust geschriebene Tools", "de"),
        ("date in Rust", "en"),
        ("decoration techniques", "en"),
        ("email addresses", "en"),
        ("book stores", "en"),
        ("war films", "en"),
        ("techniques de gravure", "fr"),
        ("wer war Kafka", "de"),
    ],
)
def test_known_words_tell_languages_with_a_common_function_word(text: str, language: str) -> None:
    assert word_lists.detect_language(text.split()) == language


KINDS = {"persons", "bodies", "places", "times"}


@for_each(
    ("name", "language", "kind"),
    ("launch site", "en", "places"),
    ("place of birth", "en", "places"),
    ("located in", "en", "places"),
    ("city_name", "", "places"),
    ("homeCity", "", "places"),
    ("Startplatz", "de", "places"),
    ("Ort der Geburt", "de", "places"),
    ("sitio de lanzamiento", "es", "places"),
    ("lieu de naissance", "fr", "places"),
    ("head teacher", "en", "persons"),
    ("Besatzungsmitglied", "de", "persons"),
    ("autor principal", "es", "persons"),
    ("chanteuse", "fr", "persons"),
    ("space agency", "en", "bodies"),
    ("agencia espacial", "es", "bodies"),
    ("date of birth", "en", "times"),
    ("fecha de nacimiento", "es", "times"),
)
def test_a_name_tells_the_kind_by_its_head(name: str, language: str, kind: str) -> None:
    assert kind in word_lists.get_name_kinds([(name, language)])


@for_each("name", ["weight", "rocket", "country club member fee", "orbit", ""])
def test_a_name_of_something_else_tells_no_person(name: str) -> None:
    assert "persons" not in word_lists.get_name_kinds([(name, "en")])


def test_what_a_name_is_of_is_not_its_head() -> None:
    assert "places" not in word_lists.get_name_kinds([("mayor of the city", "en")])


def test_predicates_that_only_persons_have_are_signs_of_them() -> None:
    assert word_lists.find_kind_signs(frozenset({"date", "birth"})) == {"persons"}
    assert word_lists.find_kind_signs(frozenset({"latitude"})) == {"places"}
    assert not word_lists.find_kind_signs(frozenset({"weight"}))


@given(st.text(max_size=30), st.sampled_from(["", "en", "de", "es", "fr"]))
def test_any_text_has_a_head_and_kinds_of_the_lists(text: str, language: str) -> None:
    assert isinstance(word_lists.find_head(text, language), str)
    assert word_lists.get_name_kinds([(text, language)]) <= KINDS


def test_each_list_has_words() -> None:
    words = word_lists.load_kind_words()
    assert set().union(*words.stems.values()) == KINDS
    assert all(words.endings.values()) and all(words.signs.values())
