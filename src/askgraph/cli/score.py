"""`askgraph score`: how good the answers of another system are, by the same measures."""

from collections.abc import Sequence
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
from askgraph.cli.runs import OutRunOption
from askgraph.cli.sheets import form_of, give
from askgraph.evaluation.benchmarks.formats import read_benchmark
from askgraph.evaluation.gold.frozen import read_frozen
from askgraph.evaluation.questions import of_graph
from askgraph.evaluation.reports.groups import report_json
from askgraph.evaluation.reports.report_sheets import report_sheets
from askgraph.evaluation.runs.predictions import Prediction, read_predictions
from askgraph.evaluation.runs.record import Options
from askgraph.operations.plans import Asked
from askgraph.operations.predictions import needs_graph, score_predictions
from askgraph.operations.selection import benchmark_name, graph_of
from askgraph.workspace import Workspace
from askgraph.workspace.synchronous import result_of


def score(
    common: Common,
    predictions: Annotated[
        Path,
        typer.Argument(
            metavar="PREDICTIONS",
            help='Lines {"id": …, "sparql": …} or {"id": …, "answers": …}, the output of '
            "'askgraph batch', a QALD file, or a TEXT2SPARQL result set.",
        ),
    ],
    benchmark: Annotated[
        Path, typer.Argument(metavar="BENCHMARK", help="The questions with gold.")
    ],
    graph: GraphOption = None,
    json: JsonOption = False,
    metric: MetricOption = "best_column",
    gold: Annotated[
        Path | None,
        typer.Option(
            "--gold", metavar="GOLD.jsonl", help="Gold results from 'askgraph benchmark freeze'."
        ),
    ] = None,
    abstain: Annotated[
        bool,
        typer.Option("--abstain", help="A question back or a refusal scores 0, whatever it holds."),
    ] = False,
    format: FormatOption = None,
    lang: LangOption = None,
    gold_timeout: Annotated[
        float,
        typer.Option("--timeout", min=0.001, metavar="SECONDS", help="For each query."),
    ] = 60.0,
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, metavar="N", help="Queries under way at once.")
    ] = 1,
    out: OutRunOption = None,
) -> None:
    """Score predictions of any system against a benchmark.

    A question without a prediction scores 0. Predicted queries and gold queries run on the graph;
    if answers are given and gold is stored or frozen, no graph is needed. What --out keeps is a
    run: 'askgraph report' and 'askgraph compare' read it.
    """
    place = common.workspace
    said = read_predictions(predictions)
    asked = _asked(place, benchmark, graph, said, format=format, lang=lang, gold=gold)
    stored = gold is not None or not asked.graphs
    with progress_bar() as tell:
        run = result_of(
            score_predictions(
                place,
                asked,
                said,
                source=predictions,
                options=Options(gold_timeout=gold_timeout, abstain=abstain, stored_gold=stored),
                metric=metric,
                folder=out,
                concurrency=concurrency,
                progress=lambda record, done, total: tell("scoring", done, total),
            )
        )
    form = form_of(markdown=False, csv=False, latex=False, json=json)
    sheets = [] if json else report_sheets([run], metric=metric)
    give(sheets, report_json([run], metric=metric) if json else None, form, out=None)


def _asked(
    place: Workspace,
    path: Path,
    graph: str | None,
    said: Sequence[Prediction],
    *,
    format: str | None,
    lang: str | None,
    gold: Path | None,
) -> Asked:
    """The questions, each with its graph; with none if everything is stored."""
    name, contents = read_benchmark(path, format=format, language=lang)
    questions = contents.questions if graph is None else of_graph(contents.questions, graph)
    if gold is not None:
        frozen = read_frozen(gold)
        questions = tuple(frozen.with_gold(question) for question in questions)
    asked = Asked(benchmark_name(path), path, name, contents, questions, ())
    if graph is None and not needs_graph(asked, said, stored_gold=gold is not None):
        return asked
    graphs = tuple(graph_of(place, question, path, graph) for question in questions)
    return Asked(asked.name, path, name, contents, questions, graphs)
