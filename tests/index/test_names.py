"""Every name is found by its own words, before and after it was saved."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from askgraph.index.names import (
    IndexedName,
    IndexedNameMatch,
    ItemKind,
    NameIndex,
    compute_rarity,
    find_phrases,
    split_tokens,
    stem_name,
)

NAMES = st.lists(
    st.builds(
        IndexedName,
        text=st.text(max_size=25) | st.sampled_from(["Red Sea", "red", "Sea of Red", "Red Red"]),
        target=st.sampled_from([f"http://example.org/{number}" for number in range(9)]),
        kind=st.sampled_from(ItemKind),
        preferred=st.booleans(),
    ),
    max_size=12,
)


def by_text(index: NameIndex, text: str) -> list[IndexedNameMatch]:
    numbers = [index.find_word(word) for word in stem_name(text)]
    hits = [(at, number, 1.0) for at, number in enumerate(numbers) if number is not None]
    return index.search(hits)


@given(names=NAMES)
@settings(deadline=None)
def test_every_name_is_found_by_its_own_text(names: list[IndexedName]) -> None:
    index = NameIndex.from_names(names)
    assert {index.read_name(at) for at in range(len(index))} == set(names)
    for name in names:
        if stem_name(name.text):
            similar = {match.name: match.similarity for match in by_text(index, name.text)}
            assert similar[name] == pytest.approx(1)


@given(names=NAMES)
@settings(deadline=None)
def test_similarities_are_shares_and_come_best_first(names: list[IndexedName]) -> None:
    index = NameIndex.from_names(names)
    for name in names:
        shares = [match.similarity for match in by_text(index, name.text)]
        assert all(0.3 <= share <= 1 for share in shares)
        assert shares == sorted(shares, reverse=True)


@given(names=NAMES)
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_a_saved_index_finds_the_same(names: list[IndexedName]) -> None:
    index = NameIndex.from_names(names)
    with TemporaryDirectory() as folder:
        index.save(Path(folder))
        loaded = NameIndex.load(Path(folder))
        assert loaded.vocabulary == index.vocabulary
        for name in names:
            assert by_text(loaded, name.text) == by_text(index, name.text)


def test_the_order_of_words_does_not_matter_and_a_part_counts_in_part() -> None:
    index = NameIndex.from_names([IndexedName("Golden Gate Bridge", "http://e/b", ItemKind.ENTITY)])
    (whole,), (part,) = by_text(index, "bridge golden gate"), by_text(index, "golden gate")
    assert whole.similarity == pytest.approx(1)
    assert part.similarity == pytest.approx(2 / 3)


def test_rare_words_tell_more_than_frequent_ones() -> None:
    assert compute_rarity(1, 1000) > compute_rarity(10, 1000) > compute_rarity(1000, 1000) == 1
    index = NameIndex.from_names(
        [
            IndexedName(f"River {name}", f"http://e/{name}", ItemKind.ENTITY)
            for name in "Ems Aar Inn Ill".split()
        ]
    )
    (best,) = [m for m in by_text(index, "Ems") if m.name.text == "River Ems"]
    assert best.similarity > 0.5
    assert all(match.similarity < 0.5 for match in by_text(index, "River"))


def test_an_empty_index_finds_nothing_and_a_limit_holds() -> None:
    index = NameIndex.from_names([])
    assert len(index) == 0
    assert index.find_word("io") is None
    assert index.search([]) == []
    names = [
        IndexedName(f"Lake {number}", f"http://e/{number}", ItemKind.ENTITY) for number in range(50)
    ]
    index = NameIndex.from_names(names * 2)
    word = index.find_word("lake")
    assert len(index) == 50 and word is not None  # a name given twice is kept once
    assert len(index.search([(0, word, 1.0)], limit=7)) == 7


BEARERS = [
    IndexedName("Titan", "http://e/titan", ItemKind.ENTITY),
    IndexedName("Titan IIIE", "http://e/rocket", ItemKind.ENTITY),
    IndexedName("moons of Titan", "http://e/moons", ItemKind.ENTITY),
    IndexedName("moon", "http://e/Moon", ItemKind.CLASS),
    IndexedName("New York New York", "http://e/ny", ItemKind.ENTITY),
]


def test_with_inflected_words_plurals_are_names_too() -> None:
    index = NameIndex.from_names(BEARERS)

    assert not list(find_phrases(["moon", "of", "titans"], index))[1:]
    found = find_phrases(["moon", "of", "titans"], index, inflected=True)
    assert (0, 3) in {(one.first, one.end) for one in found}


@given(st.lists(st.sampled_from("titan iiie moons of moon new york and".split()), max_size=12))
def test_all_names_are_found_and_no_others(words: list[str]) -> None:
    found = {
        (one.first, one.end, name.text)
        for one in find_phrases(words, NameIndex.from_names(BEARERS))
        for name in one.names
    }

    expected = {
        (first, end, name.text)
        for first in range(len(words))
        for end in range(first + 1, len(words) + 1)
        for name in BEARERS
        if split_tokens(name.text) == tuple(words[first:end])
    }
    assert found == expected
