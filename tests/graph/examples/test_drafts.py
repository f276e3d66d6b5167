"""Drafts: what a profile lets one ask, with queries that a graph can answer."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.graphs import MOONS
from tests.methods.tools.exploring import served

from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples.drafts import ExampleDraft, generate_drafts
from askgraph.sparql.judge import check_query


@pytest.fixture
async def moons(tmp_path: Path) -> AsyncIterator[KnowledgeGraph]:
    with served(MOONS, tmp_path, prefixes={"onto": "http://example.org/onto#"}) as (graph, _):
        yield graph
        await graph.endpoint.close()


async def drafted(graph: KnowledgeGraph, seed: int = 0) -> list[ExampleDraft]:
    stream = generate_drafts(graph.profile, graph.endpoint, graph.prefixes, seed=seed)
    return [draft async for draft in stream]


async def test_questions_are_worded_from_labels_and_sampled_names(moons: KnowledgeGraph) -> None:
    found = await drafted(moons)
    questions = {draft.question for draft in found}
    assert {"How many moons are there?", "Which planets are there?"} <= questions
    assert questions & {"Which moon has the highest radius?"}
    assert any(question.startswith("What is the radius of ") for question in questions)
    # Every query declares its prefixes and parses.
    queries = [query for draft in found for query in draft.queries]
    assert [check_query(query).text for query in queries] == queries
    # Kinds take turns.
    assert len({draft.kind for draft in found[:5]}) == 5
    # The same seed gives the same drafts, and another one others.
    assert await drafted(moons) == found != await drafted(moons, 4)


SHOP = (
    """
@prefix : <http://shop.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
    + "".join(
        f"""
:item{n} a :Items ; rdfs:label "Item {"abcdefgh"[n]}" ; :item_id {n + 1} ; :serial {n + 40} ;
    :ref_shop_id :shop{n % 4} ; :phone {5551000 + 7 * n} ; :sold {n % 2} ; :lowest {3 * n} ;
    :weight {[3, 18, 11, 25, 140, 7, 60, 9][n]} ; :parts 3 .
"""
        for n in range(8)
    )
    + """
:shop0 a :Shop ; rdfs:label "Mill Street" ; :city "Ulm" .
:shop1 a :Shop ; rdfs:label "Old Port" ; :city "Bonn" .
:shop2 a :Shop ; rdfs:label "Hill Top" ; :city "Ulm" .
:shop3 a :Shop ; rdfs:label "West End" ; :city "Bonn" .
"""
)


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[KnowledgeGraph]:
    with served(SHOP, tmp_path, prefixes={"": "http://shop.example/"}) as (graph, _):
        yield graph
        await graph.endpoint.close()


async def test_questions_are_of_many_kinds(shop: KnowledgeGraph) -> None:
    asked = {draft.kind: draft.question for draft in await drafted(shop)}
    assert asked["most"] == "Which shop has the most items?"
    assert asked["highest"] == "Which item has the highest weight?"
    assert asked["average"] == "What is the average weight of items?"
    assert asked["path"].startswith("What is the city of the shop of Item ")
    assert asked["more"] == "Which items have a weight of more than 18?"
    assert asked["whether"].endswith(tuple("abcdefgh?")) and "the shop of Item" in asked["whether"]


async def test_identifiers_codes_flags_and_operators_are_not_asked(shop: KnowledgeGraph) -> None:
    asked = [draft.question for draft in await drafted(shop)]
    for word in ("id", "ref", "serial", "lowest of", "parts"):
        assert not [one for one in asked if f" {word} " in one], word
    measured = [one for one in asked if "highest" in one or "more than" in one or "average" in one]
    assert measured and not [one for one in measured if "phone" in one or "sold" in one]
    assert any(one.startswith("What is the phone of Item") for one in asked)


async def test_some_questions_are_to_be_denied(shop: KnowledgeGraph) -> None:
    queries = [
        d.queries[0] for seed in range(4) for d in await drafted(shop, seed) if d.kind == "whether"
    ]
    assert {await shop.endpoint.ask(query) for query in queries} == {True, False}


async def test_two_things_of_one_name_are_not_asked_for_by_it(tmp_path: Path) -> None:
    twice = SHOP.replace('"Item b"', '"Item a"')
    with served(twice, tmp_path, prefixes={"": "http://shop.example/"}) as (graph, _):
        asked = [draft.question for draft in await drafted(graph)]
        await graph.endpoint.close()
    assert not [one for one in asked if "Item a" in one] and [
        one for one in asked if "Item c" in one
    ]


async def test_a_best_one_comes_with_the_query_that_shows_a_tie(shop: KnowledgeGraph) -> None:
    found = {draft.kind: draft for draft in await drafted(shop)}
    rows = (await shop.endpoint.select(found["most"].tie)).rows
    assert [str(row[0]) for row in rows] == [str(rows[0][0])] * 2  # two items each
    assert found["object"].tie == ""
