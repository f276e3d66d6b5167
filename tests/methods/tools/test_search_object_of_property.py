"""What a property leads to is found by name, values as a query has to write them."""

from pathlib import Path

from tests.methods.tools.exploring import called, line_with, served

from askgraph.graph import KnowledgeGraph


async def test_only_objects_of_the_property_are_found(space: KnowledgeGraph) -> None:
    found = await called(space, "search_object_of_property", property="ont:role", query="pilot")
    assert found.text.startswith('10 objects of ont:role, 5 matching for "pilot":')
    assert line_with(found, "- space:Pilot a ont:Role").endswith("43× here")


async def test_without_a_text_the_most_frequent_come_first(space: KnowledgeGraph) -> None:
    found = await called(space, "search_object_of_property", property="ont:role")
    first, second, *_ = found.text.splitlines()[1:]
    assert first.startswith("- space:Commander") and first.endswith("54× here")
    assert second.startswith("- space:Mission_Specialist")


async def test_values_are_written_as_in_a_query(space: KnowledgeGraph) -> None:
    found = await called(
        space, "search_object_of_property", property="ont:discoveryYear", query="1655"
    )
    assert line_with(found, '- "1655"^^xsd:gYear | ont:discoveryYear')


async def test_where_nothing_matches_the_most_frequent_are_shown(space: KnowledgeGraph) -> None:
    found = await called(space, "search_object_of_property", property="ont:role", query="qqq")
    assert found.text.startswith('none of the 10 objects of ont:role matches "qqq"')
    assert "- space:Commander" in found.text


async def test_nodes_without_a_name_are_found_by_what_hangs_on_them(tmp_path: Path) -> None:
    turtle = """
    @prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    :f1 :delivers :n81 ; rdfs:label "first" . :n81 :part :bolt ; :plant :graz .
    :f2 :delivers :n82 ; rdfs:label "second" . :n82 :part :nut ; :plant :graz .
    :f3 :delivers [ :part :bolt ; :note "urgent" ] ; rdfs:label "third" .
    :bolt rdfs:label "hex bolt" . :nut rdfs:label "wing nut" . :graz rdfs:label "Graz" .
    """
    with served(turtle, tmp_path, prefixes={"": "http://example.org/"}) as (graph, _):
        named = await called(
            graph, "search_object_of_property", property=":delivers", query="wing nut"
        )
        blank = await called(
            graph, "search_object_of_property", property=":delivers", query="urgent"
        )
    assert "- :n82 | no label; " in named.text and ":n81" not in named.text
    assert '"wing nut' in named.text or 'wing nut"' in named.text
    assert "a blank node" in blank.text and "urgent" in blank.text
