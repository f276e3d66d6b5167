"""`askgraph benchmark stages`: what each stage of the multi-stage method finds, and loses."""

from pathlib import Path
from typing import Annotated

import typer

from askgraph.cli.options import Common, JsonOption, MetricOption
from askgraph.cli.progress import progress_bar
from askgraph.cli.runs import OutRunOption, Selected, Workers
from askgraph.cli.sheets import LatexOption, MarkdownOption, form_of, give
from askgraph.evaluation.studies.stage_sheets import recall_sheet, stage_sheets
from askgraph.operations.selection import selected
from askgraph.operations.stages import staged
from askgraph.workspace.settings import named_setting
from askgraph.workspace.synchronous import result_of


def stages(
    common: Common,
    select: Selected,
    workers: Workers,
    benchmarks: Annotated[
        list[str],
        typer.Argument(
            metavar="BENCHMARK...",
            help="Files of questions with gold; FILE@GRAPH says which graph one is asked of.",
        ),
    ],
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the method."),
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option(
            "--weights",
            metavar="DIR",
            help="Trained writers, one for each graph that was held out: DIR/GRAPH.npz.",
        ),
    ] = None,
    metric: MetricOption = "best_column",
    out: OutRunOption = None,
    markdown: MarkdownOption = False,
    latex: LatexOption = False,
    json: JsonOption = False,
) -> None:
    """Measure the stages of the method multi-stage, together and alone.

    Told are what an index finds with the whole question, how well entities are linked and
    predicates matched, what goes on to the writer with and without the restriction, and how good
    the answers are, also if gold is given to later stages. A last table says what policies of
    rejection catch of the wrong answers, and lose of the right ones.
    """
    place, form = common.workspace, form_of(markdown=markdown, csv=False, latex=latex, json=json)
    selection = select.selection()
    settings = dict(map(named_setting, setting or []))
    if weights is not None:
        settings["writer"] = str(weights.absolute() / "{graph}.npz")
    asked = selected(place, benchmarks, selection)
    with progress_bar() as tell:
        work = staged(
            place, asked, selection, settings=settings, metric=metric,
            crew=workers.crew, folder=out,
            progress=lambda record, done, planned: tell(record.method, done, planned),
            preparing=tell,
        )  # fmt: skip
        found = result_of(work)
    sheets = [recall_sheet(found.recalls), *stage_sheets(found.cases, metric)]
    give(sheets, [sheet.json() for sheet in sheets], form, out=None)
