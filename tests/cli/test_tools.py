"""The list of tools, and the schemas that a model gets."""

import json

from typer.testing import CliRunner, Result

from askgraph import plugins
from askgraph.cli import app
from askgraph.methods.tools import SETS


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["tools", *arguments])


def test_listing_tools() -> None:
    # Every tool is listed with its sets.
    listed = json.loads(run("--json").stdout)
    assert tuple(tool["name"] for tool in listed) == plugins.names("tool")
    assert {tool["name"]: tool["sets"] for tool in listed}["search_entity"] == ["S", "S_E"]
    for name in plugins.names("tool"):
        assert name in run().stdout
    # A set is shown as a model gets it.
    schemas = json.loads(run("--set", "best", "--json").stdout)
    shown = run("--set", "best").stdout
    assert tuple(schema["name"] for schema in schemas) == SETS["best"]
    answer = schemas[0]
    assert answer["parameters"]["type"] == "object" and "query" in answer["parameters"]["required"]
    total = sum(schema["tokens"] for schema in schemas)
    assert f"{len(schemas)} tools, about {total:,} tokens" in shown
    assert answer["description"] in shown
    # A set of ones own is named with commas.
    schemas = json.loads(run("--set", "list,why_empty", "--json").stdout)
    assert [schema["name"] for schema in schemas] == ["list", "why_empty"]
    # An unknown set is refused with those there are.
    result = run("--set", "all")
    assert result.exit_code == 2 and "no set of tools 'all': there are B, S, S_E" in result.stderr
