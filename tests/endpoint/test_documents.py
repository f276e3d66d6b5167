"""Documents beside an endpoint come whole, or it is said why not."""

import pytest
from pyoxigraph import Store
from tests.each import for_each
from tests.servers import faults
from tests.servers.described import DescribedServer
from tests.servers.sparql import Fault

from askgraph import errors
from askgraph.endpoint.documents import build_well_known_url, fetch_document


async def test_a_document_comes_with_its_kind() -> None:
    with DescribedServer(Store(), {"/sparql": ("text/turtle; charset=utf-8", "ä")}) as server:
        document = await fetch_document(server.url, accept=["text/turtle", "application/rdf+xml"])
        wanted = server.requests[0].headers["accept"]
    assert (document.media_type, document.content.decode()) == ("text/turtle", "ä")
    assert wanted == "text/turtle, application/rdf+xml;q=0.9"


@for_each(
    ("fault", "error"),
    (faults.status(404), errors.ErrorReply),
    (faults.status(403), errors.Unauthorised),
    (faults.redirect("/sparql"), errors.ErrorReply),
    (faults.reset(), errors.Unreachable),
    (faults.slow_first_byte(60), errors.TimedOut),
    (faults.endless(), errors.MalformedReply),
)
async def test_a_document_that_does_not_come_is_an_error(
    fault: Fault, error: type[errors.AskgraphError]
) -> None:
    with DescribedServer(Store(), {}) as server:
        server.always = fault
        with pytest.raises(error):
            seconds = 0.5 if error is errors.TimedOut else 60
            await fetch_document(
                server.url, accept=["text/turtle"], timeout=seconds, max_bytes=100_000
            )


async def test_a_document_that_comes_in_drops_is_late_as_a_whole() -> None:
    with DescribedServer(Store(), {"/there": ("text/turtle", "x" * 20)}) as server:
        server.always = faults.slow_drip(0.1)
        with pytest.raises(errors.TimedOut):
            await fetch_document(
                server.url.replace("/sparql", "/there"), accept=["text/turtle"], timeout=0.5
            )


async def test_what_is_no_url_is_refused() -> None:
    with pytest.raises(errors.SetupError, match="not an http"):
        await fetch_document("file:///etc/hosts", accept=["text/turtle"])


def test_a_well_known_address_lies_on_the_host() -> None:
    found = build_well_known_url("https://example.org:8443/a/sparql?key=1#x", "void")
    assert found == "https://example.org:8443/.well-known/void"
