"""`askgraph compare`: how much better one run is than another, and how sure that is."""

from dataclasses import replace
from pathlib import Path

import typer

from askgraph.cli import DebugOption
from askgraph.cli.figures import Form
from askgraph.evaluation.reports.compare import Side, compare_json, compare_sheets, side_of
from askgraph.evaluation.reports.compare import compare as compared
from askgraph.evaluation.runs import read_run


def compare(
    a: str,
    b: str,
    form: Form,
    metric: str = "best_column",
    limit: int = 10,
    out: Path | None = None,
    debug: DebugOption = False,
) -> None:
    """Compare two runs, or two methods of one, on the questions that both were asked.

    The mean of the differences B - A has a 95 % bootstrap interval, and p is of a paired
    permutation test. Refuses if the two were scored against different gold.
    """
    found = compared(_side(a), _side(b), metric=metric)
    for warning in found.warnings:
        typer.echo(warning, err=True)
    form.give(lambda: compare_sheets(found, limit=limit), lambda: compare_json(found), out=out)


def _side(name: str) -> Side:
    """The folder and, behind a colon, the method, whose name may have colons too."""
    parts = name.split(":")
    for at in range(1, len(parts)):
        folder = ":".join(parts[:at])
        if not Path(name).is_dir() and Path(folder).is_dir():
            method = ":".join(parts[at:])
            return side_of(replace(read_run(Path(folder)), name=folder), method=method)
    return side_of(replace(read_run(Path(name)), name=name))
