"""Indices of a graph's examples and classes are built once, and again for another source."""

import gc
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.graphs import PETS

from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.descriptions import DatasetDescription
from askgraph.index import Resource
from askgraph.methods.shared import index_cache
from askgraph.methods.shared.retrieval import build_description_texts
from askgraph.workspace import Workspace
from askgraph.workspace.index_operations import build_indices
from askgraph.workspace.run_sync import run_coroutine


@pytest.fixture
def pets(tmp_path: Path) -> Iterator[KnowledgeGraph]:
    (tmp_path / "pets.ttl").write_text(PETS)
    graph = Workspace(tmp_path / "workspace").open(tmp_path / "pets.ttl")
    yield graph
    run_coroutine(graph.endpoint.close())


DOG, CAT = Resource("d:dog", "dog", infos=("owner",)), Resource("c:cat", "cat")


def test_an_index_is_kept_for_its_source_and_embedder(pets: KnowledgeGraph) -> None:
    index = index_cache.build_index(pets, "classes", ("one",), [DOG, CAT])
    assert index_cache.get_index(pets, "classes", ("one",)) is index
    assert index_cache.get_index(pets, "classes", ("two",)) is None
    assert index_cache.get_index(pets, "examples", ("one",)) is None
    assert index_cache.get_index(pets, "classes", ("one",), "hashed") is None


@pytest.mark.parametrize("embedder", ["", "hashed"])
def test_words_spellings_and_facts_are_found(pets: KnowledgeGraph, embedder: str) -> None:
    index = index_cache.build_index(pets, "classes", embedder, [DOG, CAT], embedder)
    assert [index.search(text)[0].item for text in ("dogs", "catt", "its owner")] == [DOG, CAT, DOG]


def test_the_files_of_an_index_go_with_it_and_a_failure_leaves_none(
    pets: KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = tmp_path / "files"
    monkeypatch.setattr(tempfile, "tempdir", str(files))
    files.mkdir()
    with pytest.raises(SetupError, match="no embedder"):
        index_cache.build_index(pets, "classes", 1, [DOG], "nothing")
    assert list(files.iterdir()) == []
    index_cache.build_index(pets, "classes", 1, [DOG])
    before = list(files.iterdir())

    index_cache.build_index(pets, "classes", 2, [CAT])
    gc.collect()

    after = list(files.iterdir())
    assert len(before) == len(after) == 1 and before != after


def test_names_by_bm25_are_kept_with_the_index_that_they_are_of(tmp_path: Path) -> None:
    (tmp_path / "pets.ttl").write_text(PETS)
    place = Workspace(tmp_path / "workspace")
    place.add("pets", [tmp_path / "pets.ttl"])
    kept = place.get_data_folder("pets") / "indices" / "kept"

    def built() -> dict[Path, int]:
        graph = place.graph("pets")
        assert len(index_cache.open_bm25_index(graph, "entities", index_cache.Bm25Parameters())) > 0
        run_coroutine(graph.endpoint.close())
        return {one: one.stat().st_mtime_ns for one in kept.rglob("*")}

    first = built()
    assert first and built() == first

    build_indices(place, "pets", settings={"index": "trigram"}, progress=lambda *_: None)
    assert not list(kept.glob("*"))
    assert built()


SAID = "Everything about pets_graph. " * 60


@pytest.fixture
def pets_graph(tmp_path: Path) -> Iterator[KnowledgeGraph]:
    (tmp_path / "pets.ttl").write_text(PETS)
    graph = Workspace(tmp_path / "workspace").open(tmp_path / "pets.ttl")
    described = DatasetDescription("Dataset", "Pet Register", SAID, publisher="Ann", version="3.1")
    yield replace(graph, descriptions=(described,))
    run_coroutine(graph.endpoint.close())


@pytest.mark.parametrize(
    "question", ["What version is this?", "Who published it?", "What is the pet register?"]
)
def test_a_question_that_names_it_gets_it(pets_graph: KnowledgeGraph, question: str) -> None:
    [piece] = build_description_texts([question], pets_graph)
    assert 'publisher "Ann"' in piece.texts[0] and 'version "3.1"' in piece.texts[0]
    assert len(piece.texts[1]) < len(piece.texts[0]) < 900


@pytest.mark.parametrize("question", ["Who owns Rex?", "Under which licence is it?", "Which pet?"])
def test_other_questions_do_not(pets_graph: KnowledgeGraph, question: str) -> None:
    assert build_description_texts([question], pets_graph) == []
    assert len(build_description_texts([question], pets_graph, include_all=True)) == 1
