"""The list of tools, and the schemas that a model gets."""

import json

from typer.testing import CliRunner, Result

from askgraph import plugins
from askgraph.cli import app
from askgraph.methods.tools import SETS


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["tools", *arguments])


def test_every_tool_is_listed_with_its_sets() -> None:
    listed = json.loads(run("--json").stdout)

    assert tuple(tool["name"] for tool in listed) == plugins.names("tool")
    sets = {tool["name"]: tool["sets"] for tool in listed}
    assert sets["search_entity"] == ["S", "S_E"]
    for name in plugins.names("tool"):
        assert name in run().stdout


def test_a_set_is_shown_as_a_model_gets_it() -> None:
    schemas = json.loads(run("--set", "best", "--json").stdout)
    shown = run("--set", "best").stdout

    assert tuple(schema["name"] for schema in schemas) == SETS["best"]
    answer = schemas[0]
    assert answer["parameters"]["type"] == "object" and "query" in answer["parameters"]["required"]
    total = sum(schema["tokens"] for schema in schemas)
    assert f"{len(schemas)} tools, about {total:,} tokens" in shown
    assert answer["description"] in shown


def test_a_set_of_ones_own_is_named_with_commas() -> None:
    schemas = json.loads(run("--set", "list,why_empty", "--json").stdout)

    assert [schema["name"] for schema in schemas] == ["list", "why_empty"]


def test_an_unknown_set_is_refused_with_those_there_are() -> None:
    result = run("--set", "all")

    assert result.exit_code == 2
    assert "no set of tools 'all': there are B, S, S_E" in result.stderr
