"""English nouns in sentences."""

import pytest

from askgraph.rdf.nouns import english_plural, english_singular, with_article, within_sentence


@pytest.mark.parametrize(
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
