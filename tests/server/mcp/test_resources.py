"""What a graph holds can be read, and prompts say how to go on."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent, TextResourceContents
from tests.server.mcp.conftest import Agents
from typer.testing import CliRunner

from askgraph.cli import app
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
        assert '# "moon": 55 instances\nont:Moon EXTRA a {' in text
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


TEXT, FLAG = {"type": "string"}, {"type": "boolean"}
INPUT: dict[str, Any] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(
            ("name", "description", "default", "value", "placeholder", "valueHint"), TEXT
        ),
        **dict.fromkeys(("isRequired", "isSecret", "isRepeated"), FLAG),
        "format": {"enum": ["string", "number", "boolean", "filepath"]},
        "type": {"enum": ["named", "positional"]},
    },
    "additionalProperties": False,
}
ARGUMENT = {
    **INPUT,
    "required": ["type"],
    "if": {"properties": {"type": {"const": "named"}}},
    "then": {"required": ["name"]},
    "else": {"anyOf": [{"required": ["value"]}, {"required": ["valueHint"]}]},
}
ARGUMENTS = {"type": "array", "items": ARGUMENT}
VARIABLES = {"type": "array", "items": {**INPUT, "required": ["name"]}}
PACKAGE = {
    "type": "object",
    "required": ["registryType", "identifier", "transport"],
    "properties": {
        **dict.fromkeys(("identifier", "version", "runtimeHint"), TEXT),
        "registryType": {"enum": ["npm", "pypi", "oci", "nuget", "mcpb"]},
        "transport": {"properties": {"type": {"const": "stdio"}}, "required": ["type"]},
        "runtimeArguments": ARGUMENTS,
        "packageArguments": ARGUMENTS,
        "environmentVariables": VARIABLES,
    },
    "additionalProperties": False,  # so it names no registry's address
    "dependentRequired": {"runtimeArguments": ["runtimeHint"]},
}
SERVER = {
    "type": "object",
    "required": ["$schema", "name", "description", "version"],
    "properties": {
        "$schema": TEXT,
        "name": {"pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "maxLength": 200},
        "title": {"maxLength": 100},
        "description": {"minLength": 1, "maxLength": 100},
        "version": {"pattern": r"^\d+\.\d+\.\d+"},
        "packages": {"type": "array", "items": PACKAGE},
    },
    "additionalProperties": False,
}
"""The rules of server.json (schema of 2025-12-11) for the keys that ours has."""


def test_registries_can_read_what_the_server_is_and_how_it_starts() -> None:
    root = Path(__file__).parents[3]
    described = json.loads((root / "server.json").read_text(encoding="utf-8"))
    Draft202012Validator(SERVER).validate(described)
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    [package] = described["packages"]
    assert described["version"] == package["version"] == project["version"]
    assert package["runtimeArguments"][0]["value"] == f"{project['name']}[serve]"
    [command] = [argument["value"] for argument in package["packageArguments"]]
    assert CliRunner().invoke(app, [command, "--help"]).exit_code == 0
    documented = (root / "docs" / "command-line.md").read_text(encoding="utf-8")
    documented += (root / "docs" / "language-models.md").read_text(encoding="utf-8")
    for variable in package["environmentVariables"]:
        assert variable["name"] in documented, variable
