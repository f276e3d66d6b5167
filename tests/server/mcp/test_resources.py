"""What a graph holds can be read, and prompts say how to go on."""

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent, TextResourceContents
from tests.server.mcp.conftest import Agents

from askgraph.server.mcp.results import NOTICE


async def read(agents: Agents, address: str) -> str:
    async with agents.client() as client:
        [content] = (await client.read_resource(address)).contents
    assert isinstance(content, TextResourceContents)
    return content.text


async def test_each_graph_has_its_resources(agents: Agents) -> None:
    async with agents.client() as client:
        listed = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
    assert [one.uri for one in listed] == [
        "askgraph://graphs/space/profile",
        "askgraph://graphs/space/prefixes",
        "askgraph://graphs/space/shapes",
    ]
    assert "askgraph://graphs/{graph}/profile" in [one.uri_template for one in templates]


async def test_the_profile_tells_classes_and_predicates_as_data(agents: Agents) -> None:
    text = await read(agents, "askgraph://graphs/space/profile")
    assert text.startswith("# space: 8,132 triples")
    assert NOTICE in text
    assert 'ont:Moon "moon": 55 instances' in text
    assert 'ont:orbits "orbits": 94 triples, ont:CelestialBody' in text


async def test_prefixes_are_those_that_queries_may_use(agents: Agents) -> None:
    text = await read(agents, "askgraph://graphs/space/prefixes")
    assert "PREFIX space: <https://example.org/space/>" in text.splitlines()


async def test_shapes_are_a_document_of_shex(agents: Agents) -> None:
    text = await read(agents, "askgraph://graphs/space/shapes")
    assert "# moon: 55 instances\nont:Moon EXTRA a {" in text


async def test_a_graph_that_is_not_there_is_no_resource(agents: Agents) -> None:
    async with agents.client() as client:
        with pytest.raises(MCPError, match="there is no graph 'nope'; there are: space"):
            await client.read_resource("askgraph://graphs/nope/profile")


async def test_a_prompt_holds_the_question_and_the_classes(agents: Agents) -> None:
    async with agents.client() as client:
        names = [one.name for one in (await client.list_prompts()).prompts]
        prompt = await client.get_prompt("write_query", {"question": "Which moons are there?"})
    assert names == ["explore_graph", "write_query"]
    [message] = prompt.messages
    assert isinstance(message.content, TextContent)
    assert "Which moons are there?" in message.content.text
    assert '- ont:Moon "moon": 55 instances' in message.content.text
