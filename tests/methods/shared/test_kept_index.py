"""Indices of a graph's examples and classes are built once, and again for another source."""

import gc
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.graphs import PETS

from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.index import Resource
from askgraph.methods.shared.index_cache import Bm25, keep_index, kept_index, ranked_names
from askgraph.workspace import Workspace
from askgraph.workspace.index_operations import build_indices
from askgraph.workspace.run_sync import result_of


@pytest.fixture
def pets(tmp_path: Path) -> Iterator[KnowledgeGraph]:
    (tmp_path / "pets.ttl").write_text(PETS)
    graph = Workspace(tmp_path / "workspace").open(tmp_path / "pets.ttl")
    yield graph
    result_of(graph.endpoint.close())


DOG, CAT = Resource("d:dog", "dog", infos=("owner",)), Resource("c:cat", "cat")


def test_an_index_is_kept_for_its_source_and_embedder(pets: KnowledgeGraph) -> None:
    index = keep_index(pets, "classes", ("one",), [DOG, CAT])

    assert kept_index(pets, "classes", ("one",)) is index
    assert kept_index(pets, "classes", ("two",)) is None
    assert kept_index(pets, "examples", ("one",)) is None
    assert kept_index(pets, "classes", ("one",), "hashed") is None


@pytest.mark.parametrize("embedder", ["", "hashed"])
def test_words_and_spellings_are_found_and_what_is_told_of_a_thing(
    pets: KnowledgeGraph, embedder: str
) -> None:
    index = keep_index(pets, "classes", embedder, [DOG, CAT], embedder)

    assert [index.search(text)[0].item for text in ("dogs", "catt", "its owner")] == [DOG, CAT, DOG]


def test_the_files_of_an_index_go_with_it(
    pets: KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "files"))
    (tmp_path / "files").mkdir()
    keep_index(pets, "classes", 1, [DOG])
    before = list((tmp_path / "files").iterdir())

    keep_index(pets, "classes", 2, [CAT])
    gc.collect()

    after = list((tmp_path / "files").iterdir())
    assert len(before) == len(after) == 1 and before != after


def test_an_embedder_that_does_not_exist_leaves_nothing_behind(
    pets: KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "files"))
    (tmp_path / "files").mkdir()

    with pytest.raises(SetupError, match="no embedder"):
        keep_index(pets, "classes", 1, [DOG], "nothing")

    assert list((tmp_path / "files").iterdir()) == []


def test_names_by_bm25_are_kept_with_the_index_that_they_are_of(tmp_path: Path) -> None:
    (tmp_path / "pets.ttl").write_text(PETS)
    place = Workspace(tmp_path / "workspace")
    place.add("pets", [tmp_path / "pets.ttl"])
    kept = place.data("pets") / "indices" / "kept"

    def built() -> dict[Path, int]:
        graph = place.graph("pets")
        assert len(ranked_names(graph, "entities", Bm25())) > 0
        result_of(graph.endpoint.close())
        return {one: one.stat().st_mtime_ns for one in kept.rglob("*")}

    first = built()
    assert first and built() == first

    build_indices(place, "pets", settings={"index": "trigram"}, progress=lambda *_: None)
    assert not list(kept.glob("*"))
    assert built()
