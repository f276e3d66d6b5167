"""Advice is found in how a graph is used, and can be followed as it is."""

import pytest
from pyoxigraph import RdfFormat, parse
from tests.graphs_in_regions import FIRMS

from askgraph.graph.advice import Advice, build_definitions, collect_advice
from askgraph.graph.arrays import build_arrays
from askgraph.graph.definitions import DefinedProperty, NodeName
from askgraph.graph.local_profile import build_profile
from askgraph.sparql.serializer import to_text

PLACE = "http://example.org/"


@pytest.fixture(scope="module")
def advice() -> tuple[Advice, ...]:
    arrays = build_arrays(parse(FIRMS, RdfFormat.TURTLE))
    return collect_advice(build_profile(arrays), arrays)


def ways(advice: tuple[Advice, ...], kind: str) -> dict[str, str]:
    """The labels of what is advised, with the paths."""
    return {
        one.definition.label: to_text(one.definition.path).replace(PLACE, "")
        for one in advice
        if one.kind == kind and isinstance(one.definition, DefinedProperty)
    }


def test_what_leads_into_a_hierarchy_gets_a_shortcut(advice: tuple[Advice, ...]) -> None:
    assert ways(advice, "chain") == {
        "seat part of": "<hasSeat>/(<partOf>+)",
        "plant part of": "<hasPlant>/(<partOf>+)",
    }


def test_only_the_one_place_of_a_thing_is_the_default(advice: tuple[Advice, ...]) -> None:
    marked = [one.definition for one in advice if one.default]
    assert [one.label for one in marked if isinstance(one, DefinedProperty)] == ["seat part of"]
    assert all(isinstance(one, DefinedProperty) and one.unnamed for one in marked)


def test_own_relations_get_ways_between_their_ends_and_a_name(advice: tuple[Advice, ...]) -> None:
    assert ways(advice, "nary") == {
        "has buyer": "(^<seller>)/<buyer>",
        "has seller": "(^<buyer>)/<seller>",
    }
    named = [one.definition for one in advice if one.kind == "name"]
    assert named == [NodeName(PLACE + "Deal", (PLACE + "buyer", PLACE + "seller"))]


def test_an_inverse_that_the_ontology_names_keeps_its_name(advice: tuple[Advice, ...]) -> None:
    assert ways(advice, "declared") == {"sells": "^<seller>"}
    assert ways(advice, "inverse")["seat of"] == "^<hasSeat>"
    assert ways(advice, "inverse")["has part"] == "^<partOf>"
    assert "seller of" not in ways(advice, "inverse")


def test_terms_without_words_are_counted(advice: tuple[Advice, ...]) -> None:
    told = {one.kind: one.why for one in advice if one.kind in ("label", "comment")}
    assert told["label"].startswith("6 of 10 terms")
    assert told["comment"].startswith("9 of 10 terms")


def test_two_ways_to_the_same_property_are_alternatives(advice: tuple[Advice, ...]) -> None:
    twice = [one for one in advice if one.kind == "nary"][:1] * 2
    made = build_definitions(twice, {})
    assert [to_text(one.path).count("|") for one in made.properties] == [1]
