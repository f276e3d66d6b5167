"""The list of methods, and their settings as ours and as published."""

import json
from dataclasses import fields
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from askgraph import plugins
from askgraph.cli import app
from askgraph.errors import SetupError
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods.settings import ModelSettings
from askgraph.workspace import Workspace

SHARED = {one.name for one in fields(ModelSettings)}


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["methods", *arguments])


def test_every_method_is_listed_with_what_it_does() -> None:
    listed = json.loads(run("--json").stdout)

    names = [name.replace("_", "-") for name in plugins.names("method")]
    assert [one["name"] for one in listed] == names
    assert all(one["does"] and one["does"].split()[0] in run().stdout for one in listed)


@pytest.mark.parametrize("name", ["grasp", "dfsl", "sparql-llm", "multi-stage", "graf-von-data"])
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


@pytest.mark.parametrize("name", plugins.names("method"))
def test_every_setting_says_what_it_does(name: str) -> None:
    settings = json.loads(run(name, "--json").stdout)["settings"]

    assert settings and all(one["help"] for one in settings.values())
    assert name != "guided" or len(set(settings) - {"fallback", *SHARED}) <= 14


def test_a_removed_setting_names_the_last_version_that_had_it(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"set by 'detail'.* askgraph 0.2 was the last version"):
        Workspace(tmp_path).method("guided", {"model": ScriptedModel([]), "shots": 2})


def test_a_method_without_a_paper_has_its_defaults_alone() -> None:
    described = json.loads(run("guided", "--json").stdout)

    assert described["paper"] is None
    told = "turns with functions, where there is no answer after that."
    turns = {"best": 3, "paper": None, "where": None, "help": told}
    assert described["settings"]["turns"] == turns
    assert "paper" not in run("guided").stdout


def test_a_method_that_there_is_not_is_said_with_those_that_there_are() -> None:
    result = run("grusp")

    assert result.exit_code == 2 and "grasp" in result.stderr
