"""What is put to another graph is judged by that graph, or not at all."""

from dataclasses import replace

import pytest
from pyoxigraph import RdfFormat, parse
from tests.answers.validation.conftest import HEAD, known, only
from tests.each import for_each
from tests.graphs import MOONS, PETS

from askgraph.answers.validation import FaultKind, ServiceKnowledge
from askgraph.answers.validation.graph_knowledge import build_profile_knowledge
from askgraph.answers.validation.validate import find_faults
from askgraph.graph.arrays import build_arrays
from askgraph.graph.local_profile import build_profile


@pytest.fixture(scope="module")
def in_two_graphs(moons: ServiceKnowledge) -> ServiceKnowledge:
    pets = build_profile(build_arrays(parse(PETS.encode(), RdfFormat.TURTLE)))
    space = build_profile(build_arrays(parse(MOONS.encode(), RdfFormat.TURTLE)))
    whole = build_profile(build_arrays(parse((MOONS + PETS).encode(), RdfFormat.TURTLE)))
    both = build_profile_knowledge(whole, graphs={"urn:pets": pets, "urn:space": space})
    return ServiceKnowledge(replace(both, prefixes=moons.queried_graph.prefixes))


def test_a_named_graph_is_judged_by_what_it_holds_alone(in_two_graphs: ServiceKnowledge) -> None:
    finding = only("SELECT * { GRAPH <urn:pets> { ?m onto:orbits ?p } }", in_two_graphs)
    assert finding.message == "the graph <urn:pets> has no predicate onto:orbits"
    assert (
        only("SELECT * FROM <urn:pets> { ?m a onto:Moon }", in_two_graphs).kind is FaultKind.CLASS
    )


JOINED = [
    "SELECT * { GRAPH <urn:pets> { ?d :owner ?o } GRAPH <urn:space> { ?m onto:orbits ?p } }",
    "SELECT * FROM <urn:pets> FROM <urn:space> { ?d :owner ?o ; rdfs:label ?n }",
    "SELECT * { GRAPH ?g { ?d :owner ?o } }",
    "SELECT * { GRAPH <urn:other> { ?d :unheard ?o } }",
    "SELECT * FROM <urn:other> { ?d :unheard ?o }",
    "SELECT * FROM <http://a.example/.well-known/void> { ?d :unheard ?o }",
]


@for_each("query", JOINED)
def test_a_graph_of_which_nothing_is_known_is_not_judged(
    query: str, in_two_graphs: ServiceKnowledge
) -> None:
    kinds = {finding.kind for finding in find_faults(HEAD + query, in_two_graphs)}
    assert kinds <= {FaultKind.UNJOINED}


def test_a_service_is_judged_by_its_own_graph(moons: ServiceKnowledge) -> None:
    both = replace(moons, services={"askgraph:pets": known(PETS)})
    query = "SELECT * { ?m a onto:Moon . SERVICE <askgraph:pets> { ?d :ownr ?o } }"
    finding = next(f for f in find_faults(HEAD + query, both) if f.kind is FaultKind.PREDICATE)
    assert finding.proposals[0].text == ":owner"


def test_two_services_are_judged_each_by_its_own_graph(moons: ServiceKnowledge) -> None:
    both = replace(
        moons, services={"askgraph:pets": known(PETS), "http://moons.example/": moons.queried_graph}
    )
    sound = (
        "SELECT * { ?m a onto:Moon . SERVICE <askgraph:pets> { ?d :owner ?m }"
        " SERVICE SILENT <http://moons.example/> { ?m onto:orbits ?p } }"
    )
    assert find_faults(HEAD + sound, both) == ()
    crossed = sound.replace("<askgraph:pets>", "?x").replace(
        "http://moons.example/", "askgraph:pets"
    )
    assert only(crossed, both).term == "http://example.org/onto#orbits"
