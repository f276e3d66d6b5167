"""Fixtures: a small graph with every kind of term, and a server that answers from it."""

from collections.abc import Iterator

import pytest
from pyoxigraph import RdfFormat, Store
from tests.servers.llm import LlmServer
from tests.servers.sparql import SparqlServer

from askgraph.sample import graph_path

SMALL = """
@prefix ex: <http://example.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
ex:moon a ex:Body ; ex:name "Moon"@en, "Mond"@de ; ex:radius 1737.4 ; ex:orbits ex:earth ;
    ex:seen "1609-11-30"^^xsd:date ; ex:note "a \\"quote\\",\\na line and a tab\\t" .
ex:mars a ex:Body ; ex:name "Mars"@en ; ex:radius 3389.5 ; ex:orbits ex:sun ; ex:moons 2 .
ex:mission ex:target ex:moon ; ex:crew [ ex:role "Commander" ; ex:person ex:neil ] .
ex:graph1 { ex:phobos a ex:Body ; ex:orbits ex:mars . }
ex:graph2 { ex:deimos a ex:Body ; ex:orbits ex:mars . }
"""


@pytest.fixture
def small_store() -> Store:
    store = Store()
    store.load(SMALL.encode(), RdfFormat.TRIG)
    return store


@pytest.fixture
def sparql_server(small_store: Store) -> Iterator[SparqlServer]:
    with SparqlServer(small_store) as server:
        yield server


@pytest.fixture(scope="module")
def sample_endpoint() -> Iterator[SparqlServer]:
    """The sample graph behind an endpoint, which can be told to be slow."""
    store = Store()
    store.load(graph_path().read_bytes(), RdfFormat.TURTLE)
    with SparqlServer(store) as server:
        yield server


@pytest.fixture
def llm_server() -> Iterator[LlmServer]:
    with LlmServer() as server:
        yield server
