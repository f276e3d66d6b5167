"""Queries that a language model writes, with and without faults."""

import asyncio
from collections.abc import Iterator

import pytest

from askgraph import sample
from askgraph.graph import KnowledgeGraph
from askgraph.index.names import Kind
from askgraph.llm import Choice, TokenLogprob
from askgraph.llm.scripted import ScriptedModel
from askgraph.trace import Question
from askgraph.workspace import Workspace
from askgraph.writing import Listed
from askgraph.writing.prompted import PromptedWriter


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    graph = Workspace(tmp_path_factory.mktemp("written")).open(sample.graph_path())
    yield graph
    asyncio.run(graph.endpoint.close())


EX = "http://example.org/"
LISTED = [
    Listed(Kind.ENTITY, EX + "Jupiter", "Jupiter"),
    Listed(Kind.PREDICATE, EX + "orbits", "orbits"),
]
ORBITS = f"SELECT ?v0 WHERE {{ ?v0 <{EX}orbits> <{EX}Jupiter> . }}"
ORBITED = f"SELECT ?v0 WHERE {{ <{EX}Jupiter> <{EX}orbits> ?v0 . }}"


def _said(text: str, logprob: float) -> Choice:
    return Choice(text, logprobs=(TokenLogprob(text, logprob),))


async def test_the_model_is_shown_references_and_its_query_names_iris(
    space: KnowledgeGraph,
) -> None:
    model = ScriptedModel(["single-hop\nSELECT ?v0 WHERE { ?v0 P1 E1 . }"])

    written = await PromptedWriter(model).write(Question("What orbits Jupiter?"), LISTED, space)

    assert [each.query for each in written] == [ORBITS]
    assert "E1: Jupiter" in str(model.requests[0].messages)
    assert EX not in str(model.requests[0].messages)


async def test_the_same_query_in_other_words_is_one_and_the_likeliest_comes_first(
    space: KnowledgeGraph,
) -> None:
    replies = [
        _said("SELECT ?v0 WHERE { ?v0 P1 E1 . }", -2.0),
        _said("SELECT ?v0 WHERE { E1 P1 ?v0 . }", -1.0),
        _said("SELECT ?moon\nWHERE { ?moon P1 E1 }", -0.5),
        _said("SELECT ?v0 WHERE { ?v0 P7 E1 . }", -0.1),
        _said("Sorry.", -0.1),
    ]
    writer = PromptedWriter(ScriptedModel([replies]))

    written = await writer.write(Question("What orbits Jupiter?"), LISTED, space, n=5)

    assert [(each.query.replace("?moon", "?v0"), each.score) for each in written] == [
        (ORBITS, -0.5),
        (ORBITED, -1.0),
    ]


async def test_beams_are_asked_for_where_they_are_wanted(space: KnowledgeGraph) -> None:
    model = ScriptedModel(["SELECT ?v0 WHERE { ?v0 P1 E1 . }"])

    await PromptedWriter(model, search="beams").write(
        Question("What orbits Jupiter?"), LISTED, space, n=3
    )

    assert (model.requests[0].beams, model.requests[0].n) == (True, 3)
