"""A word stands for itself and for what people write instead of it."""

import pytest

from askgraph.index.names import Kind, Name, NameIndex
from askgraph.search.linking.text import read
from askgraph.search.linking.variants import Variant, variants

VOCABULARY = NameIndex.of(
    Name(text, f"http://example.org/{number}", Kind.PREDICATE)
    for number, text in enumerate(
        (
            "moon photograph photo launch site spaceship fname country temperature cat bat"
            " telescopic"
        ).split()
    )
)


def of(text: str) -> dict[str, Variant]:
    """What the words may stand for, the best variant of each word of the vocabulary."""
    words = list(VOCABULARY.vocabulary)
    found = sorted(variants(read(text, "en"), VOCABULARY), key=lambda variant: variant.quality)
    return {words[variant.word]: variant for variant in found}


@pytest.mark.parametrize(
    ("text", "word", "how"),
    [
        ("moon", "moon", "exact"),
        ("moons", "moon", "exact"),
        ("Moon", "moon", "exact"),
        ("countries", "country", "exact"),
        ("launched", "launch", "root"),
        ("launching", "launch", "root"),
        ("telescope", "telescopic", "root"),
        ("photographic", "photograph", "root"),
        ("temprature", "temperature", "typo"),
        ("tempereture", "temperature", "typo"),
        ("tmeperature", "temperature", "typo"),
        ("space ship", "spaceship", "joined"),
        ("launchsite", "launch", "split"),
        ("launchsite", "site", "split"),
        ("first name", "fname", "short"),
    ],
)
def test_a_word_stands_for_another(text: str, word: str, how: str) -> None:
    assert of(text)[word].how == how


@pytest.mark.parametrize(
    ("text", "word"),
    [("cot", "cat"), ("rat", "bat"), ("temqeretura", "temperature"), ("the", "temperature")],
)
def test_a_word_does_not_stand_for_any_other(text: str, word: str) -> None:
    assert word not in of(text)


def test_the_word_itself_is_the_best_of_all() -> None:
    assert of("photograph")["photograph"].quality == 1
    assert of("photograph")["photo"].quality < 1
    assert of("temprature")["temperature"].quality < 1


def test_each_variant_says_which_word_of_the_question_it_is_of() -> None:
    found = of("which space ship has photos")
    assert found["spaceship"].position in (1, 2)
    assert found["photo"].position == 4
