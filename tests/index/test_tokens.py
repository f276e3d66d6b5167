"""Words are folded, split and stemmed so that equal ones meet, and nothing more."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.index import folded, stem, tokens


@given(text=st.text())
@example("İ ŉ ﬁ ǰ ẞ ͅ ᾳ")
@example("Curie's hasSite2")
def test_tokens_of_tokens_are_the_same_tokens(text: str) -> None:
    once = tokens(text)
    assert tokens(" ".join(once)) == once


@given(text=st.text(max_size=20))
@example("classes")
@example("glasses")
@example("serieses")
@example("businesses")
@example("ssss")
def test_a_stem_is_its_own_stem(text: str) -> None:
    for word in tokens(text):
        assert stem(stem(word)) == stem(word)


@given(word=st.text(max_size=20))
def test_a_folded_word_is_folded(word: str) -> None:
    assert folded(folded(word)) == folded(word)


@for_each(
    ("text", "expected"),
    [
        ("Marie Curie", ("marie", "curie")),
        ("launchSite", ("launch", "site")),
        ("hasSite2", ("has", "site", "2")),
        ("Curie's", ("curie",)),
        ("Zürich", ("zurich",)),
        ("São_Tomé", ("sao", "tome")),
        ("1,000.5", ("1,000.5",)),
        ("富士山", ("富士山",)),
        ("МОСКВА", ("москва",)),
        ("", ()),
        ("?!", ()),
    ],
)
def test_text_is_cut_into_words(text: str, expected: tuple[str, ...]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize("word", ["й", "が", "ά"])
def test_marks_of_other_scripts_are_kept(word: str) -> None:
    bare = {"й": "и", "が": "か"}
    assert folded(word) != bare.get(word)


@for_each(
    ("plural", "singular"),
    [
        ("moons", "moon"),
        ("cities", "city"),
        ("boxes", "box"),
        ("churches", "church"),
        ("dishes", "dish"),
        ("masses", "mass"),
        ("cars", "car"),
    ],
)
def test_plural_and_singular_have_one_stem(plural: str, singular: str) -> None:
    assert stem(plural) == stem(singular)


@for_each("word", ["mass", "status", "analysis", "gas", "bus", "as", "1990"])
def test_what_is_no_plural_stays(word: str) -> None:
    assert stem(word) == word
