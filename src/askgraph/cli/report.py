"""`askgraph report`: the figures of runs that `askgraph evaluate` made."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

import typer

from askgraph.cli import DebugOption
from askgraph.cli.figures import Form, write_whole
from askgraph.errors import SetupError
from askgraph.evaluation.reports.page import html_page
from askgraph.evaluation.reports.report import incomplete, report_json
from askgraph.evaluation.reports.report_sheets import by_sheet, report_sheets, story
from askgraph.evaluation.runs import Run, read_run


class By(StrEnum):
    """What the figures can be taken apart by."""

    METRIC = "metric"
    TAG = "tag"
    PATTERNS = "patterns"
    FORM = "form"
    GRAPH = "graph"
    FAILURE = "failure"
    CONFIDENCE = "confidence"
    COVERAGE = "coverage"
    REJECTION = "rejection"


def report(
    runs: list[Path],
    form: Form,
    metric: str = "best_column",
    by: By | None = None,
    html: Path | None = None,
    no_times: bool = False,
    stories: bool = False,
    out: Path | None = None,
    debug: DebugOption = False,
) -> None:
    """Report the figures of one or several runs, a row for each benchmark and method.

    Means are over the answerable questions, failures included as 0, with 95 % bootstrap intervals.
    What is not finished is said.
    """
    if stories and not (form.is_plain and by is None and html is None):
        raise SetupError("--stories are text of their own; take them with --metric and --out only")
    read = _named_apart(runs, [read_run(folder) for folder in runs])
    for warning in incomplete(read):
        typer.echo(warning, err=True)
    if stories:
        texts = (f"{text}\n\n" for text in _stories(read, metric))
        if out is None:
            typer.echo("".join(texts), nl=False)
        else:
            write_whole(out, "".join(texts))
        return
    if by is not None:
        sheet = by_sheet(read, by, metric=metric)
        form.give(lambda: [sheet], sheet.json, out=out)
    else:
        form.give(
            lambda: report_sheets(read, metric=metric, times=not no_times),
            lambda: report_json(read, metric=metric, times=not no_times),
            out=out,
        )
    if html is not None:
        write_whole(html, html_page(read, metric=metric, times=not no_times))
        typer.echo(f"the page is {html}", err=True)


def _stories(runs: Sequence[Run], metric: str) -> Iterator[str]:
    """How each question went whose answer is not wholly right."""
    for run in runs:
        wrong = {record.key: record for record in run.records if record.score(metric).f1 < 1}
        for detail in run.details():
            if record := wrong.pop(detail.key, None):
                yield story(record, detail)
        for record in wrong.values():
            yield story(record, None)


def _named_apart(folders: Sequence[Path], runs: Sequence[Run]) -> list[Run]:
    """The runs, by their whole paths if two folders have the same name."""
    places = [folder.resolve() for folder in folders]
    for at, folder in enumerate(folders):
        if places[at] in places[:at]:
            raise SetupError(f"the run {folder} is named twice")
    names = {run.name for run in runs}
    if len(names) == len(runs):
        return list(runs)
    return [replace(run, name=str(folder)) for folder, run in zip(folders, runs, strict=True)]
