"""`askgraph report` and `askgraph compare`: forms, files, errors."""

import csv
import io
import json
from pathlib import Path

import pytest
import typer
from tests.evaluation.reports.records import record, run_of, written
from typer.testing import CliRunner, Result

from askgraph.cli import expanded
from askgraph.cli.evaluate import By, compare, report
from askgraph.errors import SetupError
from askgraph.evaluation.reports.page import BUILT
from askgraph.evaluation.reports.report_sheets import BY


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with the runs `one`, of two methods, and `two`, which was not finished."""
    one = (record("q1", 1.0), record("q2", 0.0), record("q1", 0.5, method="guided"))
    written(tmp_path / "one", run_of(*one))
    written(tmp_path / "two", run_of(record("q1", 0.0), record("q2", 0.5), planned=3))
    return tmp_path


def call(*arguments: object) -> Result:
    app = typer.Typer()
    app.command("report")(expanded(report, "report"))
    app.command("compare")(expanded(compare, "compare"))
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_a_report_has_all_tables(runs: Path) -> None:
    found = call("report", runs / "one")
    assert found.exit_code == 0
    for title in ("Scores, run one", "What went wrong", "Confidence", "Oracle (not a system)"):
        assert title in found.stdout
    assert found.stderr == ""


def test_what_is_not_finished_is_said_on_both_streams(runs: Path) -> None:
    found = call("report", runs / "two")
    assert "INCOMPLETE: two holds 2 of 3 records" in found.stderr
    assert "INCOMPLETE: two holds 2 of 3 records" in found.stdout


def test_csv_is_one_table_and_by_chooses_it(runs: Path) -> None:
    scores = list(csv.DictReader(io.StringIO(call("report", runs / "one", "--csv").stdout)))
    assert [(row["run"], row["method"], row["best_column"]) for row in scores] == [
        ("one", "graph-search", "0.5"),
        ("one", "guided", "0.5"),
    ]
    by_form = call("report", runs / "one", "--csv", "--by", "form").stdout
    assert [row["form"] for row in csv.DictReader(io.StringIO(by_form))] == ["SELECT", "SELECT"]


def test_json_is_all_figures_or_one_table(runs: Path) -> None:
    everything = json.loads(call("report", runs / "one", runs / "two", "--json").stdout)
    assert [run["complete"] for run in everything["runs"]] == [True, False]
    assert [(g["run"], g["method"], g["f1"]) for g in everything["groups"]] == [
        ("one", "graph-search", 0.5),
        ("one", "guided", 0.5),
        ("two", "graph-search", 0.25),
    ]
    one = json.loads(call("report", runs / "one", "--json", "--by", "failure").stdout)
    assert one["title"] == "Scores by failure"


@pytest.mark.parametrize(("form", "start"), [("--markdown", "### Scores"), ("--latex", r"\begin")])
def test_tables_for_a_paper(runs: Path, form: str, start: str) -> None:
    assert call("report", runs / "one", form).stdout.startswith(start)


@pytest.mark.parametrize("command", ["report", "compare"])
def test_two_forms_at_once_are_refused(runs: Path, command: str) -> None:
    found = call(command, runs / "two", runs / "two", "--csv", "--latex")
    assert isinstance(found.exception, SetupError)
    assert "one form at a time: --csv and --latex" in str(found.exception)


def test_out_writes_the_same_to_a_file(runs: Path) -> None:
    printed = call("report", runs / "one", "--markdown").stdout
    silent = call("report", runs / "one", "--markdown", "--out", runs / "report.md")
    assert silent.stdout == ""
    assert (runs / "report.md").read_text() == printed
    assert sorted(path.name for path in runs.iterdir()) == ["one", "report.md", "two"]


def test_a_file_that_cannot_be_written_is_an_error(runs: Path) -> None:
    found = call("report", runs / "one", "--out", runs / "one" / "run.json" / "report.txt")
    assert isinstance(found.exception, SetupError)
    assert "cannot write" in str(found.exception)


def test_runs_of_the_same_name_are_told_apart(runs: Path) -> None:
    again = written(runs / "later" / "one", run_of(record("q1")))
    names = json.loads(call("report", runs / "one", again, "--json").stdout)["runs"]
    assert [run["name"] for run in names] == [str(runs / "one"), str(again)]


def test_a_run_that_is_named_twice_is_an_error(runs: Path) -> None:
    found = call("report", runs / "one", runs / "two" / ".." / "one")
    assert isinstance(found.exception, SetupError)
    assert "one is named twice" in str(found.exception)


def test_stories_can_be_written_to_a_file(runs: Path) -> None:
    told = call("report", runs / "one", "--stories").stdout
    written_too = call("report", runs / "one", "--stories", "--out", runs / "stories.txt")
    assert (written_too.exit_code, written_too.stdout) == (0, "")
    assert (runs / "stories.txt").read_text() == told
    assert "q2" in told


@pytest.mark.parametrize("other", [["--json"], ["--by", "tag"], ["--html", "page.html"]])
def test_stories_are_no_table_and_no_page(runs: Path, other: list[str]) -> None:
    found = call("report", runs / "one", "--stories", *other)
    assert isinstance(found.exception, SetupError)
    assert "--stories are text of their own" in str(found.exception)


def test_a_folder_that_is_no_run_is_an_error(runs: Path) -> None:
    assert isinstance(call("report", runs).exception, SetupError)


def test_every_way_to_take_figures_apart_can_be_asked_for() -> None:
    assert [by.value for by in By] == list(BY)


@pytest.mark.skipif(not BUILT.is_dir(), reason="the page is not built: make page")
def test_a_page_is_written_beside_the_report(runs: Path) -> None:
    pytest.importorskip("altair", reason="the page needs the extra 'evaluation'")
    pytest.importorskip("vl_convert", reason="the page needs the extra 'evaluation'")
    found = call("report", runs / "one", "--html", runs / "page.html")
    assert found.exit_code == 0, found.exception
    assert "the page is" in found.stderr
    assert (runs / "page.html").read_text().lower().startswith("<!doctype html>")


def test_a_comparison_says_how_sure_it_is(runs: Path) -> None:
    found = call("compare", f"{runs / 'one'}:graph-search", runs / "two", "--json")
    told = json.loads(found.stdout)
    assert (told["all"]["n"], told["all"]["difference"], told["all"]["p"]) == (2, -0.25, 1.0)
    assert [change["id"] for change in told["better"]] == ["q2"]
    assert [change["id"] for change in told["worse"]] == ["q1"]
    assert "INCOMPLETE: " in found.stderr


def test_methods_of_one_run_are_compared(runs: Path) -> None:
    found = call("compare", f"{runs / 'one'}:graph-search", f"{runs / 'one'}:guided")
    assert "Only in A: 1 question; only in B: 0" in found.stdout


def test_a_run_of_several_methods_needs_a_name(runs: Path) -> None:
    found = call("compare", runs / "one", runs / "two")
    assert isinstance(found.exception, SetupError)
    assert "name one" in str(found.exception)


def test_a_run_whose_name_has_a_colon_is_found(runs: Path) -> None:
    odd = written(runs / "a:b", run_of(record("q1", 1.0)))
    assert call("compare", odd, runs / "two").exit_code == 0
