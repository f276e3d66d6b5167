"""`askgraph report` and `askgraph compare`: forms, files, errors."""

import csv
import io
import json
from pathlib import Path

import pytest
import typer
from tests.each import for_each
from tests.evaluation.reports.records import record, run_of, written
from typer.testing import CliRunner, Result

from askgraph.cli import expand_command
from askgraph.cli.evaluate import ReportGrouping, compare, report
from askgraph.errors import SetupError
from askgraph.evaluation.reports.page import BUILD_FOLDER
from askgraph.evaluation.reports.report_sheets import SHEET_BUILDERS


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with the runs `one`, of two methods, and `two`, which was not finished."""
    one = (record("q1", 1.0), record("q2", 0.0), record("q1", 0.5, method="guided"))
    written(tmp_path / "one", run_of(*one))
    written(tmp_path / "two", run_of(record("q1", 0.0), record("q2", 0.5), planned=3))
    return tmp_path


def call(*arguments: object) -> Result:
    app = typer.Typer()
    app.command("report")(expand_command(report, "report"))
    app.command("compare")(expand_command(compare, "compare"))
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_reports(runs: Path) -> None:
    # A report has all tables.
    found = call("report", runs / "one")
    assert found.exit_code == 0
    for title in ("Scores, run one", "What went wrong", "Confidence", "Oracle (not a system)"):
        assert title in found.stdout
    assert found.stderr == ""
    # What is not finished is said on both streams.
    found = call("report", runs / "two")
    assert "INCOMPLETE: two holds 2 of 3 records" in found.stderr
    assert "INCOMPLETE: two holds 2 of 3 records" in found.stdout
    # Csv is one table and by chooses it.
    scores = list(csv.DictReader(io.StringIO(call("report", runs / "one", "--csv").stdout)))
    assert [(row["run"], row["method"], row["best_column"]) for row in scores] == [
        ("one", "graph-search", "0.5"),
        ("one", "guided", "0.5"),
    ]
    by_form = call("report", runs / "one", "--csv", "--by", "form").stdout
    assert [row["form"] for row in csv.DictReader(io.StringIO(by_form))] == ["SELECT", "SELECT"]
    # Json is all figures or one table.
    everything = json.loads(call("report", runs / "one", runs / "two", "--json").stdout)
    assert [run["complete"] for run in everything["runs"]] == [True, False]
    assert [(g["run"], g["method"], g["f1"]) for g in everything["groups"]] == [
        ("one", "graph-search", 0.5),
        ("one", "guided", 0.5),
        ("two", "graph-search", 0.25),
    ]
    one = json.loads(call("report", runs / "one", "--json", "--by", "failure").stdout)
    assert one["title"] == "Scores by failure"
    # Out writes the same to a file.
    printed = call("report", runs / "one", "--markdown").stdout
    assert call("report", runs / "one", "--markdown", "--out", runs / "report.md").stdout == ""
    assert (runs / "report.md").read_text() == printed
    assert sorted(path.name for path in runs.iterdir()) == ["one", "report.md", "two"]
    # A file that cannot be written is an error.
    found = call("report", runs / "one", "--out", runs / "one" / "run.json" / "report.txt")
    assert isinstance(found.exception, SetupError) and "cannot write" in str(found.exception)


@pytest.mark.parametrize(("form", "start"), [("--markdown", "### Scores"), ("--latex", r"\begin")])
def test_tables_for_a_paper(runs: Path, form: str, start: str) -> None:
    assert call("report", runs / "one", form).stdout.startswith(start)


@pytest.mark.parametrize("command", ["report", "compare"])
def test_two_forms_at_once_are_refused(runs: Path, command: str) -> None:
    found = call(command, runs / "two", runs / "two", "--csv", "--latex")
    assert isinstance(found.exception, SetupError)
    assert "--csv and --latex exclude each other" in str(found.exception)


def test_comparisons(runs: Path) -> None:
    # Runs of the same name are told apart.
    again = written(runs / "later" / "one", run_of(record("q1")))
    names = json.loads(call("report", runs / "one", again, "--json").stdout)["runs"]
    assert [run["name"] for run in names] == [str(runs / "one"), str(again)]
    # A run that is named twice is an error.
    found = call("report", runs / "one", runs / "two" / ".." / "one")
    assert isinstance(found.exception, SetupError) and "one is named twice" in str(found.exception)
    # Stories can be written to a file.
    told = call("report", runs / "one", "--stories").stdout
    written_too = call("report", runs / "one", "--stories", "--out", runs / "stories.txt")
    assert (written_too.exit_code, written_too.stdout) == (0, "")
    assert (runs / "stories.txt").read_text() == told and "q2" in told
    # A folder that is no run is an error.
    assert isinstance(call("report", runs).exception, SetupError)
    # Every way to take figures apart can be asked for.
    assert [by.value for by in ReportGrouping] == list(SHEET_BUILDERS)
    # A comparison says how sure it is.
    found = call("compare", f"{runs / 'one'}:graph-search", runs / "two", "--json")
    told = json.loads(found.stdout)
    assert (told["all"]["n"], told["all"]["difference"], told["all"]["p"]) == (2, -0.25, 1.0)
    assert [change["id"] for change in told["better"]] == ["q2"]
    assert [change["id"] for change in told["worse"]] == ["q1"] and "INCOMPLETE: " in found.stderr
    # Methods of one run are compared.
    found = call("compare", f"{runs / 'one'}:graph-search", f"{runs / 'one'}:guided")
    assert "Only in A: 1 question; only in B: 0" in found.stdout
    # A run of several methods needs a name.
    found = call("compare", runs / "one", runs / "two")
    assert isinstance(found.exception, SetupError) and "name one" in str(found.exception)
    # A run whose name has a colon is found.
    odd = written(runs / "a:b", run_of(record("q1", 1.0)))
    assert call("compare", odd, runs / "two").exit_code == 0


@for_each("other", [["--json"], ["--by", "tag"], ["--html", "page.html"]])
def test_stories_are_no_table_and_no_page(runs: Path, other: list[str]) -> None:
    found = call("report", runs / "one", "--stories", *other)
    assert isinstance(found.exception, SetupError)
    assert "--stories can only be combined with --metric and --out" in str(found.exception)


@pytest.mark.slow
@pytest.mark.skipif(not BUILD_FOLDER.is_dir(), reason="the page is not built: make page")
def test_a_page_is_written_beside_the_report(runs: Path) -> None:
    pytest.importorskip("altair", reason="the page needs the extra 'evaluation'")
    pytest.importorskip("vl_convert", reason="the page needs the extra 'evaluation'")
    found = call("report", runs / "one", "--html", runs / "page.html")
    assert found.exit_code == 0, found.exception
    assert "wrote " in found.stderr
    assert (runs / "page.html").read_text().lower().startswith("<!doctype html>")
