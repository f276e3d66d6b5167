"""Reciprocal-rank fusion, by hand, and over any two indices."""

from pathlib import Path

import pytest

from askgraph.errors import SetupError
from askgraph.index import Resource
from askgraph.index.bm25 import BM25Index
from askgraph.index.hybrid import HybridIndex
from askgraph.index.keyword import KeywordIndex

EX = "http://example.org/"
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


@pytest.mark.parametrize("kinds", [[], ["bm25", "bm25"], ["hybrid", "bm25"]])
def test_parts_that_cannot_be_joined_are_refused(tmp_path: Path, kinds: list[str]) -> None:
    with pytest.raises(SetupError, match="name different kinds"):
        HybridIndex.build(MOONS, tmp_path / "index", kinds=kinds)


def test_an_unknown_kind_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="no index named 'keywords'"):
        HybridIndex.build(MOONS, tmp_path / "index", kinds=["bm25", "keywords"])
    assert list(tmp_path.iterdir()) == []
