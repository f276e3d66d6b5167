"""What is known of the moons, of the sample graph, and of a graph of which little is known."""

import re
from dataclasses import replace

import pytest
from pyoxigraph import RdfFormat, parse
from tests.graphs import MOONS

from askgraph import sample
from askgraph.metadata.profile import profile_of
from askgraph.rdf.prefixes import PrefixMap
from askgraph.traversal.build import build_arrays
from askgraph.validation.graph_knowledge import array_knowledge
from askgraph.validation.knowledge import Knowledge, Services
from askgraph.validation.profile_knowledge import profile_knowledge


def known(turtle: str) -> Knowledge:
    """What the triples of a text tell, with its prefixes."""
    arrays = build_arrays(parse(turtle.encode(), RdfFormat.TURTLE))
    own = PrefixMap(dict(re.findall(r"@prefix (\S*): <(.*?)>", turtle)))
    return replace(array_knowledge(profile_knowledge(profile_of(arrays)), arrays), prefixes=own)


@pytest.fixture(scope="session")
def moons() -> Services:
    return Services(known(MOONS))


@pytest.fixture(scope="session")
def space() -> Services:
    return Services(known(sample.graph_path().read_text(encoding="utf-8")))
