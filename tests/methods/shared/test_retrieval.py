"""A description is shown where a question is about the resource itself."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.graphs import PETS

from askgraph.graph import KnowledgeGraph
from askgraph.graph.descriptions import Description
from askgraph.methods.shared.retrieval import description_pieces
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import result_of

SAID = "Everything about pets. " * 60


@pytest.fixture
def pets(tmp_path: Path) -> Iterator[KnowledgeGraph]:
    (tmp_path / "pets.ttl").write_text(PETS)
    graph = Workspace(tmp_path / "workspace").open(tmp_path / "pets.ttl")
    described = Description("Dataset", "Pet Register", SAID, publisher="Ann", version="3.1")
    yield replace(graph, described=(described,))
    result_of(graph.endpoint.close())


@pytest.mark.parametrize(
    "question",
    ["What version is this?", "Who published it?", "What is the pet register?"],
)
def test_a_question_that_names_it_or_what_it_tells_gets_it(
    pets: KnowledgeGraph, question: str
) -> None:
    [piece] = description_pieces([question], pets)

    assert 'publisher "Ann"' in piece.texts[0] and 'version "3.1"' in piece.texts[0]
    assert len(piece.texts[1]) < len(piece.texts[0]) < 900


@pytest.mark.parametrize("question", ["Who owns Rex?", "Under which licence is it?", "Which pet?"])
def test_other_questions_do_not(pets: KnowledgeGraph, question: str) -> None:
    assert description_pieces([question], pets) == []
    assert len(description_pieces([question], pets, certain=True)) == 1
