"""What is wrong with a message, a tool's arguments or a prompt is said in our words."""

from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from tests.server.test_faults import FOREIGN

WRONG: tuple[Any, ...] = (7, -1, True, [], [7], {}, "", None, "a\0b", "x" * 150_000)
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


async def test_no_wrong_argument_of_any_tool_is_told_in_words_of_a_library(served: str) -> None:
    refused = 0
    async with Client(f"{served}/mcp") as client:
        for tool in (await client.list_tools()).tools:
            names = list(tool.input_schema.get("properties", {}))
            for arguments in ({}, {"nonsense": 1}, *({one: it} for one in names for it in WRONG)):
                found = await client.call_tool(tool.name, arguments)
                told = "".join(part.model_dump().get("text", "") for part in found.content)
                if found.is_error:
                    refused += 1
                    assert told.startswith(tool.name) and not FOREIGN.search(told), told
                    assert "Error executing" not in told
    assert refused > 150


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "the message is no JSON"),
        (b"{", "the message is no JSON"),
        (b"[" * 100_000, "the message is no JSON, or too deep"),
        (b"[]", "send one message at a time, as"),
        (b"{}", "send one message at a time, as"),
        (b'{"jsonrpc": "2.0", "id": 1}', "the message needs a 'method'"),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', "the message needs a 'method'"),
        (b'{"jsonrpc": "2.0", "id": [], "method": "ping"}', "'id' has to be a text or a whole"),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', "'params' has to be an"),
    ],
)
def test_a_message_that_is_none_is_refused(served: str, body: bytes, words: str) -> None:
    response = httpx2.post(f"{served}/mcp", content=body, headers=HEADERS, timeout=60)

    assert response.status_code == 400
    assert words in response.json()["error"]["message"]
    assert not FOREIGN.search(response.text)


async def test_a_prompt_that_is_none_or_lacks_an_argument_is_an_error_of_the_caller(
    served: str,
) -> None:
    async with Client(f"{served}/mcp") as client:
        with pytest.raises(MCPError, match="there is no prompt 'nope'; there are explore_graph"):
            await client.get_prompt("nope", {})
        with pytest.raises(MCPError, match="write_query: the argument 'question' is missing"):
            await client.get_prompt("write_query", {})
