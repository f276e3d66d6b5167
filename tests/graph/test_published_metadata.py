"""What an endpoint publishes of itself is found where it is, and where it is not, that is said."""

import pytest
from pyoxigraph import RdfFormat, Store
from tests.servers import faults
from tests.servers.described import DescribedServer
from tests.servers.sparql import Fault

from askgraph.endpoint.http import HttpEndpoint
from askgraph.errors import ServiceError
from askgraph.graph import published_metadata
from askgraph.graph.examples.shacl import collect_examples

VOID = """
@prefix : <http://example.org/> . @prefix void: <http://rdfs.org/ns/void#> .
:d void:triples 7 ; void:classPartition [ void:class :Moon ; void:entities 4 ;
  void:propertyPartition [ void:property :orbits ; void:triples 4 ] ] .
:Moon <http://www.w3.org/2000/01/rdf-schema#label> "moon"@en .
"""
OTHER = """
@prefix : <http://example.org/> . @prefix void: <http://rdfs.org/ns/void#> .
[] void:classPartition [ void:class :Planet ; void:entities 2 ] .
"""


async def looked_at(
    store: Store, documents: dict[str, tuple[str, str]], *, fault: Fault | None = None
) -> published_metadata.PublishedMetadata:
    with DescribedServer(store, documents) as server:
        server.always = fault
        endpoint = HttpEndpoint(server.url)
        try:
            return await published_metadata.read_published_void(endpoint, server.url, seconds=5)
        finally:
            await endpoint.close()


def stored(text: str, *, graph: bool = False) -> Store:
    store = Store()
    whole = text.replace("\n:d", "\n:g { :d").replace('"moon"@en .', '"moon"@en . }')
    store.load((whole if graph else text).encode(), RdfFormat.TRIG)
    return store


@pytest.mark.parametrize("graph", [False, True])
async def test_void_in_the_store_is_found_with_its_labels(graph: bool) -> None:
    published = await looked_at(stored(VOID, graph=graph), {})
    assert published.profile is not None
    (moon,) = published.profile.classes
    assert (moon.instances, moon.names) == (4, (("moon", "en"),))
    assert [one.predicate for one in published.profile.partitions] == ["http://example.org/orbits"]


async def test_the_service_description_and_the_host_add_to_it() -> None:
    documents = {"/sparql": ("text/turtle", VOID), "/.well-known/void": ("text/plain", OTHER)}
    published = await looked_at(Store(), documents)
    assert published.profile is not None
    names = [c.iri.rpartition("/")[2] for c in published.profile.classes]
    assert names == ["Moon", "Planet"]
    assert [(place.name, place.told) for place in published.places] == [
        ("store", False),
        ("service description", True),
        ("well-known", True),
    ]


async def test_an_endpoint_that_publishes_nothing_says_so_of_each_place() -> None:
    published = await looked_at(Store(), {"/sparql": ("text/html", "<html>try it</html>")})
    assert published.profile is None
    store, description, host = published.places
    assert store.found == "no VoID"
    assert "text/html" in description.found
    assert "404" in host.found
    # One that fails is no error, but told.
    published = await looked_at(Store(), {}, fault=faults.status(401))
    assert published.profile is None
    assert not any(place.told for place in published.places)


DESCRIPTION = """
prefix : <http://example.org/> prefix sh: <http://www.w3.org/ns/shacl#>
prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#>
:shared sh:declare [ sh:prefix "ex" ; sh:namespace "http://example.org/" ] .
:1 a sh:SPARQLExecutable ; rdfs:comment "Is there a moon?"@en ; sh:ask "ASK { ?s a ex:Moon }" .
"""


async def test_executables_of_a_description_are_examples() -> None:
    with DescribedServer(Store(), {"/sparql": ("text/turtle", DESCRIPTION)}) as server:
        found = collect_examples(await published_metadata.fetch_described_examples(server.url))
    (example,) = found.examples
    assert example.query == "PREFIX ex: <http://example.org/>\nASK { ?s a ex:Moon }"
    none: list[dict[str, tuple[str, str]]] = [{}, {"/sparql": ("text/html", "<html>try it</html>")}]
    for documents in none:
        with (
            DescribedServer(Store(), documents) as server,
            pytest.raises(ServiceError, match=r"404|text/html"),
        ):
            await published_metadata.fetch_described_examples(server.url)
