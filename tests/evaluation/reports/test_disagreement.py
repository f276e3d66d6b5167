"""Examples on which metrics disagree, and what the documentation of reports names."""

import json
import re
from itertools import combinations
from pathlib import Path

import pytest
import typer
from tests.evaluation.reports.records import record, run_of
from typer.testing import CliRunner

from askgraph.cli import expand_command
from askgraph.cli.evaluate import metrics
from askgraph.errors import SetupError
from askgraph.evaluation.reports import compare
from askgraph.evaluation.reports.failures import Failure
from askgraph.evaluation.reports.report import Report, to_report_object
from askgraph.evaluation.reports.report_sheets import SHEET_BUILDERS
from askgraph.plugins import list_names

PAGE = Path(__file__).parents[3] / "docs" / "metrics.md"
SAME = {("dfsl", "flattened")}  # by definition


def told(*arguments: str) -> str:
    app = typer.Typer()
    app.command()(expand_command(metrics, "metrics"))
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == 0, done.output
    return done.stdout


def test_examples_of_metrics() -> None:
    # Every metric scores every example.
    found = compare.score_examples()
    assert [example for example, _ in found] == list(compare.EXAMPLES)
    assert all(tuple(scores) == list_names("metric") for _, scores in found)
    # Any two metrics disagree on an example.
    for pair in combinations(list_names("metric"), 2):
        differ = any(scores[pair[0]].f1 != scores[pair[1]].f1 for _, scores in found)
        assert differ == (pair not in SAME), pair
    # Metrics can be chosen.
    assert {tuple(scores) for _, scores in compare.score_examples(["flattened"])} == {
        ("flattened",)
    }
    with pytest.raises(SetupError, match="no metric named 'flatened'; did you mean 'flattened'"):
        compare.score_examples(["flatened"])
    # The command lists every metric with a line.
    listed = json.loads(told("--json"))
    assert tuple(entry["name"] for entry in listed) == list_names("metric")
    assert all(entry["about"].endswith(".") for entry in listed)
    assert all(name in told() for name in list_names("metric"))


def test_the_command_gives_the_scores_of_the_examples() -> None:
    answers = json.loads(told("--examples", "--json"))

    assert [answer["example"] for answer in answers] == [
        example.name for example in compare.EXAMPLES
    ]
    labelled = next(answer for answer in answers if "labels" in answer["example"])
    assert labelled["scores"]["flattened"]["precision"] == 0.5
    assert compare.EXAMPLES[0].name in told("--examples")


@pytest.mark.parametrize("arguments", [("--markdown",), ("--examples", "--markdown")])
def test_the_page_has_the_tables_that_the_command_prints(arguments: tuple[str, ...]) -> None:
    assert told(*arguments) in PAGE.read_text(encoding="utf-8")


PAGE_REPORTS_PAGE = (Path(__file__).parents[3] / "docs" / "reports.md").read_text(encoding="utf-8")
RUN = run_of(record())


def test_the_documentation_is_complete() -> None:
    # Every class of failure is explained in the order of trying.
    table = PAGE_REPORTS_PAGE.split("## Classes of failure")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([a-z ]+?) \|", table, flags=re.MULTILINE)
    assert rows[1:] == [str(failure) for failure in Failure]
    # Every way to take figures apart is named.
    assert [by for by in SHEET_BUILDERS if f"`{by}`" not in PAGE_REPORTS_PAGE] == []
    # Every key of the json is named.
    side = compare.select_side(RUN)
    keys = {
        *Report(RUN.records).to_json(),
        *to_report_object([RUN]),
        *compare.to_comparison_object(compare.compare_sides(side, side)),
    }
    assert [key for key in sorted(keys) if f"`{key}`" not in PAGE_REPORTS_PAGE] == []
