"""MCP over HTTP: the callers and graphs are the server's, and nothing is kept between requests."""

from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.server.mcp.test_ask import (
    MODERN,
    QUESTION,
    VERSIONS,
    check_protocol,
    text_of,
    third,
)
from tests.servers.key_holders import Locked


def opening(**more: object) -> dict[str, Any]:
    """The first message of a client."""
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}, **more}


HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@pytest.mark.parametrize(("mode", "version"), VERSIONS.items())
async def test_both_versions_of_the_protocol_over_http(
    served: str, mode: str, version: str
) -> None:
    async with Client(f"{served}/mcp", mode=mode) as client:
        assert client.protocol_version == version
        await check_protocol(client)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_asks_and_hears_the_steps(served: str, mode: str) -> None:
    told: list[str | None] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)

    async with Client(f"{served}/mcp", mode=mode) as client:
        found = await client.call_tool(
            "ask", {"question": "Who discovered Titan?"}, progress_callback=tell
        )
        resources = (await client.list_resources()).resources
    assert text_of(found).startswith("The discoverer of Titan is Christiaan Huygens.\n")
    assert told and "'Titan'" in str(told[0])
    assert resources[0].uri == "askgraph://graphs/space/profile"


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
    head = {"Authorization": f"Bearer {locked.add_key('ask', 'query')}"}
    async with httpx2.AsyncClient(headers=head, timeout=30) as http:
        transport = streamable_http_client(f"{locked.url}/mcp", http_client=http)
        async with Client(transport) as client:
            await client.call_tool("ask", {"question": "Who discovered Titan?"})
        runs = (await http.get(f"{locked.url}/api/v1/runs")).json()["runs"]
    assert runs[0]["question"] == "Who discovered Titan?"
    # A key without a graph sees none.
    head = {"Authorization": f"Bearer {locked.add_key('ask', graphs=[])}"}
    async with httpx2.AsyncClient(headers=head, timeout=30) as http:
        transport = streamable_http_client(f"{locked.url}/mcp", http_client=http)
        async with Client(transport) as client:
            listed = await client.call_tool("list_graphs", {})
            hidden = await client.call_tool("search", {"query": "Titan", "graph": "space"})
            run = await client.call_tool("query", {"query": "ASK {}", "graph": "space"})
            resources = (await client.list_resources()).resources
    assert text_of(listed).startswith("there is no graph yet")
    assert hidden.is_error and run.is_error and "there is no graph" in str(hidden.content)
    assert "scope 'query'" in str(run.content) and resources == []


@pytest.mark.parametrize("key", [None, "askgraph_aaaaaaaaaaaa_nothing"])
def test_a_stranger_gets_401_before_the_protocol_is_spoken(locked: Locked, key: str | None) -> None:
    head = {**HEADERS, **({"Authorization": f"Bearer {key}"} if key else {})}

    reply = httpx2.post(f"{locked.url}/mcp", json=opening(), headers=head, timeout=600)

    assert reply.status_code == 401 and reply.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("head", [{"Origin": "https://evil.example"}, {"Host": "evil.example"}])
def test_other_sites_and_names_are_refused(served: str, head: dict[str, str]) -> None:
    reply = httpx2.post(f"{served}/mcp", json=opening(), headers={**HEADERS, **head}, timeout=600)

    assert reply.status_code in (400, 403, 421)


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_no_stream_is_held_open_for_what_never_comes(served: str, method: str) -> None:
    reply = httpx2.request(
        method, f"{served}/mcp", headers={"Accept": "text/event-stream"}, timeout=60
    )

    assert (reply.status_code, reply.headers["allow"]) == (405, "POST")
