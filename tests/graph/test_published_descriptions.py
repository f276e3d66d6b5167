"""Examples that an endpoint publishes in its service description."""

import pytest
from pyoxigraph import Store
from tests.servers.described import DescribedServer

from askgraph.errors import ServiceError
from askgraph.graph.examples.shacl import collected
from askgraph.graph.published import in_description

DESCRIPTION = """
prefix : <http://example.org/> prefix sh: <http://www.w3.org/ns/shacl#>
prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#>
:shared sh:declare [ sh:prefix "ex" ; sh:namespace "http://example.org/" ] .
:1 a sh:SPARQLExecutable ; rdfs:comment "Is there a moon?"@en ; sh:ask "ASK { ?s a ex:Moon }" .
"""


async def test_executables_of_a_description_are_examples() -> None:
    with DescribedServer(Store(), {"/sparql": ("text/turtle", DESCRIPTION)}) as server:
        found = collected(await in_description(server.url))
    (example,) = found.examples
    assert example.query == "PREFIX ex: <http://example.org/>\nASK { ?s a ex:Moon }"


@pytest.mark.parametrize("document", [{}, {"/sparql": ("text/html", "<html>try it</html>")}])
async def test_an_endpoint_without_a_description_says_so(
    document: dict[str, tuple[str, str]],
) -> None:
    with (
        DescribedServer(Store(), document) as server,
        pytest.raises(ServiceError, match=r"404|text/html"),
    ):
        await in_description(server.url)
