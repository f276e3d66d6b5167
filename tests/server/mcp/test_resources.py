"""What a graph holds can be read, and prompts say how to go on."""

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent, TextResourceContents
from tests.server.mcp.conftest import Agents

from askgraph.graph.glossary import parse_glossary
from askgraph.server.mcp.access import NOTICE


async def read(agents: Agents, address: str) -> str:
    async with agents.client() as client:
        [content] = (await client.read_resource(address)).contents
    assert isinstance(content, TextResourceContents)
    return content.text


async def test_resources_and_prompts(agents: Agents) -> None:
    async with agents.client() as client:
        # Each graph has its resources.
        listed = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        assert [one.uri for one in listed] == [
            "askgraph://graphs/space/profile",
            "askgraph://graphs/space/prefixes",
            "askgraph://graphs/space/shapes",
            "askgraph://graphs/space/glossary",
        ]
        assert "askgraph://graphs/{graph}/profile" in [one.uri_template for one in templates]
        # The profile tells classes and predicates as data.
        text = await read(agents, "askgraph://graphs/space/profile")
        assert text.startswith("# space: 8,132 triples") and NOTICE in text
        assert 'ont:Moon "moon": 55 instances' in text
        assert 'ont:orbits "orbits": 94 triples, ont:CelestialBody' in text
        # Prefixes are those that queries may use.
        text = await read(agents, "askgraph://graphs/space/prefixes")
        assert "PREFIX space: <https://example.org/space/>" in text.splitlines()
        # Shapes are a document of shex.
        text = await read(agents, "askgraph://graphs/space/shapes")
        assert "# moon: 55 instances\nont:Moon EXTRA a {" in text
        # A graph that is not there is no resource.
        with pytest.raises(MCPError, match="there is no graph 'nope'; available: space"):
            await client.read_resource("askgraph://graphs/nope/profile")
        # A prompt holds the question and the classes.
        names = [one.name for one in (await client.list_prompts()).prompts]
        prompt = await client.get_prompt("write_query", {"question": "Which moons are there?"})
        assert names == ["explore_graph", "write_query", "explain_word"]
        [message] = prompt.messages
        assert isinstance(message.content, TextContent)
        assert "Which moons are there?" in message.content.text
        assert '- ont:Moon "moon": 55 instances' in message.content.text


async def test_the_words_and_instructions_of_an_owner_reach_the_agent(moons: Agents) -> None:
    noted = "Jupiter is a planet.\nNever count it."
    entry = parse_glossary('[[entry]]\nword = "satellite"\nsame_as = "moon"\n', "x").entries
    moons.place.define("moons", *entry, instructions=noted)
    async with moons.client() as client:
        quoted = 'note of its owner: "Jupiter is a planet.\\nNever count it."'
        assert f"\nmoons: {quoted}" in str(client.instructions)
        listed = (await client.call_tool("list_graphs", {})).content[0].model_dump()["text"]
        assert quoted in listed
        glossary = await read(moons, "askgraph://graphs/moons/glossary")
        assert parse_glossary(glossary, "resource").instructions == noted
        assert "no word is defined yet" in await read(moons, "askgraph://graphs/pets/glossary")
        for word, text in {
            "satellites": 'same_as = "moon"',
            "ship": "instructions):\nnone",
        }.items():
            prompt = await client.get_prompt("explain_word", {"word": word, "graph": "moons"})
            assert text in str(prompt.messages[0].content.model_dump()["text"])
