"""The shape of a class: what its instances have, how many of them, with an example."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.methods.tools.exploring import called, line_with, served

from askgraph.errors import QueryError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.profile import PredicateProfile

PETS = """
@prefix : <http://example.org/> .
:rex a :Dog ; :owner :ann ; :name "Rex" . :fido a :Dog ; :name "Fido" , "Fidel" .
:ann a :Person . :park :visitor :rex .
"""
SMALL = {"": "http://example.org/"}


def unused(predicate: PredicateProfile) -> PredicateProfile:
    """The predicate, nothing known of its ends."""
    return replace(predicate, subject_classes=(), object_classes=())


async def test_properties_come_with_share_kind_and_example(space: KnowledgeGraph) -> None:
    told = await called(space, "shape_of", cls="ont:Moon")
    assert told.text.startswith("ont:Moon: 55 instances\n")
    assert line_with(told, "ont:diameter").startswith("ont:diameter 76% → xsd:decimal, e.g. ")
    assert line_with(told, "ont:orbits").startswith("ont:orbits all → ont:CelestialBody")
    assert line_with(told, "rdfs:label").startswith("rdfs:label all (3.0 each)")


async def test_what_leads_to_the_instances_is_marked(space: KnowledgeGraph) -> None:
    told = await called(space, "shape_of", cls="ont:Moon")
    assert line_with(told, "^ont:destination").startswith("^ont:destination 9% (")
    assert "https://example.org/space/ontology#destination" in told.seen


@pytest.mark.parametrize("local", [True, False])
async def test_a_class_that_the_profile_does_not_know_is_asked_for(
    tmp_path: Path, local: bool
) -> None:
    with served(PETS, tmp_path, prefixes=SMALL, local=local) as (graph, _):
        predicates = tuple(map(unused, graph.profile.predicates))
        profile = replace(graph.profile, classes=(), partitions=(), predicates=predicates)
        told = await called(replace(graph, profile=profile), "shape_of", cls=":Dog")
    assert told.text.splitlines()[0] == ":Dog: 2 instances"
    assert line_with(told, ":name").startswith(":name all (1.5 each)")
    assert line_with(told, ":owner").startswith(":owner 50%")
    assert line_with(told, "^:visitor").startswith("^:visitor 50%")


async def test_what_is_no_class_is_an_error(space: KnowledgeGraph) -> None:
    with pytest.raises(QueryError, match="nothing in the graph is of the class"):
        await called(space, "shape_of", cls="space:Titan")
