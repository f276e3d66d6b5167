"""Guarded requests reach public addresses and nothing else, however an address is spelt."""

from collections.abc import Sequence
from ipaddress import IPv4Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Store
from tests.each import for_each
from tests.servers import faults
from tests.servers.described import DescribedServer
from tests.servers.sparql import SparqlServer

from askgraph.endpoint.documents import fetch_document
from askgraph.endpoint.http import HttpEndpoint
from askgraph.endpoint.public_only import AddressGuard, is_public
from askgraph.errors import NotPublic, SetupError, Unreachable

PRIVATE = [
    "0.0.0.0", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.254", "168.63.129.16",
    "169.254.169.254", "172.31.255.255", "192.0.0.192", "192.88.99.1", "192.168.1.1", "198.18.0.1",
    "224.0.0.1", "255.255.255.255", "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1",
    "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1",
    "2001:0:7f00:1::1", "2002:7f00:1::", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0",
    "fec0::1", "ff02::1",
]  # fmt: skip
PUBLIC = ["1.1.1.1", "93.184.215.14", "2606:4700:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]
SPELT = [
    "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "0",
    "0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]",
    "localhost", "LOCALHOST", "localhost.", "１２７.0.0.1",
]  # fmt: skip


class Names:
    """A resolver that gives one answer after the other, and the last one ever after."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked += 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@for_each("address", PRIVATE + PUBLIC)
def test_only_addresses_of_the_public_internet_are_public(address: str) -> None:
    assert is_public(ip_address(address.partition("%")[0])) == (address in PUBLIC)


@given(st.ip_addresses(v=4))
def test_an_embedded_address_is_judged_as_the_one_that_it_embeds(address: IPv4Address) -> None:
    for prefix in ("::ffff:", "64:ff9b::"):
        assert is_public(ip_address(f"{prefix}{address}")) == is_public(address)


@pytest.mark.parametrize("host", SPELT)
async def test_no_spelling_of_this_machine_is_reached(
    sparql_server: SparqlServer, host: str
) -> None:
    port = sparql_server.url.rpartition(":")[2]
    with pytest.raises((NotPublic, Unreachable, SetupError)):
        await HttpEndpoint(f"http://{host}:{port}", guard=AddressGuard(), timeout=5).ask("ASK { }")
    assert sparql_server.requests == []


async def test_a_name_is_reached_at_the_address_that_was_judged(
    sparql_server: SparqlServer,
) -> None:
    names = Names(["127.0.0.1"], ["10.0.0.1"])
    port = sparql_server.url.rpartition(":")[2]
    guard = AddressGuard(("127.0.0.0/8",), names)
    endpoint = HttpEndpoint(f"http://graph.example:{port}", guard=guard, timeout=5)
    assert await endpoint.ask("ASK { ?s ?p ?o }")
    assert sparql_server.requests[0].headers["host"].startswith("graph.example")
    assert names.asked == 1
    with pytest.raises(NotPublic, match=r"graph\.example is not a public address"):
        await endpoint.ask("ASK { ?s ?p ?o }")
    await endpoint.close()
    assert len(sparql_server.requests) == 1


async def test_one_private_address_among_public_ones_is_enough_to_refuse_a_name() -> None:
    with pytest.raises(NotPublic) as refused:
        await AddressGuard(resolve=Names(["1.1.1.1", "10.1.2.3"])).resolve_addresses(
            "https://mixed.example/"
        )
    assert "10.1.2.3" not in str(refused.value)


@pytest.mark.parametrize("allowed", ["127.0.0.1", "127.0.0.0/8", "localhost"])
async def test_an_operator_may_allow_hosts_and_networks(
    sparql_server: SparqlServer, allowed: str
) -> None:
    host = allowed.partition("/")[0].replace("127.0.0.0", "127.0.0.1")
    endpoint = HttpEndpoint(
        sparql_server.url.replace("127.0.0.1", host), guard=AddressGuard((allowed,)), timeout=5
    )
    assert await endpoint.ask("ASK { ?s ?p ?o }")
    await endpoint.close()


def test_a_network_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(SetupError, match="is not a network"):
        AddressGuard(("10.0.0.0/99",))


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
async def test_a_redirect_to_another_host_is_not_followed(
    sparql_server: SparqlServer, code: int
) -> None:
    inside = sparql_server.url.replace("127.0.0.1", "localhost")
    sparql_server.always = faults.redirect(inside, code)
    endpoint = HttpEndpoint(sparql_server.url, guard=AddressGuard(("127.0.0.1",)), timeout=5)
    with pytest.raises(NotPublic, match="redirects to"):
        await endpoint.ask("ASK { ?s ?p ?o }")
    await endpoint.close()
    assert len(sparql_server.requests) == 1


async def test_documents_are_guarded_as_queries_are() -> None:
    with DescribedServer(Store(), {"/there": ("text/turtle", "x")}) as server:
        with pytest.raises(NotPublic):
            await fetch_document(server.url, accept=["text/turtle"], guard=AddressGuard())
        assert server.requests == []
        allowed = AddressGuard(("127.0.0.1",))
        server.acts.append(faults.redirect("/there"))
        assert (
            await fetch_document(server.url, accept=["text/turtle"], guard=allowed)
        ).content == b"x"
        server.acts.append(faults.redirect(server.url.replace("127.0.0.1", "127.0.0.2")))
        with pytest.raises(NotPublic, match=r"redirects to 127\.0\.0\.2"):
            await fetch_document(server.url, accept=["text/turtle"], guard=allowed)
