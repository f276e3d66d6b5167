"""`askgraph benchmark stages`: what each stage of the multi-stage method finds, and loses."""

from pathlib import Path
from typing import Annotated

import typer

from askgraph.cli.options import (
    Common,
    FormatOption,
    GraphOption,
    JsonOption,
    LangOption,
    MetricOption,
)
from askgraph.cli.progress import progress_bar
from askgraph.cli.sheets import LatexOption, MarkdownOption, form_of, give
from askgraph.evaluation.studies.stage_sheets import recall_sheet, stage_sheets
from askgraph.workspace.evaluating import Crew
from askgraph.workspace.method_specs import named_setting
from askgraph.workspace.running import result_of
from askgraph.workspace.selection import Selection, selected
from askgraph.workspace.staging import staged

__all__ = ["stages"]


def stages(
    common: Common,
    benchmarks: Annotated[
        list[str],
        typer.Argument(
            metavar="BENCHMARK...",
            help="Files of questions with gold; FILE@GRAPH says which graph one is asked of.",
        ),
    ],
    graph: GraphOption = None,
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
    format: FormatOption = None,
    lang: LangOption = None,
    kg: Annotated[
        str | None, typer.Option("--kg", metavar="KG", help="Only questions with this 'kg'.")
    ] = None,
    split: Annotated[
        str | None, typer.Option("--split", metavar="SPLIT", help="Only questions of this split.")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, metavar="N", help="Only the first N of each benchmark."),
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", min=1, metavar="N", help="Questions at once.")
    ] = None,
    on: Annotated[
        str,
        typer.Option("--on", metavar="WHERE", help="'local', 'processes', 'dask' or 'ray'."),
    ] = "local",
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, metavar="N", help="Processes, if not local.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="RUN", help="Folder to keep the run in; it goes on where it stopped."
        ),
    ] = None,
    markdown: MarkdownOption = False,
    latex: LatexOption = False,
    json: JsonOption = False,
) -> None:
    """Measure the stages of the method multi-stage, together and alone.

    Told are what an index finds with the whole question, how well entities are linked and
    predicates matched, what goes on to the writer with and without the restriction, and how good
    the answers are, also where gold is given to later stages. A last table says what policies of
    rejection catch of the wrong answers, and lose of the right ones.
    """

    place, form = common.workspace, form_of(markdown=markdown, csv=False, latex=latex, json=json)
    selection = Selection(
        graph=graph, format=format, language=lang, kg=kg, split=split, limit=limit
    )
    settings = dict(map(named_setting, setting or []))
    if weights is not None:
        settings["writer"] = str(weights.absolute() / "{graph}.npz")
    asked = selected(place, benchmarks, selection)
    with progress_bar() as tell:
        work = staged(
            place, asked, selection, settings=settings, metric=metric,
            crew=Crew(on, workers, None, concurrency), folder=out,
            progress=lambda record, done, planned: tell(record.method, done, planned),
            preparing=tell,
        )  # fmt: skip
        found = result_of(work)
    sheets = [recall_sheet(found.recalls), *stage_sheets(found.cases, metric)]
    give(sheets, [sheet.json() for sheet in sheets], form, out=None)
