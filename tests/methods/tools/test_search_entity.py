"""Things, classes and values are found by name, with what a query needs of them."""

from pathlib import Path

import pytest
from tests.methods.tools.exploring import SAMPLE, SPACE, called, line_with, served
from tests.servers import faults

from askgraph.errors import Unreachable
from askgraph.graph import KnowledgeGraph
from askgraph.llm.budget import estimated_tokens


async def test_a_hit_has_its_iri_its_narrowest_class_and_other_names(space: KnowledgeGraph) -> None:
    found = await called(space, "search_entity", query="Titan")
    line = line_with(found, "- space:Titan ")
    assert line.startswith('- space:Titan a ont:Moon | also "Saturn VI"')
    assert "ont:CelestialBody" not in line


async def test_a_hit_names_the_properties_that_meet_at_it_both_ways(space: KnowledgeGraph) -> None:
    found = await called(space, "search_entity", query="Saturn V rocket")
    line = line_with(found, "- space:Saturn_V ")
    assert "^ont:launchVehicle" in line and "ont:manufacturer" in line


async def test_all_that_is_shown_counts_as_seen(space: KnowledgeGraph) -> None:
    found = await called(space, "search_entity", query="Titan")
    for iri in ("Titan", "ontology#Moon", "ontology#orbits"):
        assert f"https://example.org/space/{iri}" in found.seen


async def test_a_class_is_found_with_the_number_of_its_instances(space: KnowledgeGraph) -> None:
    found = await called(space, "search_entity", query="crew membership")
    line = line_with(found, "- ont:CrewMembership ")
    assert line.startswith("- ont:CrewMembership class, 192 instances")


async def test_properties_that_hits_of_one_class_share_are_named_once(
    space: KnowledgeGraph,
) -> None:
    found = await called(space, "search_entity", query="titan")
    assert found.text.count("^ont:launchVehicle") == 1
    assert found.text.count("a ont:LaunchVehicle") == 3


async def test_a_hit_takes_few_tokens(space: KnowledgeGraph) -> None:
    found = await called(space, "search_entity", query="apollo")
    assert len(found.text.splitlines()) == 10
    assert estimated_tokens(found.text) <= 10 * 45


async def test_values_are_found_with_the_thing_that_has_them(tmp_path: Path) -> None:
    turtle = """
    @prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    :a1 a :Part ; rdfs:label "bolt" ; :serial "ZX-81 blue" .
    :a2 a :Part ; rdfs:label "nut" ; :serial "ZX-82 red" .
    """
    with served(turtle, tmp_path, prefixes={"": "http://example.org/"}) as (graph, _):
        found = await called(graph, "search_entity", query="zx 81")
    assert '- "ZX-81 blue" | :serial of :a1 "bolt"' in found.text.splitlines()
    assert "http://example.org/a1" in found.seen


async def test_nothing_found_says_what_to_try(space: KnowledgeGraph) -> None:
    found = await called(space, "search_entity", query="xyzzy")
    assert found.text.startswith('nothing found for "xyzzy". Try') and not found.failed


async def test_an_empty_search_is_refused(space: KnowledgeGraph) -> None:
    assert (await called(space, "search_entity", query=" ")).failed


async def test_a_graph_that_does_not_tell_classes_still_gives_hits(tmp_path: Path) -> None:
    with served(SAMPLE, tmp_path, prefixes=SPACE) as (graph, server):
        server.always = faults.status(400, "too complex")
        found = await called(graph, "search_entity", query="Titan")
    assert "- space:Titan " in found.text
    assert "could not be asked" in found.text.splitlines()[-1]


async def test_a_dead_endpoint_is_an_error_not_an_empty_result(tmp_path: Path) -> None:
    with served(SAMPLE, tmp_path, prefixes=SPACE) as (graph, _):
        pass
    with pytest.raises(Unreachable):
        await called(graph, "search_entity", query="Titan")


async def test_a_remote_graph_is_asked_at_most_twice(tmp_path: Path) -> None:
    with served(SAMPLE, tmp_path, prefixes=SPACE) as (graph, server):
        await called(graph, "search_entity", query="apollo")
        assert len(server.requests) <= 2
