"""What the graph says of a resource is grouped and counted, and nodes between things are opened."""

from dataclasses import replace
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, parse
from tests.methods.tools.exploring import called, line_with, served

from askgraph.errors import QueryError
from askgraph.graph import KnowledgeGraph
from askgraph.methods.tools import Context, ToolLimits
from askgraph.methods.tools.describe import describe
from askgraph.trace import Question

SMALL = {"": "http://example.org/"}
PREFIX = "@prefix : <http://example.org/> . "


async def test_both_ways_by_predicate_with_counts_or_outgoing_alone(space: KnowledgeGraph) -> None:
    told = await called(space, "describe", iri="space:Jupiter")
    outgoing = await called(space, "describe", iri="space:Jupiter", boundary="outgoing")
    assert told.text.startswith("space:Jupiter a ont:Planet\n")
    assert '"Jupiter"@en' in told.text and "Júpiter" not in told.text
    assert line_with(told, "ont:orbits") == "ont:orbits space:Sun"
    assert line_with(told, "← ont:orbits").startswith("← ont:orbits 13: space:")
    assert "ont:orbits space:Sun" in outgoing.text and "←" not in outgoing.text


async def test_nary_nodes_are_opened_further_or_named_by_content(space: KnowledgeGraph) -> None:
    told = await called(space, "describe", iri="space:Neil_Armstrong")
    assert '← ont:member "crew member" 2' in told.text
    line = line_with(told, "  crew:Apollo_11-1 a ont:CrewMembership: ")
    assert "ont:mission space:Apollo_11" in line and "ont:role space:Commander" in line
    assert "ont:member" not in line
    assert "https://example.org/space/Commander" in told.seen

    told = await called(space, "describe", iri="space:Pilot")
    line = line_with(told, "← ont:role")
    assert line.startswith("← ont:role 43, which have ")
    assert all(name in line for name in ("ont:mission", "ont:member", "ont:toDate"))
    assert told.text.count("a ont:CrewMembership") == 3


async def test_blank_nodes_are_opened_both_ways(tmp_path: Path) -> None:
    turtle = """
    @prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    :apollo rdfs:label "Apollo" ; :crew [ :person :neil ; :role "commander" ] .
    :neil rdfs:label "Neil" .
    """
    with served(turtle, tmp_path, prefixes=SMALL) as (graph, _):
        mission = await called(graph, "describe", iri=":apollo")
        person = await called(graph, "describe", iri=":neil")
    opened = line_with(mission, "  []: ")
    assert ":person :neil" in opened and ':role "commander"' in opened
    assert '  []: :role "commander"' in person.text.splitlines()


async def test_a_class_is_described_by_the_terms_around_it(space: KnowledgeGraph) -> None:
    told = await called(space, "describe", iri="ont:Person")
    assert "227 instances" in told.text
    assert "below it: " in told.text and "ont:Astronaut" in line_with(told, "below it")
    assert "ont:nationality → ont:Country" in line_with(told, "domain of")
    assert "ont:discoverer ← ont:CelestialBody" in line_with(told, "range of")


async def test_where_nothing_is_declared_the_use_tells(tmp_path: Path) -> None:
    turtle = """
    @prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    :rex a :Dog ; :owner :ann . :fido a :Dog ; :owner :ann . :ann a :Person .
    :keeper rdfs:subPropertyOf :owner .
    """
    with served(turtle, tmp_path, prefixes=SMALL) as (graph, _):
        dog = await called(graph, "describe", iri=":Dog")
        owner = await called(graph, "describe", iri=":owner")
        person = await called(graph, "describe", iri=":Person")
    assert "instances have: :owner → :Person" in dog.text
    assert "used 2×: :Dog → :Person" in owner.text and "below it: :keeper" in owner.text
    assert "lead to instances: :owner ← :Dog" in person.text


