"""BM25 against its formula over every resource, and its two settings."""

import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.errors import SetupError
from askgraph.index import Resource
from askgraph.index.bm25 import BM25Index

EX = "http://example.org/"
WORDS = st.sampled_from([f"word{letter}" for letter in "abcdefgh"])
TEXTS = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)


def indexed(folder: Path, *texts: str, k1: float = 1.2, b: float = 0.75) -> BM25Index:
    resources = [Resource(f"{EX}{at}", text, (), float(-at)) for at, text in enumerate(texts)]
    return BM25Index.build(resources, folder / "index", k1=k1, b=b)


def by_formula(
    texts: dict[int, str], all_texts: list[str], query: str, k1: float, b: float
) -> list[float]:
    bags = [Counter(text.split()) for text in all_texts]
    average = sum(bag.total() for bag in bags) / len(bags)
    holding = Counter(word for bag in bags for word in bag)
    scores = []
    for text in texts.values():
        bag, score = Counter(text.split()), 0.0
        for word in set(query.split()) & bag.keys():
            rarity = math.log(1 + (len(bags) - holding[word] + 0.5) / (holding[word] + 0.5))
            damped = k1 * (1 - b + b * bag.total() / average)
            score += rarity * bag[word] * (k1 + 1) / (bag[word] + damped)
        scores.append(score)
    return sorted((score for score in scores if score), reverse=True)


@pytest.mark.parametrize("restricted", [False, True])
def test_the_scores_are_those_of_the_formula(
    restricted: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    @settings(max_examples=80, deadline=None)
    @given(
        texts=st.lists(TEXTS, min_size=1, max_size=30),
        query=TEXTS,
        limit=st.integers(1, 5),
        k1=st.sampled_from([0.0, 0.1, 1.2, 5.18]),
        b=st.sampled_from([0.0, 0.01, 0.75, 1.0]),
        chosen=st.sets(st.integers(0, 29)),
    )
    def holds(
        texts: list[str], query: str, limit: int, k1: float, b: float, chosen: set[int]
    ) -> None:
        index = indexed(tmp_path_factory.mktemp("any"), *texts, k1=k1, b=b)
        within = {f"{EX}{at}" for at in chosen} if restricted else None

        hits = index.search(query, limit=limit, within=within)

        allowed = {at: t for at, t in enumerate(texts) if not restricted or at in chosen}
        expected = by_formula(allowed, texts, query, k1, b)[:limit]
        assert [hit.score for hit in hits] == pytest.approx(expected)

    holds()


def test_many_resources_give_the_same_as_the_formula(tmp_path: Path) -> None:
    texts = [
        f"common{'x' if at % 3 else 'y'} rare{chr(97 + at % 23)} own{chr(97 + at % 7)}"
        for at in range(5000)
    ]
    index = indexed(tmp_path, *texts)
    for query in ("commonx", "commonx commony", "rarea commonx", "rareb ownc commonx commony"):
        expected = by_formula(dict(enumerate(texts)), texts, query, 1.2, 0.75)[:10]
        assert [hit.score for hit in index.search(query)] == pytest.approx(expected)


def test_infos_are_searched(tmp_path: Path) -> None:
    physicist = Resource(EX, "Einstein", (), 0, ("theoretical physicist",))
    index = BM25Index.build([physicist, Resource(EX + "x", "Falk")], tmp_path / "index")
    assert [hit.item for hit in index.search("physicists")] == [physicist]


def test_settings_may_be_given_anew(tmp_path: Path) -> None:
    indexed(tmp_path, "moon moon moon of a planet far away", "moon")
    long_first = BM25Index.open(tmp_path / "index", k1=5.0, b=0.0)
    short_first = BM25Index.open(tmp_path / "index", k1=1.2, b=1.0)
    assert long_first.search("moon")[0].item.label.startswith("moon moon")
    assert short_first.search("moon")[0].item.label == "moon"


@for_each(("k1", "b"), [(-0.1, 0.5), (1.2, 1.5), (1.2, -0.1), (float("nan"), 0.5)])
def test_settings_outside_their_range_are_refused(tmp_path: Path, k1: float, b: float) -> None:
    with pytest.raises(SetupError, match="k1 must be 0 or more and b between 0 and 1"):
        indexed(tmp_path, "moon", k1=k1, b=b)
