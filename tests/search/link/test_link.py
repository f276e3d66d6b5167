"""Words of a question find the names that they mean."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.each import for_each
from tests.readings import read_table
from tests.search.link.conftest import ENTITIES, PLACE

from askgraph.index.names import IndexedName, ItemKind, NameIndex
from askgraph.search.link import (
    Link,
    Variant,
    find_alternative_targets,
    find_variants,
    link_question,
)
from askgraph.search.link.spelling import correct_spelling
from askgraph.search.tokenize import tokenize

FOUND = read_table(__file__, "found.txt")
"""How words find a name, a question, what its words mean, and those words."""


def found(question: str, index: NameIndex, target: str) -> list[Link]:
    whole = target if target.startswith('"') else PLACE + target
    return [one for one in link_question(tokenize(question), index).links if one.target == whole]


def said(question: str, one: Link) -> str:
    tokens = tokenize(question).tokens
    return " ".join(tokens[at].text for at in one.positions)


@for_each(("how", "question", "target", "words"), FOUND)
def test_words_find_the_name_they_mean(
    how: str, question: str, target: str, words: str, index: NameIndex
) -> None:
    links = found(question, index, target)
    assert links
    content = {w.casefold() for w in words.replace("-", " ").split()}
    assert content & {w.casefold() for w in said(question, links[0]).split()}


@for_each(("how", "question", "target", "words"), [case for case in FOUND if case[2] in ENTITIES])
def test_the_name_meant_is_the_best_of_its_words(
    how: str, question: str, target: str, words: str, index: NameIndex
) -> None:
    best = next(
        one for one in link_question(tokenize(question), index).links if one.kind is ItemKind.ENTITY
    )
    assert best.target == PLACE + target


@for_each(("how", "question", "target"), read_table(__file__, "not_found.txt"))
def test_other_words_find_no_name(how: str, question: str, target: str, index: NameIndex) -> None:
    assert not found(question, index, target)


def test_the_whole_name_counts_more_than_its_part(index: NameIndex) -> None:
    whole = found("Marie Curie", index, "curie")[0]
    part = found("Curie", index, "curie")[0]
    assert whole.similarity == pytest.approx(1)
    assert part.score < whole.score


def test_the_main_name_counts_more_than_another_one(index: NameIndex) -> None:
    assert found("Maria Skłodowska", index, "curie")[0].score < 1
    assert found("Marie Curie", index, "curie")[0].score == pytest.approx(1)


def test_a_name_spelled_wrong_counts_less_than_one_spelled_right(index: NameIndex) -> None:
    right = found("Pacific Ocean", index, "ocean")[0]
    wrong = found("Pazific Ocean", index, "ocean")[0]
    assert wrong.score < right.score
    assert wrong.quality < right.quality


def test_words_far_apart_are_no_name_together(index: NameIndex) -> None:
    question = "Which golden retriever ran slowly through the gate of Anna's bridge?"
    assert all(one.similarity < 1 for one in found(question, index, "bridge"))


def test_function_words_in_quotation_marks_are_part_of_the_name(index: NameIndex) -> None:
    quoted = found('Who wrote "The Whale and the Boat"?', index, "whale")[0]
    assert len(quoted.positions) == 5
    assert quoted.similarity == pytest.approx(1)


def test_function_words_tell_nothing_and_rare_words_much(index: NameIndex) -> None:
    linked = link_question(tokenize("Where is the Pacific Ocean"), index)
    where, is_, the, pacific, ocean = linked.weights
    assert where == is_ == the == 0
    assert pacific > 0 and ocean > 0


def test_unknown_words_count_too(index: NameIndex) -> None:
    assert link_question(tokenize("Where is Qwertz?"), index).weights[-1] > 0


def test_links_come_best_first(index: NameIndex) -> None:
    scores = [
        one.score
        for one in link_question(tokenize("Which cities has Dr. Curie in photos?"), index).links
    ]
    assert scores == sorted(scores, reverse=True)


def test_links_of_a_kind_are_of_that_kind(index: NameIndex) -> None:
    linked = link_question(tokenize("Which city has a launch site of Marie Curie?"), index)
    assert {one.kind for one in linked.get_links(ItemKind.CLASS, ItemKind.PREDICATE)} == {
        ItemKind.CLASS,
        ItemKind.PREDICATE,
    }
    assert set(linked.links) == set(linked.get_links(*ItemKind))


@given(text=st.text(max_size=60), language=st.sampled_from([None, "en", "de", "es", "fr", "ja"]))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_text_is_linked_and_similarities_are_shares(
    text: str, language: str | None, index: NameIndex
) -> None:
    linked = link_question(tokenize(text, language), index)
    assert len(linked.weights) == len(linked.reading.tokens)
    assert all(weight >= 0 for weight in linked.weights)
    for one in linked.links:
        check(one, len(linked.reading.tokens))


KNOWN = "Marie Curie of the Pacific ocean's launch sites photo first name AB-12 22 cities , ' \" -"


@given(words=st.lists(st.sampled_from(KNOWN.split()), max_size=15))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_known_words_link_and_similarities_are_shares(words: list[str], index: NameIndex) -> None:
    linked = link_question(tokenize(" ".join(words)), index)
    for one in linked.links:
        check(one, len(linked.reading.tokens))


def check(one: Link, tokens: int) -> None:
    assert 0 < one.similarity <= 1
    assert 0 < one.score <= 1
    assert all(0 < quality <= 1 for quality in one.qualities)
    assert len(one.positions) == len(one.qualities) > 0
    assert list(one.positions) == sorted(set(one.positions))
    assert one.positions[-1] < tokens
    assert one.mask.bit_count() == len(one.positions)


PLANET, GOD, CAR = "http://x/planet", "http://x/god", "http://x/car"
INDEX = NameIndex.from_names(
    [
        IndexedName("Mercury", PLANET, ItemKind.ENTITY),
        IndexedName("Mercury", GOD, ItemKind.ENTITY),
        IndexedName("mercury", CAR, ItemKind.CLASS),
        IndexedName("Venus", "http://x/venus", ItemKind.ENTITY),
        IndexedName("diameter", "http://x/diameter", ItemKind.PREDICATE),
    ]
)
LINKED = link_question(tokenize("What is the diameter of Mercury?", "en"), INDEX)


def test_only_a_homonym_of_the_same_kind_may_be_meant() -> None:
    assert find_alternative_targets(LINKED, PLANET) == (GOD,)
    assert find_alternative_targets(LINKED, GOD) == (PLANET,)
    assert find_alternative_targets(LINKED, "http://x/diameter") == ()
    assert find_alternative_targets(LINKED, "http://x/venus") == ()
    assert find_alternative_targets(LINKED, CAR) == ()


WORDS = "moon photograph photo launch site spaceship fname country temperature cat bat telescopic"
VOCABULARY = NameIndex.from_names(
    IndexedName(text, f"http://example.org/{number}", ItemKind.PREDICATE)
    for number, text in enumerate(WORDS.split())
)


def of(text: str) -> dict[str, Variant]:
    """What the words may stand for, the best variant of each word of the vocabulary."""
    words = list(VOCABULARY.vocabulary)
    found = sorted(
        find_variants(tokenize(text, "en"), VOCABULARY), key=lambda variant: variant.quality
    )
    return {words[variant.word]: variant for variant in found}


FORMS = """moon, moon, exact; moons, moon, exact; Moon, moon, exact; countries, country, exact
launched, launch, root; telescope, telescopic, root; photographic, photograph, root
temprature, temperature, typo; tempereture, temperature, typo; tmeperature, temperature, typo
space ship, spaceship, joined; launchsite, launch, split; launchsite, site, split
first name, fname, short; launching, launch, root"""


@for_each(
    ("text", "word", "how"),
    [case.split(", ") for line in FORMS.splitlines() for case in line.split("; ")],
)
def test_a_word_stands_for_another(text: str, word: str, how: str) -> None:
    assert of(text)[word].how == how


@for_each(
    ("text", "word"),
    [("cot", "cat"), ("rat", "bat"), ("temqeretura", "temperature"), ("the", "temperature")],
)
def test_a_word_does_not_stand_for_any_other(text: str, word: str) -> None:
    assert word not in of(text)


@for_each(
    ("text", "forms"),
    ("How mnay contries hav a temprature", "how many countries hav a temperature"),
    ("wich hat wich has a photo", "which hat wich has a photo"),
    ("averge nubmer of phtos per cuontry", "average number of photos per country"),
    ("Which moons ater 1990 hvae phoptgraphs", "which moons after 1990 have phoptgraphs"),
    ("who knows Cuontry or 'cuontry'", "who knows cuontry or cuontry"),
    ("Wie veile Länder haben ein Raumfahrtfoto", "wie viele lander haben ein raumfahrtfoto"),
    (f"{'mna' * 9_000} {'mna' * 400_000}", f"{'mna' * 9_000} {'mna' * 400_000}"),
    ("¿Cuántas fotogarfías tiene qxzvv?", "cuantas fotografias tiene qxzvv"),
)
def test_words_one_letter_off_are_corrected(text: str, forms: str) -> None:
    reading = tokenize(text)
    corrected = correct_spelling(reading, VOCABULARY)
    assert " ".join(corrected.folded_words) == forms
    assert [token.text for token in corrected.tokens] == [token.text for token in reading.tokens]
    assert correct_spelling(corrected, VOCABULARY) == corrected


def test_the_word_itself_is_the_best_of_all() -> None:
    assert of("photograph")["photograph"].quality == 1
    assert of("photograph")["photo"].quality < 1
    assert of("temprature")["temperature"].quality < 1


def test_each_variant_says_which_word_of_the_question_it_is_of() -> None:
    found = of("which space ship has photos")
    assert found["spaceship"].position in (1, 2)
    assert found["photo"].position == 4
