"""The properties of an entity are found in both directions."""

import pytest
from tests.methods.tools.exploring import called

from askgraph.errors import QueryError
from askgraph.graph import KnowledgeGraph


async def test_properties_that_leave_an_entity_are_searched(space: KnowledgeGraph) -> None:
    found = await called(
        space, "search_property_of_entity", entity="space:Titan", query="time of revolution"
    )
    assert "- ont:orbitalPeriod" in found.text and "- ont:mass" not in found.text


async def test_properties_that_lead_to_it_are_told_apart(space: KnowledgeGraph) -> None:
    found = await called(space, "search_property_of_entity", entity="space:Neil_Armstrong")
    leaving, coming = found.text.split("properties to space:Neil_Armstrong")
    assert "ont:nationality" in leaving and "ont:member" not in leaving
    assert "ont:member" in coming and "2× here" in coming


async def test_an_unknown_entity_is_an_error_with_the_nearest(space: KnowledgeGraph) -> None:
    with pytest.raises(QueryError, match="space:Titan"):
        await called(space, "search_property_of_entity", entity="space:Tittan")