async def test_a_hub_is_counted_not_fetched(tmp_path: Path) -> None:
    turtle = PREFIX + "".join(f":s{n} :in :hub ." for n in range(3000)) + ":x :near :hub ."
    with served(turtle, tmp_path, prefixes=SMALL) as (graph, server):
        told = await called(graph, "describe", iri=":hub")
        queries = [request.parameters["query"][0] for request in server.requests]
    assert line_with(told, "← :in 3,000: ") and "← :near :x" in told.text
    assert all("LIMIT" in query or "VALUES ?thing" in query for query in queries)
    assert len(queries) <= 10


async def test_many_predicates_are_all_named(tmp_path: Path) -> None:
    turtle = PREFIX + "".join(f":a :p{n}x {n} ." for n in range(60))
    with served(turtle, tmp_path, prefixes=SMALL) as (graph, _):
        told = await called(graph, "describe", iri=":a")
    assert len(told.text.splitlines()) <= 28
    assert all(f":p{n}x" in told.text for n in range(60))


async def test_the_bounds_of_the_limits_go_before_what_a_call_asks(space: KnowledgeGraph) -> None:
    limits = ToolLimits(individuals="outgoing", schema="outgoing")
    for iri in ("https://example.org/space/Jupiter", "https://example.org/space/ontology#Moon"):
        bounded, free = Context(space, Question("?"), limits), Context(space, Question("?"))
        told = (await describe(bounded, iri, "neighbourhood", terms="specific")).text
        assert told == (await describe(free, iri, "outgoing")).text
        assert told != (await describe(free, iri)).text


TERMS = """@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:Region a owl:Class ; rdfs:label "region" ; rdfs:subClassOf :Place ; :note "n" .
:Place a owl:Class ; rdfs:label "place" ; :note "far" . :Town a owl:Class ; rdfs:label "town" ;
  rdfs:subClassOf :Region , :Settlement . :Firm a owl:Class ; rdfs:label "firm" ; :note "far" .
:in a owl:ObjectProperty ; rdfs:label "in" ; rdfs:domain :Firm ; rdfs:range :Region ; :note "far" ;
  rdfs:subPropertyOf :near .
:near a owl:ObjectProperty ; rdfs:domain :Thing ; rdfs:range :Place . :Thing rdfs:label "thing" .
:seatIn rdfs:subPropertyOf :in ; rdfs:label "seat in" ; rdfs:domain :Seat .
:Seat a owl:Class ; rdfs:label "seat" .
:Berlin a :Region ; :in :Firm . """ + " ".join(f":t{n} :in :Berlin ." for n in range(40))


async def test_raw_says_where_it_ends(tmp_path: Path) -> None:
    many = "".join(f":x{n} :in :Berlin . " for n in range(10_100))
    with served(f"{TERMS}{many}", tmp_path, prefixes=SMALL) as (graph, _):
        told = await called(graph, "describe", iri=":Berlin", boundary="neighbourhood", raw=True)
    assert told.text.endswith("# these are 10,000 triples; there may be more")


async def test_raw_is_every_triple_as_turtle_and_that_of_the_appendices_around_a_term(
    tmp_path: Path,
) -> None:
    with served(TERMS, tmp_path, prefixes=SMALL) as (graph, _):
        out = await called(graph, "describe", iri=":Berlin", boundary="outgoing", raw=True)
        both = await called(graph, "describe", iri=":Berlin", boundary="neighbourhood", raw=True)
        cls = await called(graph, "describe", iri=":Region", boundary="specific", raw=True)
        told = await called(graph, "describe", iri=":in", boundary="specific", raw=True)

    assert _triples(out.text) == {(":Berlin", "a", ":Region"), (":Berlin", ":in", ":Firm")}
    around = {(f":t{n}", ":in", ":Berlin") for n in range(40)}
    assert _triples(both.text) - _triples(out.text) == around
    assert _triples(cls.text) == {  # appendix B
        *((":Region", p, o) for p, o in ((":note", '"n"'), *_named("region"))),
        (":Region", "rdfs:subClassOf", ":Place"),
        *((":Place", p, o) for p, o in _named("place")),
        *((":Town", p, o) for p, o in _named("town")),
        (":Town", "rdfs:subClassOf", ":Region"),
        *((":in", p, o) for p, o in _named("in", "owl:ObjectProperty")),
        (":in", "rdfs:domain", ":Firm"),
        (":in", "rdfs:range", ":Region"),
        *((":Firm", p, o) for p, o in _named("firm")),
    }
    assert _triples(told.text) == {  # appendix C
        *((":in", p, o) for p, o in (*_named("in", "owl:ObjectProperty"), (":note", '"far"'))),
        (":in", "rdfs:domain", ":Firm"), (":in", "rdfs:range", ":Region"),
        (":in", "rdfs:subPropertyOf", ":near"), *((":Firm", p, o) for p, o in _named("firm")),
        *((":Region", p, o) for p, o in _named("region")), (":near", "a", "owl:ObjectProperty"),
        (":near", "rdfs:domain", ":Thing"), (":near", "rdfs:range", ":Place"),
        (":Thing", "rdfs:label", '"thing"'), *((":Place", p, o) for p, o in _named("place")),
        (":seatIn", "rdfs:subPropertyOf", ":in"), (":seatIn", "rdfs:label", '"seat in"'),
        (":seatIn", "rdfs:domain", ":Seat"), *((":Seat", p, o) for p, o in _named("seat")),
    }  # fmt: skip


