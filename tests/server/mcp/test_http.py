"""MCP over HTTP: the callers and graphs are the server's, and nothing is kept between requests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.server.mcp.test_ask import MODERN, QUESTION, VERSIONS, check_protocol, text_of, third
from tests.servers.key_holders import Locked

HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


def knock(url: str, token: str | None = None, **more: str) -> httpx2.Response:
    """The reply to the first message of a client."""
    opening = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    head = {**HEADERS, **({"Authorization": f"Bearer {token}"} if token else {}), **more}
    return httpx2.post(f"{url}/mcp", json=opening, headers=head, timeout=600)


@asynccontextmanager
async def agent_of(url: str, token: str) -> AsyncIterator[tuple[Client, httpx2.AsyncClient]]:
    """A client with a key or token, and one of HTTP."""
    head = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(base_url=url, headers=head, timeout=60) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        yield client, http


@pytest.mark.parametrize(("mode", "version"), VERSIONS.items())
async def test_both_versions_of_the_protocol_over_http(
    served: str, mode: str, version: str
) -> None:
    async with Client(f"{served}/mcp", mode=mode) as client:
        assert client.protocol_version == version
        await check_protocol(client)


async def test_clients_over_http(served: str) -> None:
    # A question with a nul is an error of the tool.
    async with Client(f"{served}/mcp") as client:
        found = await client.call_tool("ask", {"question": "Who discovered\0 Titan?"})
    assert found.is_error
    assert "'question' must be text without NUL" in found.content[0].model_dump()["text"]
    # A new client is asked which reading is meant.
    async with Client(f"{served}/mcp", mode=MODERN, elicitation_callback=third) as client:
        found = (await client.call_tool("ask", QUESTION)).structured_content
    assert found is not None and found["words"] == "The discoverers of the things that orbit Mars."
    # An old client gets the readings.
    async with Client(f"{served}/mcp", mode="legacy", elicitation_callback=third) as client:
        found = (await client.call_tool("ask", QUESTION)).structured_content
    assert found is not None and len(found["options"]) == 4


async def test_keys_over_http(locked: Locked) -> None:
    # Questions are in the history of the key.
    async with agent_of(locked.url, locked.add_key("ask", "query")) as (client, http):
        await client.call_tool("ask", {"question": "Who discovered Titan?"})
        runs = (await http.get("/api/v1/runs")).json()["runs"]
    assert runs[0]["question"] == "Who discovered Titan?"
    # A key without a graph sees none.
    async with agent_of(locked.url, locked.add_key("ask", graphs=[])) as (client, _):
        listed = await client.call_tool("list_graphs", {})
        hidden = await client.call_tool("search", {"query": "Titan", "graph": "space"})
        run = await client.call_tool("query", {"query": "ASK {}", "graph": "space"})
        resources = (await client.list_resources()).resources
    assert text_of(listed).startswith("there is no graph yet")
    assert hidden.is_error and run.is_error and "there is no graph" in str(hidden.content)
    assert "scope 'query'" in str(run.content) and resources == []


@pytest.mark.parametrize("key", [None, "askgraph_aaaaaaaaaaaa_nothing"])
def test_a_stranger_gets_401_before_the_protocol_is_spoken(locked: Locked, key: str | None) -> None:
    reply = knock(locked.url, key)
    assert reply.status_code == 401 and reply.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("head", [{"Origin": "https://evil.example"}, {"Host": "evil.example"}])
def test_other_sites_and_names_are_refused(served: str, head: dict[str, str]) -> None:
    assert knock(served, **head).status_code in (400, 403, 421)


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_no_stream_is_held_open_for_what_never_comes(served: str, method: str) -> None:
    head = {"Accept": "text/event-stream"}
    reply = httpx2.request(method, f"{served}/mcp", headers=head, timeout=60)
    assert (reply.status_code, reply.headers["allow"]) == (405, "POST")
