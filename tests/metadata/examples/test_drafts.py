"""Drafts: what a profile lets one ask, with queries that a graph can answer."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.graphs import MOONS
from tests.tools.exploring import served

from askgraph.graph import KnowledgeGraph
from askgraph.metadata.examples.drafts import Draft, drafts
from askgraph.sparql.query import checked


@pytest.fixture
async def moons(tmp_path: Path) -> AsyncIterator[KnowledgeGraph]:
    with served(MOONS, tmp_path, prefixes={"onto": "http://example.org/onto#"}) as (graph, _):
        yield graph
        await graph.endpoint.close()


async def drafted(graph: KnowledgeGraph, seed: int = 0) -> list[Draft]:
    stream = drafts(graph.profile, graph.endpoint, graph.prefixes, seed=seed)
    return [draft async for draft in stream]


async def test_questions_are_worded_from_labels_and_sampled_names(moons: KnowledgeGraph) -> None:
    questions = {draft.question for draft in await drafted(moons)}
    assert {"How many moons are there?", "Which planets are there?"} <= questions
    assert questions & {"Which moon has the highest radius?"}
    assert any(question.startswith("What is the radius of ") for question in questions)


async def test_every_query_declares_its_prefixes_and_parses(moons: KnowledgeGraph) -> None:
    for draft in await drafted(moons):
        for query in draft.queries:
            assert checked(query).text == query


async def test_the_same_seed_gives_the_same_drafts_and_another_one_others(
    moons: KnowledgeGraph,
) -> None:
    assert await drafted(moons, 3) == await drafted(moons, 3)
    assert await drafted(moons, 3) != await drafted(moons, 4)


async def test_kinds_take_turns(moons: KnowledgeGraph) -> None:
    kinds = [draft.kind for draft in await drafted(moons)]
    assert len(set(kinds[:5])) == 5