def _named(label: str, kind: str = "owl:Class") -> tuple[tuple[str, str], ...]:
    return ("a", kind), ("rdfs:label", f'"{label}"')


def _triples(turtle: str) -> set[tuple[str, str, str]]:
    short = {
        "http://example.org/": ":",
        "http://www.w3.org/2000/01/rdf-schema#": "rdfs:",
        "http://www.w3.org/2002/07/owl#": "owl:",
    }

    def told(term: object) -> str:
        text = str(term)
        if text == "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>":
            return "a"
        for iri, prefix in short.items():
            if text.startswith(f"<{iri}"):
                return prefix + text.removeprefix(f"<{iri}").rstrip(">")
        return text

    found = parse(turtle, format=RdfFormat.TURTLE)
    return {(told(one.subject), told(one.predicate), told(one.object)) for one in found}


PETS = """
@prefix : <http://example.org/> .
:rex a :Dog ; :owner :ann ; :name "Rex" . :fido a :Dog ; :name "Fido" , "Fidel" .
:ann a :Person . :park :visitor :rex .
"""


async def test_properties_come_with_share_kind_and_example_both_ways(space: KnowledgeGraph) -> None:
    told = await called(space, "shape_of", cls="ont:Moon")
    assert told.text.startswith("ont:Moon: 55 instances\n")
    assert line_with(told, "ont:diameter").startswith("ont:diameter 76% → xsd:decimal, e.g. ")
    assert line_with(told, "ont:orbits").startswith("ont:orbits all → ont:CelestialBody")
    assert line_with(told, "rdfs:label").startswith("rdfs:label all (3.0 each)")
    assert line_with(told, "^ont:destination").startswith("^ont:destination 9% (")
    assert "https://example.org/space/ontology#destination" in told.seen


@pytest.mark.parametrize("local", [True, False])
async def test_a_class_that_the_profile_lacks_is_asked_for(tmp_path: Path, local: bool) -> None:
    with served(PETS, tmp_path, prefixes=SMALL, local=local) as (graph, _):
        predicates = tuple(
            replace(one, subject_classes=(), object_classes=()) for one in graph.profile.predicates
        )
        profile = replace(graph.profile, classes=(), partitions=(), predicates=predicates)
        told = await called(replace(graph, profile=profile), "shape_of", cls=":Dog")
    assert told.text.splitlines()[0] == ":Dog: 2 instances"
    assert line_with(told, ":name").startswith(":name all (1.5 each)")
    assert line_with(told, ":owner").startswith(":owner 50%")
    assert line_with(told, "^:visitor").startswith("^:visitor 50%")


async def test_what_the_graph_lacks_or_what_is_no_class_is_an_error(space: KnowledgeGraph) -> None:
    with pytest.raises(QueryError):
        await called(space, "describe", iri="space:Nobody_At_All")
    with pytest.raises(QueryError, match="nothing in the graph is of the class"):
        await called(space, "shape_of", cls="space:Titan")
