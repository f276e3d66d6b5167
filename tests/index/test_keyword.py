"""Prefix keywords against a search through every name, and the paper's example."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.index import Resource
from askgraph.index.keyword import KeywordIndex
from askgraph.index.names import split_words

EX = "http://example.org/"


def indexed(folder: Path, *names: str | tuple[str, ...]) -> KeywordIndex:
    """Resources by their names, the first with the highest score."""
    resources = [
        Resource(f"{EX}{at}", all_names[0], tuple(all_names[1:]), float(-at))
        for at, all_names in enumerate((n,) if isinstance(n, str) else n for n in names)
    ]
    return KeywordIndex.build(resources, folder / "index")


def labels(index: KeywordIndex, text: str, limit: int = 10) -> list[str]:
    return [hit.item.label for hit in index.search(text, limit=limit)]


def test_the_example_of_the_paper(tmp_path: Path) -> None:
    index = indexed(tmp_path, "Peter Falk", "Carlos Alberto", "Albert Finney", "Albert Einstein")

    hits = index.search("Albert E")

    assert [(hit.item.label, hit.score) for hit in hits] == [
        ("Albert Einstein", 1.75),
        ("Albert Finney", 1.0),
        ("Carlos Alberto", 0.75),
    ]


def test_label_and_synonyms_are_ranked_apart_and_the_best_is_told(tmp_path: Path) -> None:
    index = indexed(tmp_path, ("Samuel Clemens", "Mark Twain"), "Mark Clemens")

    hits = index.search("mark clemens")

    assert [(hit.item.label, hit.score, hit.name) for hit in hits] == [
        ("Mark Clemens", 2.0, "Mark Clemens"),
        ("Samuel Clemens", 1.0, "Samuel Clemens"),
    ]


@for_each(
    ("text", "meant"),
    ("einstien", "Einstein"),  # changed places
    ("einstei", "Einstein"),  # begun: no error
    ("einsten", "Einstein"),  # missing
    ("einsstein", "Einstein"),  # added
    ("eimstein", "Einstein"),  # wrong
    ("xinstein", "Einstein"),  # the first
    ("einsteim", "Einstein"),  # the last
    ("eintsein", "Einstein"),  # in the middle
    ("zuerixh", None),  # two
    ("zurlch", "Zürich"),
    ("башмя", "башня"),
    ("marie", "Marie"),  # a word that is there is not mistyped
    ("cat", None),  # nor are short words and numbers
    ("4711", None),
    ("大学", "東京大学"),  # any part of a name without spaces
    ("東京", "東京大学"),
    ("東京大学", "東京大学"),
    ("!!!", "!!!"),
)
def test_one_letter_may_be_wrong(index: KeywordIndex, text: str, meant: str | None) -> None:
    assert labels(index, text) == ([meant] if meant else [])


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> KeywordIndex:
    names = "Einstein Zürich башня Marie Maria car 4712 東京大学 Kyoto !!! ???".split()
    return indexed(tmp_path_factory.mktemp("words"), *names)


WORDS = st.sampled_from("a ab abc abd b ba bab c ca d e é 東 1 12".split())
NAMES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
RESOURCES = st.lists(st.lists(NAMES, min_size=1, max_size=3).map(tuple), min_size=1, max_size=30)


@pytest.mark.parametrize("restricted", [False, True])
def test_the_ranking_is_that_of_every_name_against_every_keyword(
    restricted: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    @settings(max_examples=80, deadline=None)
    @given(names=RESOURCES, text=NAMES, limit=st.integers(1, 6), chosen=st.sets(st.integers(0, 29)))
    def holds(names: list[tuple[str, ...]], text: str, limit: int, chosen: set[int]) -> None:
        index = indexed(tmp_path_factory.mktemp("any"), *names)
        within = {f"{EX}{at}" for at in chosen} if restricted else None

        hits = index.search(text, limit=limit, within=within)

        allowed = {at: n for at, n in enumerate(names) if not restricted or at in chosen}
        assert [(hit.item.iri, hit.score) for hit in hits] == ranked(allowed, text)[:limit]

    holds()


def ranked(names: Mapping[int, tuple[str, ...]], text: str) -> list[tuple[str, float]]:
    keywords = set(split_words(text))
    scores = {
        at: max(sum(counted(keyword, set(split_words(n))) for keyword in keywords) for n in listed)
        for at, listed in names.items()
    }
    found = [(f"{EX}{at}", score) for at, score in scores.items() if score]
    return sorted(found, key=lambda item: -item[1])


def counted(keyword: str, words: set[str]) -> float:
    if keyword in words:
        return 1.0
    return 0.75 if any(word.startswith(keyword) for word in words) else 0.0


@pytest.mark.slow
def test_long_lists_are_left_early_and_nothing_is_missed(tmp_path: Path) -> None:
    """Six thousand names a word: the heads of prefixes and the blocks of scores are used."""
    pairs = [
        (first, second) for first in ("alba", "alta", "albert") for second in ("bo", "ba", "cy")
    ]
    names = {
        at: (" ".join((*pairs[at * 7919 % 9], f"x{at % 83}", f"y{at * 31 % 997}")),)
        for at in range(20_000)
    }
    index = indexed(tmp_path, *names.values())
    for text in "al|a|albert|b|al b|alb c|x1 al|x11 y5 bo|a b c|albert ba".split("|"):
        assert [(hit.item.iri, hit.score) for hit in index.search(text)] == ranked(names, text)[:10]
