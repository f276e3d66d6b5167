"""Embeddings: exact and approximate search against all cosines."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from askgraph.errors import SetupError
from askgraph.index import Resource
from askgraph.index.embeddings import Hashed, Vectors
from askgraph.index.vector import VectorIndex

EX = "http://example.org/"


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
    chance = np.random.default_rng(0)
    points = chance.standard_normal((6000, 8)).round(3)
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
    VectorIndex.build(resources("1 0"), tmp_path / "index", embedder=Places())
    with pytest.raises(SetupError, match="built with the embedder 'places', not 'hashed'"):
        VectorIndex.open(tmp_path / "index", embedder=Hashed())


def test_an_embedder_that_has_other_dimensions_now_is_refused(tmp_path: Path) -> None:
    index = VectorIndex.build(resources("1 0"), tmp_path / "index", embedder=Places())
    with pytest.raises(SetupError, match="gives 3 dimensions, the index has 2"):
        index.search("1 0 0")


def test_an_embedder_that_nobody_can_make_is_told(tmp_path: Path) -> None:
    VectorIndex.build(resources("1 0"), tmp_path / "index", embedder=Places())
    with pytest.raises(SetupError, match="no embedder 'places'"):
        VectorIndex.open(tmp_path / "index")
