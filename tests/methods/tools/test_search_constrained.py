"""A constrained search finds what stands there, and says so where it cannot be constrained."""

from pathlib import Path
from typing import Any

import pytest
from tests.methods.tools.exploring import SAMPLE, SPACE, called, line_with, served
from tests.servers import faults

from askgraph.errors import QueryError
from askgraph.graph import KnowledgeGraph
from askgraph.methods.tools import Limits

SATURN: dict[str, Any] = {"property": "ont:orbits", "object": "space:Saturn"}


async def test_two_constraints_restrict_the_third_place(space: KnowledgeGraph) -> None:
    found = await called(space, "search_constrained", position="subject", query="titan", **SATURN)
    assert found.text.startswith('18 subjects of ont:orbits space:Saturn, 1 matching for "titan":')
    assert "- space:Titan a ont:Moon" in found.text and "Titania" not in found.text


async def test_the_property_between_two_things_is_found(space: KnowledgeGraph) -> None:
    found = await called(
        space,
        "search_constrained",
        position="property",
        subject="space:Titan",
        object="space:Saturn",
    )
    assert found.text.startswith("1 properties of space:Titan space:Saturn:")
    assert "- ont:orbits" in found.text


async def test_a_literal_may_be_a_constraint(space: KnowledgeGraph) -> None:
    found = await called(
        space,
        "search_constrained",
        position="subject",
        property="ont:discoveryYear",
        object='"1655"^^xsd:gYear',
    )
    assert "- space:Titan" in found.text


async def test_without_constraints_all_is_searched(space: KnowledgeGraph) -> None:
    plain = await called(space, "search_property", query="orbit")
    open_ = await called(space, "search_constrained", position="property", query="orbit")
    assert open_.text == plain.text


async def test_nothing_that_fits_is_said_so(space: KnowledgeGraph) -> None:
    found = await called(
        space,
        "search_constrained",
        position="object",
        query="x",
        subject="space:Titan",
        property="ont:role",
    )
    assert found.text == "there are no objects of space:Titan ont:role"


async def test_too_many_candidates_are_admitted_and_the_best_hits_tried(
    space: KnowledgeGraph,
) -> None:
    found = await called(
        space,
        "search_constrained",
        position="subject",
        query="titan",
        **SATURN,
        limits=Limits(candidates=3),
    )
    head = found.text.splitlines()[0]
    assert "more than 3 things fit" in head and "searched in the whole graph" in head
    assert "- space:Titan a ont:Moon" in found.text and "Titania" not in found.text


async def test_values_are_tried_too_where_candidates_are_too_many(tmp_path: Path) -> None:
    rows = "".join(f':a{n} :serial "ZX-{n} blue" .' for n in range(100, 200))
    turtle = f"@prefix : <http://example.org/> . {rows}"
    with served(turtle, tmp_path, prefixes={"": "http://example.org/"}) as (graph, _):
        found = await called(
            graph,
            "search_constrained",
            position="object",
            query="zx 177",
            property=":serial",
            limits=Limits(candidates=3),
        )
    assert found.text.splitlines()[1].startswith('- "ZX-177 blue"')


async def test_a_search_out_of_time_says_so(tmp_path: Path) -> None:
    with served(SAMPLE, tmp_path, prefixes=SPACE) as (graph, server):
        server.acts.extend([faults.slow_first_byte(0), faults.slow_first_byte(60)])
        found = await called(
            graph,
            "search_constrained",
            position="subject",
            query="titan",
            **SATURN,
            limits=Limits(timeout=6.0),
        )
    assert "took longer than 6 s" in found.text
    assert "- space:Titan a ont:Moon" in found.text


async def test_only_a_bounded_number_of_candidates_is_asked_for(tmp_path: Path) -> None:
    with served(SAMPLE, tmp_path, prefixes=SPACE) as (graph, server):
        await called(graph, "search_constrained", position="subject", query="titan", **SATURN)
        queries = [request.parameters["query"][0] for request in server.requests]
    assert queries and all("LIMIT" in query or "VALUES ?thing" in query for query in queries)


async def test_the_place_that_is_looked_for_cannot_be_given(space: KnowledgeGraph) -> None:
    with pytest.raises(QueryError, match="another position"):
        await called(
            space, "search_constrained", position="object", query="x", object="space:Titan"
        )


@pytest.mark.parametrize(
    "text",
    [
        '"open',
        "} INSERT DATA { :a :b :c",
        '"x"^^nope:nope',
        '"x"@muchtoolongforalanguage',
        "?x",
        "",
    ],
)
async def test_what_is_no_term_is_refused_or_left_out(space: KnowledgeGraph, text: str) -> None:
    arguments: dict[str, Any] = {"position": "subject", "query": "titan", "object": text}
    if not text:
        assert line_with(await called(space, "search_constrained", **arguments), "- space:Titan ")
        return
    with pytest.raises(QueryError):
        await called(space, "search_constrained", **arguments)


async def test_blank_nodes_are_told_by_what_they_hold(tmp_path: Path) -> None:
    notes = '@prefix : <http://e.org/> . [] :title "Shopping" ; :next [ :title "Cooking" ] .'
    with served(notes, tmp_path, prefixes={"": "http://e.org/"}) as (graph, _):
        found = await called(
            graph, "search_constrained", position="object", property=":next", query="cooking"
        )
    assert '- a blank node | no label; "Cooking"' in found.text
