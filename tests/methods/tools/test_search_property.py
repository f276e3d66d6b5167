"""Properties are found with what they lead from and to; variants of one take one line."""

from pathlib import Path

from tests.methods.tools.exploring import called, line_with, served

from askgraph.graph import KnowledgeGraph

STATEMENTS = """
@prefix d: <http://example.org/prop/direct/> . @prefix p: <http://example.org/prop/> .
@prefix s: <http://example.org/prop/statement/> . @prefix q: <http://example.org/prop/qualifier/> .
@prefix : <http://example.org/thing/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:x1 rdfs:label "Anna" ; d:P7 :x2 ; p:P7 [ s:P7 :x2 ; q:P8 "1999" ] .
:x2 rdfs:label "Otto" ; d:P7 :x1 .
d:P7 rdfs:label "knows"@en . p:P7 rdfs:label "knows"@en . s:P7 rdfs:label "knows"@en .
q:P8 rdfs:label "known since"@en .
"""
PREFIXES = {
    "d": "http://example.org/prop/direct/",
    "p": "http://example.org/prop/",
    "s": "http://example.org/prop/statement/",
    "q": "http://example.org/prop/qualifier/",
    "": "http://example.org/thing/",
}


async def test_a_hit_has_domain_range_use_and_description(space: KnowledgeGraph) -> None:
    found = await called(space, "search_property", query="destination")
    line = line_with(found, "- ont:destination")
    assert "→ ont:CelestialBody" in line and "112×" in line
    assert '"The celestial body a mission was sent to"' in line


async def test_ends_count_as_seen(space: KnowledgeGraph) -> None:
    found = await called(space, "search_property", query="launch vehicle")
    assert "https://example.org/space/ontology#LaunchVehicle" in found.seen


async def test_variants_of_one_property_take_one_line(tmp_path: Path) -> None:
    with served(STATEMENTS, tmp_path, prefixes=PREFIXES) as (graph, _):
        found = await called(graph, "search_property", query="knows")
    assert found.text.count("P7") == 3 and found.text.count('"knows"') == 1
    assert line_with(found, '- d:P7 "knows" (also ')
    assert "http://example.org/prop/statement/P7" in found.seen


async def test_another_code_is_another_property(tmp_path: Path) -> None:
    with served(STATEMENTS, tmp_path, prefixes=PREFIXES) as (graph, _):
        found = await called(graph, "search_property", query="known since")
    assert "(also" not in line_with(found, "- q:P8")
