"""Character trigrams against the cosine of every name."""

import math
import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askgraph.index import Resource
from askgraph.index.trigram import TrigramIndex

EX = "http://example.org/"
TEXTS = st.text(alphabet="abc ", min_size=1, max_size=12).filter(str.strip)
RESOURCES = st.lists(st.lists(TEXTS, min_size=1, max_size=3), min_size=1, max_size=25)


def indexed(folder: Path, names: list[list[str]]) -> TrigramIndex:
    resources = [
        Resource(f"{EX}{at}", first, tuple(others), float(-at))
        for at, (first, *others) in enumerate(names)
    ]
    return TrigramIndex.build(resources, folder / "index")


def by_cosine(names: list[list[str]], text: str) -> list[float]:
    wanted = trigrams(text)
    scores = [max(cosine(wanted, trigrams(name)) for name in listed) for listed in names]
    return sorted((score for score in scores if score), reverse=True)


def trigrams(text: str) -> Counter[str]:
    whole = f" {' '.join(text.split())} "
    return Counter(whole[at : at + 3] for at in range(len(whole) - 2))


def cosine(one: Counter[str], two: Counter[str]) -> float:
    product = sum(one[part] * two[part] for part in one)
    return product / math.sqrt(sum(c * c for c in one.values()) * sum(c * c for c in two.values()))


@pytest.mark.parametrize("restricted", [False, True])
def test_the_scores_are_the_cosines(
    restricted: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    @settings(max_examples=80, deadline=None)
    @given(names=RESOURCES, text=TEXTS, limit=st.integers(1, 6), chosen=st.sets(st.integers(0, 24)))
    def holds(names: list[list[str]], text: str, limit: int, chosen: set[int]) -> None:
        index = indexed(tmp_path_factory.mktemp("any"), names)
        within = {f"{EX}{at}" for at in chosen} if restricted else None

        hits = index.search(text, limit=limit, within=within)

        allowed = [n for at, n in enumerate(names) if not restricted or at in chosen]
        expected = by_cosine(allowed, text)[:limit]
        assert [hit.score for hit in hits] == pytest.approx(expected, abs=1e-5)

    holds()


def test_of_many_names_the_same_are_found_as_by_all_cosines(tmp_path: Path) -> None:
    """So many that only the rarest trigrams' names are tried first."""
    chance = random.Random(0)
    names = [["".join(chance.choices("abcd ", k=9)).strip() or "a"] for _ in range(8000)]
    index = indexed(tmp_path, names)
    for text in ("abcd", "a", "ab dc", "dddd aaaa cccc", "bcd abcd da", names[7][0]):
        expected = by_cosine(names, text)[:10]
        assert [hit.score for hit in index.search(text)] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("text", ["Albrecht Einstien", "einsteins albert", "Álbert Einstein"])
def test_like_spellings_come_first(tmp_path: Path, text: str) -> None:
    index = indexed(tmp_path, [["Albert Finney"], ["Albert Einstein"], ["Peter Falk"]])
    assert index.search(text)[0].item.label == "Albert Einstein"
