"""BM25 against its formula over every resource, and its two settings."""

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.errors import SetupError
from askgraph.index import Resource
from askgraph.index.bm25 import BM25Index
from askgraph.index.embeddings import HashedEmbedder, Vectors
from askgraph.index.hybrid import HybridIndex
from askgraph.index.keyword import KeywordIndex
from askgraph.index.trigram import TrigramIndex
from askgraph.index.vector import VectorIndex

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


MOONS = (
    Resource(EX + "1", "Moon", (), 3, ("of the Earth, and of nothing else",)),
    Resource(EX + "2", "Mooncalf", (), 9, ("a play",)),
    Resource(EX + "3", "Ganymede", (), 2, ("moon of Jupiter",)),
)


def test_ranks_are_added_up_reciprocally(tmp_path: Path) -> None:
    """Keywords find Moon, Mooncalf; BM25 finds Ganymede and Moon by words, infos included."""
    keyword = KeywordIndex.build(MOONS, tmp_path / "keyword")
    words = BM25Index.build(MOONS, tmp_path / "bm25")
    assert [hit.item.label for hit in keyword.search("moon")] == ["Moon", "Mooncalf"]
    assert [hit.item.label for hit in words.search("moon")] == ["Ganymede", "Moon"]

    hits = HybridIndex((keyword, words), k=60).search("moon")

    assert [hit.item.label for hit in hits] == ["Moon", "Ganymede", "Mooncalf"]
    assert [hit.score for hit in hits] == pytest.approx([1 / 61 + 1 / 62, 1 / 61, 1 / 62])


def test_the_kinds_of_its_parts_can_be_chosen(tmp_path: Path) -> None:
    HybridIndex.build(MOONS, tmp_path / "index", kinds=["bm25", "vector"])
    index = HybridIndex.open(tmp_path / "index")
    assert [type(part).__name__ for part in index.parts] == ["BM25Index", "VectorIndex"]


@for_each(
    ("kinds", "said"),
    ([], "name different kinds"),
    (["bm25", "bm25"], "name different kinds"),
    (["hybrid", "bm25"], "name different kinds"),
    (["bm25", "keywords"], "no index named 'keywords'"),
)
def test_parts_that_do_not_join_are_refused(tmp_path: Path, kinds: list[str], said: str) -> None:
    with pytest.raises(SetupError, match=said):
        HybridIndex.build(MOONS, tmp_path / "index", kinds=kinds)
    assert list(tmp_path.iterdir()) == []


SPELLINGS = st.text(alphabet="abc ", min_size=1, max_size=12).filter(str.strip)
RESOURCES = st.lists(st.lists(SPELLINGS, min_size=1, max_size=3), min_size=1, max_size=25)


def trigrams_of(folder: Path, names: list[list[str]]) -> TrigramIndex:
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
def test_scores_are_cosines(restricted: bool, tmp_path_factory: pytest.TempPathFactory) -> None:
    @settings(max_examples=80, deadline=None)
    @given(
        names=RESOURCES, text=SPELLINGS, limit=st.integers(1, 6), chosen=st.sets(st.integers(0, 24))
    )
    def holds(names: list[list[str]], text: str, limit: int, chosen: set[int]) -> None:
        index = trigrams_of(tmp_path_factory.mktemp("any"), names)
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
    index = trigrams_of(tmp_path, names)
    for text in ("abcd", "a", "ab dc", "dddd aaaa cccc", "bcd abcd da", names[7][0]):
        expected = by_cosine(names, text)[:10]
        assert [hit.score for hit in index.search(text)] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("text", ["Albrecht Einstien", "einsteins albert", "Álbert Einstein"])
def test_like_spellings_come_first(tmp_path: Path, text: str) -> None:
    index = trigrams_of(tmp_path, [["Albert Finney"], ["Albert Einstein"], ["Peter Falk"]])
    assert index.search(text)[0].item.label == "Albert Einstein"


@dataclass(frozen=True)
class Places:
    """The vector of "1 0 2" is (1, 0, 2)."""

    name: str = "places"

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.array([[float(part) for part in text.split()] for text in texts], np.float32)


def resources(*names: str) -> list[Resource]:
    return [Resource(f"{EX}{at}", name, (), float(-at)) for at, name in enumerate(names)]


def test_hits_are_ranked_by_their_cosine_unlike_ones_last(tmp_path: Path) -> None:
    index = VectorIndex.build(
        resources("-1 0", "0 5", "3 3", "0.1 0"), tmp_path / "index", embedder=Places()
    )
    hits = index.search("1 0")
    assert [hit.item.label for hit in hits] == ["0.1 0", "3 3", "0 5", "-1 0"]
    assert [hit.score for hit in hits] == pytest.approx([1, 0.5**0.5, 0, -1], abs=1e-6)


def test_a_synonym_ranks_its_resource_and_is_told(tmp_path: Path) -> None:
    both = Resource(EX, "0 1", ("1 0",))
    index = VectorIndex.build([both, *resources("1 1")[0:1]], tmp_path / "index", embedder=Places())
    hit = index.search("1 0")[0]
    assert (hit.item.label, hit.name) == ("0 1", "1 0")


def test_the_approximate_search_finds_nearly_what_the_exact_one_does(tmp_path: Path) -> None:
    points = np.random.default_rng(0).standard_normal((6000, 8)).round(3)
    names = [" ".join(map(str, point)) for point in points]
    folder = tmp_path / "index"
    index = VectorIndex.build(resources(*names), folder, embedder=Places(), exact_below=1000)
    assert index.cells is not None
    everything = [f"{EX}{at}" for at in range(6000)]
    shares = []
    for text in names[:40]:
        exact = {hit.item.iri for hit in index.search(text, within=everything)}
        shares.append(len(exact & {hit.item.iri for hit in index.search(text)}) / 10)
    assert np.mean(shares) >= 0.95


def test_another_embedder_is_refused(tmp_path: Path) -> None:
    index = VectorIndex.build(resources("1 0"), tmp_path / "index", embedder=Places())
    with pytest.raises(SetupError, match="gives 3 dimensions, but the index has 2"):
        index.search("1 0 0")
    with pytest.raises(SetupError, match="built with the embedder 'places', not 'hashed'"):
        VectorIndex.open(tmp_path / "index", embedder=HashedEmbedder())
    with pytest.raises(SetupError, match="no embedder 'places'"):
        VectorIndex.open(tmp_path / "index")
