"""Texts in no index are ranked as an index ranks names."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.each import for_each
from tests.methods.tools.exploring import SAMPLE, SPACE, called, line_with, served
from tests.servers import faults

from askgraph.errors import QueryError, Unreachable
from askgraph.graph import KnowledgeGraph
from askgraph.index import Resource
from askgraph.index.keyword import KeywordIndex
from askgraph.llm import estimate_tokens
from askgraph.methods.tools import ToolLimits
from askgraph.methods.tools.search import score_keywords

WORDS = st.sampled_from(["al", "albert", "alberto", "peter", "falk", "finney", "e", "x9"])
TEXTS = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)


LAUNCHES = ["^ont:launchVehicle", "ont:manufacturer"]
DESTINATION = ["→ ont:CelestialBody", "112×", '"The celestial body a mission was sent to"']


@for_each(
    ("search", "texts", "scores"),
    ("albert", [["Albert Finney"], ["Carlos Alberto"], ["Peter Falk"]], [1.0, 0.75, 0.0]),
    ("fallk", [["Albert Finney"], ["Carlos Alberto"], ["Peter Falk"]], [0.0, 0.0, 0.5]),
    ("titan", [["Saturn VI", "Titan"], []], [1.0, 0.0]),
    ("京", [["東京タワー"]], [0.75]),
)
def test_whole_words_before_beginnings_before_mistakes_the_best_name_counts(
    search: str, texts: list[list[str]], scores: list[float]
) -> None:
    assert score_keywords(search, texts) == scores


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=5, unique=True), TEXTS)
def test_scores_are_those_of_the_keyword_index(texts: list[str], search: str) -> None:
    resources = [Resource(f"http://x/{at}", text) for at, text in enumerate(texts)]
    with tempfile.TemporaryDirectory() as folder:
        hits = KeywordIndex.build(resources, Path(folder, "i")).search(search, limit=10)
        theirs = {hit.item.iri: hit.score for hit in hits}
    ours = score_keywords(search, [[text] for text in texts])
    if any(search_word in text for search_word in search.split() for text in texts):
        for at, score in enumerate(ours):
            assert score <= theirs.get(f"http://x/{at}", 0.0) + 1e-6
            assert (score > 0) <= (f"http://x/{at}" in theirs)


@for_each(
    ("tool", "query", "line", "parts", "seen"),
    ("entity", "Titan", '- space:Titan a ont:Moon | also "Saturn VI"', [], "Titan"),
    ("entity", "Titan", "- space:Titan ", [], "ontology#Moon"),
    ("entity", "Titan", "- space:Titan ", [], "ontology#orbits"),
    ("entity", "Saturn V rocket", "- space:Saturn_V ", LAUNCHES, "Saturn_V"),
    ("entity", "crew membership", "- ont:CrewMembership class, 192 instances", [], ""),
    ("property", "destination", "- ont:destination", DESTINATION, "ontology#destination"),
    ("property", "launch vehicle", "- ont:launchVehicle", [], "ontology#LaunchVehicle"),
)
async def test_a_hit_has_its_iri_what_it_is_and_what_meets_there_all_counts_as_seen(
    space: KnowledgeGraph, tool: str, query: str, line: str, parts: list[str], seen: str
) -> None:
    found = await called(space, f"search_{tool}", query=query)
    told = line_with(found, line)
    assert all(part in told for part in parts) and "ont:CelestialBody " not in told
    assert f"https://example.org/space/{seen}" in found.seen or not seen


async def test_hits_take_few_tokens_and_shared_properties_come_once(space: KnowledgeGraph) -> None:
    found = await called(space, "search_entity", query="apollo")
    assert len(found.text.splitlines()) == 10
    assert estimate_tokens(found.text) <= 10 * 45
    found = await called(space, "search_entity", query="titan")
    assert found.text.count("^ont:launchVehicle") == 1
    assert found.text.count("a ont:LaunchVehicle") == 3


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


async def test_a_miss_says_what_to_try_and_nothing_asked_is_refused(space: KnowledgeGraph) -> None:
    found = await called(space, "search_entity", query="xyzzy")
    assert found.text.startswith('nothing found for "xyzzy". Try') and not found.failed
    assert (await called(space, "search_entity", query=" ")).failed


async def test_a_graph_without_classes_gives_hits_and_a_dead_one_an_error(tmp_path: Path) -> None:
    with served(SAMPLE, tmp_path, prefixes=SPACE) as (graph, server):
        server.always = faults.status(400, "too complex")
        found = await called(graph, "search_entity", query="Titan")
    assert "- space:Titan " in found.text
    assert "could not be asked" in found.text.splitlines()[-1]
    with pytest.raises(Unreachable):
        await called(graph, "search_entity", query="Titan")


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


async def test_variants_of_a_property_take_one_line_another_code_another(tmp_path: Path) -> None:
    with served(STATEMENTS, tmp_path, prefixes=PREFIXES) as (graph, _):
        found = await called(graph, "search_property", query="knows")
        other = await called(graph, "search_property", query="known since")
    assert found.text.count("P7") == 3 and found.text.count('"knows"') == 1
    assert line_with(found, '- d:P7 "knows" (also ')
    assert "http://example.org/prop/statement/P7" in found.seen
    assert "(also" not in line_with(other, "- q:P8")


async def test_properties_of_an_entity_are_searched_both_ways_apart(space: KnowledgeGraph) -> None:
    tool = "search_property_of_entity"
    named = await called(space, tool, entity="space:Titan", query="time of revolution")
    found = await called(space, tool, entity="space:Neil_Armstrong")
    leaving, coming = found.text.split("properties to space:Neil_Armstrong")
    assert "- ont:orbitalPeriod" in named.text and "- ont:mass" not in named.text
    assert "ont:nationality" in leaving and "ont:member" not in leaving
    assert "ont:member" in coming and "2× here" in coming


async def test_an_unknown_entity_is_an_error_with_the_nearest(space: KnowledgeGraph) -> None:
    with pytest.raises(QueryError, match="space:Titan"):
        await called(space, "search_property_of_entity", entity="space:Tittan")


async def test_only_objects_of_the_property_are_found_the_most_frequent_without_a_match(
    space: KnowledgeGraph,
) -> None:
    tool = "search_object_of_property"
    found = await called(space, tool, query="pilot", property="ont:role")
    every = await called(space, tool, property="ont:role")
    none = await called(space, tool, query="qqq", property="ont:role")
    value = await called(space, tool, query="1655", property="ont:discoveryYear")
    assert found.text.startswith('10 objects of ont:role, 5 matching for "pilot":')
    assert line_with(found, "- space:Pilot a ont:Role").endswith("43× here")
    first, second, *_ = every.text.splitlines()[1:]
    assert first.startswith("- space:Commander") and first.endswith("54× here")
    assert second.startswith("- space:Mission_Specialist")
    assert none.text.startswith('none of the 10 objects of ont:role matches "qqq"')
    assert "- space:Commander" in none.text
    assert line_with(value, '- "1655"^^xsd:gYear | ont:discoveryYear'), "as in a query"


@for_each(
    ("sparql", "query", "line", "end"),
        ("{ ?m a ont:Moon ; ont:orbits ?search }", "", "- space:Saturn a ont:Planet", "18× here"),
        ("{ ?m a ont:Moon ; ?search ?o } LIMIT 3", "discovery year", "- ont:discoveryYear", ""),
        ("{ ?search ont:orbits space:Saturn FILTER(?search != space:Rhea) }", "titan rhea",
         "- space:Titan ", ""),
)  # fmt: skip
async def test_a_place_of_a_pattern_is_searched(
    space: KnowledgeGraph, sparql: str, query: str, line: str, end: str
) -> None:
    sparql = f"SELECT * WHERE {sparql}"
    found = await called(space, "search_autocomplete", sparql=sparql, query=query)
    _, first, *others = found.text.splitlines()
    assert first.startswith(line) and first.endswith(end)
    assert not any(other.startswith("- space:Rhea") for other in others)


@for_each(
    ("sparql", "why"),
    ("SELECT ?x WHERE { ?x a ont:Moon }", "no pattern uses"),
    ("ASK { ?search a ont:Moon }", "expected a SELECT query"),
    ("SELECT ?search WHERE { ?search a", "SELECT \\?search WHERE"),
    ("SELECT ?search WHERE { ?search a nope:Moon }", "nope:"),
    ("DELETE WHERE { ?search ?p ?o }", "DELETE|read|update"),
)
async def test_a_useless_query_is_refused(space: KnowledgeGraph, sparql: str, why: str) -> None:
    with pytest.raises(QueryError, match=why):
        await called(space, "search_autocomplete", sparql=sparql, query="x")


async def test_what_keeps_a_query_from_running_is_repaired_first(space: KnowledgeGraph) -> None:
    sparql = (
        "```sparql\nSELECT ?search ?searchLabel { ?search ont:orbits space:Saturn "
        'SERVICE wikibase:label { bd:serviceParam wikibase:language "en" } }\n```'
    )
    found = await called(space, "search_autocomplete", sparql=sparql, query="titan")
    assert "- space:Titan " in found.text


SATURN: dict[str, Any] = {"property": "ont:orbits", "object": "space:Saturn"}


YEAR = '"1655"^^xsd:gYear'


@for_each(
    ("arguments", "head", "shown"),
    (
        {"position": "subject", "query": "titan", **SATURN},
        '18 subjects of ont:orbits space:Saturn, 1 matching for "titan":',
        "- space:Titan a ont:Moon",
    ),
    (
        {"position": "property", "subject": "space:Titan", "object": "space:Saturn"},
        "1 properties of space:Titan space:Saturn:",
        "- ont:orbits",
    ),
    ({"position": "subject", "property": "ont:discoveryYear", "object": YEAR}, "", "- space:Titan"),
    (
        {"position": "object", "query": "x", "subject": "space:Titan", "property": "ont:role"},
        "there are no objects of space:Titan ont:role",
        "",
    ),
)
async def test_constraints_restrict_the_place_that_is_left(
    space: KnowledgeGraph, arguments: dict[str, Any], head: str, shown: str
) -> None:
    found = await called(space, "search_constrained", **arguments)
    assert found.text.startswith(head) and shown in found.text and "Titania" not in found.text


async def test_without_constraints_all_is_searched(space: KnowledgeGraph) -> None:
    plain = await called(space, "search_property", query="orbit")
    open_ = await called(space, "search_constrained", position="property", query="orbit")
    assert open_.text == plain.text


async def test_too_many_candidates_are_told_and_the_best_hits_tried(space: KnowledgeGraph) -> None:
    search: dict[str, Any] = {
        "position": "subject",
        "query": "titan",
        "limits": ToolLimits(candidates=3),
    }
    found = await called(space, "search_constrained", **search, **SATURN)
    head = found.text.splitlines()[0]
    assert "more than 3 things fit" in head and "searched in the whole graph" in head
    assert "- space:Titan a ont:Moon" in found.text and "Titania" not in found.text


async def test_values_are_tried_too_where_candidates_are_too_many(tmp_path: Path) -> None:
    rows = "".join(f':a{n} :serial "ZX-{n} blue" .' for n in range(100, 200))
    turtle = f"@prefix : <http://example.org/> . {rows}"
    search: dict[str, Any] = {
        "position": "object",
        "query": "zx 177",
        "limits": ToolLimits(candidates=3),
    }
    with served(turtle, tmp_path, prefixes={"": "http://example.org/"}) as (graph, _):
        found = await called(graph, "search_constrained", property=":serial", **search)
    assert found.text.splitlines()[1].startswith('- "ZX-177 blue"')


async def test_a_search_out_of_time_says_so(tmp_path: Path) -> None:
    search: dict[str, Any] = {
        "position": "subject",
        "query": "titan",
        "limits": ToolLimits(timeout=6.0),
    }
    with served(SAMPLE, tmp_path, prefixes=SPACE) as (graph, server):
        server.acts.extend([faults.slow_first_byte(0), faults.slow_first_byte(60)])
        found = await called(graph, "search_constrained", **search, **SATURN)
    assert "took longer than 6 s" in found.text
    assert "- space:Titan a ont:Moon" in found.text


async def test_a_remote_graph_is_asked_at_most_twice_for_bounded_candidates(tmp_path: Path) -> None:
    with served(SAMPLE, tmp_path, prefixes=SPACE) as (graph, server):
        await called(graph, "search_entity", query="apollo")
        assert len(server.requests) <= 2
        server.requests.clear()
        await called(graph, "search_constrained", position="subject", query="titan", **SATURN)
        queries = [request.parameters["query"][0] for request in server.requests]
    assert queries and all("LIMIT" in query or "VALUES ?thing" in query for query in queries)


async def test_the_place_that_is_looked_for_cannot_be_given(space: KnowledgeGraph) -> None:
    search: dict[str, Any] = {"position": "object", "query": "x", "object": "space:Titan"}
    with pytest.raises(QueryError, match="another position"):
        await called(space, "search_constrained", **search)


@for_each(
    "text",
    '"open',
    "} INSERT DATA { :a :b :c",
    '"x"^^nope:nope',
    '"x"@muchtoolongforalanguage',
    "?x",
    "",
)
async def test_what_is_no_term_is_refused_or_left_out(space: KnowledgeGraph, text: str) -> None:
    arguments: dict[str, Any] = {"position": "subject", "query": "titan", "object": text}
    if not text:
        assert line_with(await called(space, "search_constrained", **arguments), "- space:Titan ")
        return
    with pytest.raises(QueryError):
        await called(space, "search_constrained", **arguments)
