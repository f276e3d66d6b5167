"""Names that a text says word for word."""

from hypothesis import given
from hypothesis import strategies as st

from askgraph.index.names import Kind, Name, NameIndex
from askgraph.index.phrases import phrases
from askgraph.index.tokens import tokens

NAMES = [
    Name("Titan", "http://e/titan", Kind.ENTITY),
    Name("Titan IIIE", "http://e/rocket", Kind.ENTITY),
    Name("moons of Titan", "http://e/moons", Kind.ENTITY),
    Name("moon", "http://e/Moon", Kind.CLASS),
    Name("New York New York", "http://e/ny", Kind.ENTITY),
]


def said(text: str) -> list[tuple[int, int, str]]:
    index = NameIndex.of(NAMES)
    found = phrases(tokens(text), index)
    return [(one.first, one.end, name.text) for one in found for name in one.names]


def test_names_are_found_where_they_stand() -> None:
    assert said("A Titan IIIE flew") == [(1, 2, "Titan"), (1, 3, "Titan IIIE")]


def test_a_name_is_found_in_its_own_words_alone() -> None:
    assert said("Which moons are there?") == []
    assert said("Titan of moons") == [(0, 1, "Titan")]


def test_with_inflected_words_plurals_are_names_too() -> None:
    index = NameIndex.of(NAMES)

    assert not list(phrases(["moon", "of", "titans"], index))[1:]
    found = phrases(["moon", "of", "titans"], index, inflected=True)
    assert (0, 3) in {(one.first, one.end) for one in found}


def test_words_that_come_twice_in_a_name_do_so_in_the_text() -> None:
    assert said("New York") == []
    assert said("New York, New York!") == [(0, 4, "New York New York")]


@given(st.lists(st.sampled_from("titan iiie moons of moon new york and".split()), max_size=12))
def test_all_names_are_found_and_no_others(words: list[str]) -> None:
    found = {
        (one.first, one.end, name.text)
        for one in phrases(words, NameIndex.of(NAMES))
        for name in one.names
    }

    expected = {
        (first, end, name.text)
        for first in range(len(words))
        for end in range(first + 1, len(words) + 1)
        for name in NAMES
        if tokens(name.text) == tuple(words[first:end])
    }
    assert found == expected
