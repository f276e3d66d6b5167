"""What is known of the moons, of the sample graph, and of a graph of which little is known."""

import re
from dataclasses import replace

import pytest
from pyoxigraph import RdfFormat, parse
from tests.graphs import MOONS

from askgraph import sample
from askgraph.answers.validation import Finding, Knowledge, ServiceKnowledge
from askgraph.answers.validation.graph_knowledge import add_array_knowledge, build_profile_knowledge
from askgraph.answers.validation.validate import find_faults
from askgraph.graph.arrays import build_arrays
from askgraph.graph.local_profile import build_profile
from askgraph.sparql.prefixes import PrefixMap

HEAD = (
    "PREFIX : <http://example.org/> PREFIX onto: <http://example.org/onto#>"
    " PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
)

MANY = """
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Cup rdfs:subClassOf :Vessel . :Vessel rdfs:subClassOf :Thing .
:a a :Cup, :Old ; :holds :b ; :size 5 ; :name "a"@en .
:b a :Tea ; :size 5.5 . :c a :Old, :Red ; :heldBy :a .
"""


def known(turtle: str) -> Knowledge:
    """What the triples of a text tell, with its prefixes."""
    arrays = build_arrays(parse(turtle.encode(), RdfFormat.TURTLE))
    own = PrefixMap(dict(re.findall(r"@prefix (\S*): <(.*?)>", turtle)))
    return replace(
        add_array_knowledge(build_profile_knowledge(build_profile(arrays)), arrays), prefixes=own
    )


@pytest.fixture(scope="session")
def moons() -> ServiceKnowledge:
    return ServiceKnowledge(known(MOONS))


@pytest.fixture(scope="session")
def space() -> ServiceKnowledge:
    return ServiceKnowledge(known(sample.graph_path().read_text(encoding="utf-8")))


@pytest.fixture(scope="session")
def cups() -> ServiceKnowledge:
    return ServiceKnowledge(known(MANY))


def only(query: str, services: ServiceKnowledge) -> Finding:
    """The one finding on a query."""
    (finding,) = find_faults(HEAD + query, services)
    return finding
