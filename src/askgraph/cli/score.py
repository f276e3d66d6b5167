"""`askgraph score`: how good the answers of another system are, by the same measures."""

from collections.abc import Sequence
from pathlib import Path

from askgraph.cli.figures import Form, Reading, closing, judge_of
from askgraph.cli.options import Common
from askgraph.cli.output import progress_bar
from askgraph.evaluation.gold.frozen import read_frozen
from askgraph.evaluation.questions import of_graph
from askgraph.evaluation.reports.report import report_json
from askgraph.evaluation.reports.report_sheets import report_sheets
from askgraph.evaluation.runs import Options
from askgraph.evaluation.runs.predictions import Prediction, read_predictions
from askgraph.workspace import Workspace
from askgraph.workspace.models import Models
from askgraph.workspace.plans import Asked
from askgraph.workspace.predictions import needs_graph, score_predictions
from askgraph.workspace.run_sync import result_of
from askgraph.workspace.selection import benchmark_name, graph_of


def score(
    common: Common,
    form: Form,
    reading: Reading,
    predictions: Path,
    benchmark: Path,
    graph: str | None = None,
    metric: str = "best_column",
    judge: str | None = None,
    base_url: str | None = None,
    gold: Path | None = None,
    abstain: bool = False,
    timeout: float = 60.0,
    concurrency: int = 1,
    out: Path | None = None,
) -> None:
    """Score predictions of any system against a benchmark.

    A question without a prediction scores 0. Predicted queries and gold queries run on the graph;
    if answers are given and gold is stored or frozen, no graph is needed. What --out keeps is a
    run: 'askgraph report' and 'askgraph compare' read it.
    """
    place = common.workspace
    models = Models(place.folder)
    judging = judge_of(models, judge, base_url)
    said = read_predictions(predictions)
    asked = _asked(place, benchmark, reading, graph, said, gold)
    stored = gold is not None or not asked.graphs
    with progress_bar() as tell:
        work = score_predictions(
            place, asked, said, source=predictions, metric=metric, folder=out,
            options=Options(gold_timeout=timeout, abstain=abstain, stored_gold=stored),
            concurrency=concurrency,
            progress=lambda record, done, total: tell("scoring", done, total), judge=judging,
        )  # fmt: skip
        run = result_of(closing(models, work))
    form.give(
        lambda: report_sheets([run], metric=metric), lambda: report_json([run], metric=metric)
    )


def _asked(
    place: Workspace,
    path: Path,
    reading: Reading,
    graph: str | None,
    said: Sequence[Prediction],
    gold: Path | None,
) -> Asked:
    """The questions, each with its graph; with none if everything is stored."""
    name, contents = reading.contents(path)
    questions = contents.questions if graph is None else of_graph(contents.questions, graph)
    if gold is not None:
        frozen = read_frozen(gold)
        questions = tuple(frozen.with_gold(question) for question in questions)
    asked = Asked(benchmark_name(path), path, name, contents, questions, ())
    if graph is None and not needs_graph(asked, said, stored_gold=gold is not None):
        return asked
    graphs = tuple(graph_of(place, question, path, graph) for question in questions)
    return Asked(asked.name, path, name, contents, questions, graphs)
