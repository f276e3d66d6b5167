"""The examples tell metrics apart, and the page shows what the command prints."""

import json
from itertools import combinations
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from askgraph.cli import expanded
from askgraph.cli.evaluate import metrics
from askgraph.errors import SetupError
from askgraph.evaluation.reports.disagreement import EXAMPLES, scored
from askgraph.plugins import names

PAGE = Path(__file__).parents[3] / "docs" / "metrics.md"
SAME = {("dfsl", "flattened")}  # by definition


def told(*arguments: str) -> str:
    app = typer.Typer()
    app.command()(expanded(metrics, "metrics"))
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == 0, done.output
    return done.stdout


def test_every_metric_scores_every_example() -> None:
    found = scored()

    assert [one.example for one in found] == list(EXAMPLES)
    assert all(tuple(one.scores) == names("metric") for one in found)


def test_any_two_metrics_disagree_on_an_example() -> None:
    found = scored()

    for pair in combinations(names("metric"), 2):
        differ = any(one.scores[pair[0]].f1 != one.scores[pair[1]].f1 for one in found)
        assert differ == (pair not in SAME), pair


def test_metrics_can_be_chosen() -> None:
    assert [tuple(one.scores) for one in scored(["flattened"])] == [("flattened",)] * len(EXAMPLES)
    with pytest.raises(SetupError, match="no metric named 'flatened'; did you mean 'flattened'"):
        scored(["flatened"])


def test_the_command_lists_every_metric_with_a_line() -> None:
    listed = json.loads(told("--json"))

    assert tuple(entry["name"] for entry in listed) == names("metric")
    assert all(entry["about"].endswith(".") for entry in listed)
    assert all(name in told() for name in names("metric"))


def test_the_command_gives_the_scores_of_the_examples() -> None:
    answers = json.loads(told("--examples", "--json"))

    assert [answer["example"] for answer in answers] == [example.name for example in EXAMPLES]
    labelled = next(answer for answer in answers if "labels" in answer["example"])
    assert labelled["scores"]["flattened"]["precision"] == 0.5
    assert EXAMPLES[0].name in told("--examples")


@pytest.mark.parametrize("arguments", [("--markdown",), ("--examples", "--markdown")])
def test_the_page_has_the_tables_that_the_command_prints(arguments: tuple[str, ...]) -> None:
    assert told(*arguments) in PAGE.read_text(encoding="utf-8")
