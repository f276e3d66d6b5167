"""Where a question can be read in several ways, the user is asked, if the client can."""

import base64
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.extension import advertise
from mcp.client.session import ClientRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolResult,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    InputRequiredResult,
    TextContent,
)
from tests.server.mcp.conftest import Agents

from askgraph.workspace import Workspace

QUESTION = {"question": "What is the population of Mars?", "limit": 3, "detail": True}
MODERN = "2026-07-28"
ASKED = (
    "The graph records no 'population' of Mars. For Mars there is: diameter, orbital period, mass "
    "and surface gravity. Which of these do you mean?"
)


VERSIONS = {"legacy": "2025-11-25", "auto": MODERN}
"""How a client speaks, and the version that it gets."""


async def check_protocol(client: Client) -> None:
    """Do once what the protocol offers; the steps of a question are heard."""
    told: list[str | None] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)

    assert "Graphs: space" in str(client.instructions)
    tools = (await client.list_tools()).tools
    asked = {"question": "Who discovered Titan?"}
    found = await client.call_tool("ask", asked, progress_callback=tell)
    assert text_of(found).startswith('"The discoverer of Titan is Christiaan Huygens."\n')
    assert told and "'Titan'" in str(told[0])
    [first, *_] = (await client.list_resources()).resources
    assert first.uri == "askgraph://graphs/space/profile"
    [content] = (await client.read_resource(first.uri)).contents
    assert "# space: 8,132 triples" in str(content)
    card = (tools[0].meta or {})["ui"]["resourceUri"]
    [content] = (await client.read_resource(card)).contents
    assert content.mime_type == "text/html;profile=mcp-app"
    prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
    assert prompts == ["explore_graph", "write_query", "explain_word"]


async def third(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    assert isinstance(params, ElicitRequestFormParams) and params.message == ASKED
    readings = params.requested_schema["properties"]["reading"]["enum"]
    return ElicitResult(action="accept", content={"reading": readings[2]})


async def declines(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    return ElicitResult(action="decline")


@pytest.mark.parametrize("mode", ["legacy", MODERN])
async def test_the_reading_that_the_user_takes_is_answered(agents: Agents, mode: str) -> None:
    async with agents.client(mode=mode, elicitation_callback=third) as client:
        found = (await client.call_tool("ask", QUESTION)).structured_content
    assert found is not None and found["status"] == "answer"
    assert found["words"] == "The discoverers of the things that orbit Mars."
    assert (found["total"], found["confidence"], len(found["rows"])) == (1, None, 1)
    assert found["chosen"] is True


@pytest.mark.parametrize("mode", ["legacy", MODERN])
async def test_without_a_way_to_ask_the_readings_are_the_result(agents: Agents, mode: str) -> None:
    async with agents.client(mode=mode) as client:
        found = (await client.call_tool("ask", QUESTION)).structured_content
    assert found is not None and found["status"] == "clarification" and found["message"] == ASKED
    assert [one["count"] for one in found["options"]] == [1, 2, 1, 3]
    assert all("SELECT" in one["query"] for one in found["options"])


async def test_an_agent_takes_a_reading_by_its_words_or_number(agents: Agents) -> None:
    asked = {"question": QUESTION["question"]}
    async with agents.client() as client:
        back = text_of(await client.call_tool("ask", asked))
        words = re.findall(r'^- "(.*)" \(', back, re.MULTILINE)
        assert back.startswith(f'"{ASKED}"') and len(words) == 4
        for reading in (words[2], "3"):
            told = text_of(await client.call_tool("ask", {**asked, "reading": reading}))
            assert 'Read as: "The discoverers of the things that orbit Mars."' in told
            assert "chosen from the readings" in told
        wrong = await client.call_tool("ask", {**asked, "reading": "Moons of Mars"})
        assert wrong.is_error and "available: " in str(wrong.content)


async def test_a_client_that_shows_cards_gets_their_data_beside_the_text(agents: Agents) -> None:
    cards = advertise("io.modelcontextprotocol/ui", {"mimeTypes": ["text/html;profile=mcp-app"]})
    async with agents.client(extensions=[cards]) as client:
        found = await client.call_tool("ask", {"question": "Which moons orbit Mars?"})
        back = await client.call_tool("ask", {"question": QUESTION["question"]})
        tools = (await client.list_tools()).tools
    answer = (found.meta or {})["askgraph/answer"]
    assert found.structured_content is None and answer["total"] == len(answer["rows"]) == 2
    assert len((back.meta or {})["askgraph/answer"]["options"]) == 4
    assert [tool.name for tool in tools if tool.meta] == ["ask"]
    async with agents.client() as client:
        plain = await client.call_tool("ask", {"question": "Which moons orbit Mars?"})
    assert plain.content == found.content and "askgraph/answer" not in (plain.meta or {})


def text_of(result: CallToolResult) -> str:
    """The text of a result without the notice."""
    part = result.content[0]
    assert isinstance(part, TextContent)
    return part.text


async def test_choices_and_their_state(agents: Agents) -> None:
    # Who does not choose gets the readings.
    async with agents.client(mode="legacy", elicitation_callback=declines) as client:
        found = (await client.call_tool("ask", QUESTION)).structured_content
    assert found is not None and found["status"] == "clarification"
    # A call that comes again without a choice is told so.
    async with agents.client(mode=MODERN, elicitation_callback=declines) as client:
        found = await client.call_tool("ask", QUESTION)
    assert found.is_error and "no interpretation was chosen" in str(found.content)
    # A forged state with an update in it changes nothing.
    async with agents.client(mode=MODERN, elicitation_callback=declines) as client:
        first = await client.session.call_tool("ask", QUESTION, allow_input_required=True)
        assert isinstance(first, InputRequiredResult) and first.request_state
        second = await client.session.call_tool(
            "ask",
            QUESTION,
            input_responses={"reading": ElicitResult(action="accept", content={"reading": "1. x"})},
            request_state=_with_query(first.request_state, "DELETE WHERE { ?s ?p ?o }"),
            allow_input_required=True,
        )
    assert isinstance(second, CallToolResult) and second.is_error
    assert "only SELECT, ASK, CONSTRUCT and DESCRIBE" in str(second.content)
    # A state that is no state is refused.
    async with agents.client(mode=MODERN, elicitation_callback=declines) as client:
        with pytest.raises(MCPError, match="requestState"):
            await client.session.call_tool(
                "ask", QUESTION, request_state="!", allow_input_required=True
            )


def _with_query(state: str, query: str) -> str:
    """The state of a call, with one reading of our own."""
    envelope = json.loads(base64.urlsafe_b64decode(state))
    content = json.loads(envelope["s"])
    content["options"] = [{"words": "x", "count": 1, "query": query}]
    forged = {**envelope, "s": json.dumps(content)}
    return base64.urlsafe_b64encode(json.dumps(forged).encode()).decode()


@pytest.mark.parametrize(("mode", "version"), VERSIONS.items())
async def test_both_versions_of_the_protocol_over_stdio(
    place: Workspace, mode: str, version: str
) -> None:
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "askgraph", "mcp", "--graph", "space"],
        env={**os.environ, "ASKGRAPH_WORKSPACE": str(place.folder)},
    )
    async with Client(command, mode=mode) as client:
        assert client.protocol_version == version
        await check_protocol(client)
    assert not (place.folder / "serve.db").exists()


def test_a_graph_that_is_not_there_is_told_before_anything_starts(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "askgraph", "mcp", "-g", "nope", "--workspace", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 2
    assert "there is no graph 'nope'" in done.stderr and "none yet" in done.stderr
    assert done.stdout == ""
