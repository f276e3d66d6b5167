"""`askgraph methods` and `askgraph tools` list what there is; an answer is text for a terminal."""

import json
from dataclasses import fields, replace
from pathlib import Path

import pytest
from tests.each import for_each
from typer.testing import CliRunner, Result

from askgraph import plugins
from askgraph.answers.console import to_text
from askgraph.cli import app
from askgraph.errors import SetupError
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods.settings import ModelMethodSettings
from askgraph.methods.tools import TOOL_SETS
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.results import SelectResult
from askgraph.trace import Answer
from askgraph.workspace import Workspace

SHARED = {one.name for one in fields(ModelMethodSettings)}


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["methods", *arguments])


def test_listing_methods() -> None:
    # Every method is listed with what it does.
    listed = json.loads(run("--json").stdout)
    names = [name.replace("_", "-") for name in plugins.list_names("method")]
    assert [one["name"] for one in listed] == names
    assert all(one["does"] and one["does"].split()[0] in run().stdout for one in listed)
    # A method without a paper has its defaults alone.
    described = json.loads(run("guided", "--json").stdout)
    assert described["paper"] is None
    help = "turns with functions if there is still no answer."
    assert described["settings"]["turns"] == {"best": 3, "paper": None, "where": None, "help": help}
    assert "paper" not in run("guided").stdout
    # A method that there is not is said with those that there are.
    result = run("grusp")
    assert result.exit_code == 2 and "grasp" in result.stderr


@for_each("name", ["grasp", "dfsl", "sparql-llm", "multi-stage", "graf-von-data"])
def test_both_presets_of_a_method_stand_side_by_side(name: str) -> None:
    described = json.loads(run(name, "--json").stdout)
    shown = run(name).stdout.splitlines()

    assert described["paper"] in shown[1]
    other = {key: one for key, one in described["settings"].items() if one["where"]}
    assert other and all(one["best"] != one["paper"] for one in other.values())
    for key, one in other.items():
        [line] = [line for line in shown if line.split(" ")[0] == key]
        assert one["where"] in line
    for text in described["otherwise"]:
        assert f"- {text}" in shown


def test_every_setting_says_what_it_does() -> None:
    for name in plugins.list_names("method"):
        settings = json.loads(run(name, "--json").stdout)["settings"]
        assert settings and [key for key, one in settings.items() if not one["help"]] == [], name
    settings = json.loads(run("guided", "--json").stdout)["settings"]
    assert len(set(settings) - {"fallback", *SHARED}) <= 14


def test_a_removed_setting_names_the_last_version_that_had_it(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"set by 'detail'.* askgraph 0.2 was the last version"):
        Workspace(tmp_path).method("guided", {"model": ScriptedModel([]), "shots": 2})


def run_tools(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["tools", *arguments])


def test_listing_tools() -> None:
    # Every tool is listed with its sets.
    listed = json.loads(run_tools("--json").stdout)
    assert tuple(tool["name"] for tool in listed) == plugins.list_names("tool")
    assert {tool["name"]: tool["sets"] for tool in listed}["search_entity"] == ["S", "S_E"]
    for name in plugins.list_names("tool"):
        assert name in run_tools().stdout
    # A set is shown as a model gets it.
    schemas = json.loads(run_tools("--set", "best", "--json").stdout)
    shown = run_tools("--set", "best").stdout
    assert tuple(schema["name"] for schema in schemas) == TOOL_SETS["best"]
    answer = schemas[0]
    assert answer["parameters"]["type"] == "object" and "query" in answer["parameters"]["required"]
    total = sum(schema["tokens"] for schema in schemas)
    assert f"{len(schemas)} tools, about {total:,} tokens" in shown
    assert answer["description"] in shown
    # A set of ones own is named with commas.
    schemas = json.loads(run_tools("--set", "list,shape_of", "--json").stdout)
    assert [schema["name"] for schema in schemas] == ["list", "shape_of"]
    # An unknown set is refused with those there are.
    result = run_tools("--set", "all")
    assert result.exit_code == 2 and "no set of tools 'all'; available: B, S, S_E" in result.stderr


ANSWER = Answer(
    "ASK {}", "moons", SelectResult((), ()), (), "Is there anything?", 0.5, boolean=True
)


def test_what_a_model_says_of_the_result_stands_beside_how_the_query_reads() -> None:
    said = replace(ANSWER, interpretation="Yes, there is.")
    lines = [" ".join(line.split()) for line in to_text(said, PrefixMap()).splitlines()]
    assert "In words Yes, there is." in lines and "Read as Is there anything?" in lines
    assert "In words" not in to_text(ANSWER, PrefixMap())
