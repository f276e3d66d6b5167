"""The list of methods, and their settings as ours and as published."""

import json

import pytest
from typer.testing import CliRunner, Result

from askgraph import plugins
from askgraph.cli import app


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


def test_a_method_without_a_paper_has_its_defaults_alone() -> None:
    described = json.loads(run("guided", "--json").stdout)

    assert described["paper"] is None
    assert described["settings"]["turns"] == {"best": 3, "paper": None, "where": None}
    assert "paper" not in run("guided").stdout


def test_a_method_that_there_is_not_is_said_with_those_that_there_are() -> None:
    result = run("grusp")

    assert result.exit_code == 2 and "grasp" in result.stderr
