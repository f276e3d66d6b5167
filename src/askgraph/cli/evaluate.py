"""`askgraph evaluate`, `score`, `report`, `compare`, `metrics`, `batch`: answers by the file."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from enum import StrEnum
from pathlib import Path

import typer

from askgraph import plugins
from askgraph.cli import DebugOption
from askgraph.cli.figures import Form, Reading, Selected, Workers, closing, judge_of, write_whole
from askgraph.cli.options import Asking, Common
from askgraph.cli.output import print_json, progress_bar, room, show
from askgraph.errors import ServiceError, SetupError
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.evaluation.gold.frozen import read_frozen_gold
from askgraph.evaluation.questions import filter_by_graph
from askgraph.evaluation.reports.compare import (
    ComparisonSide,
    build_comparison_sheets,
    select_side,
    to_comparison_object,
)
from askgraph.evaluation.reports.compare import compare_sides as compared
from askgraph.evaluation.reports.disagreement import score_examples
from askgraph.evaluation.reports.page import build_html_page
from askgraph.evaluation.reports.report import describe_incomplete, to_report_object
from askgraph.evaluation.reports.report_sheets import (
    build_report_sheets,
    build_slice_sheet,
    format_question_report,
)
from askgraph.evaluation.reports.sheet import Sheet, SheetColumn, build_columns, to_tables
from askgraph.evaluation.runs import EvaluationOptions, EvaluationRun, Record, read_run
from askgraph.evaluation.runs.one_question import answer_all, build_answerer
from askgraph.evaluation.runs.predictions import Prediction, read_predictions
from askgraph.evaluation.runs.run import BudgetTracker, RunBudget
from askgraph.methods import closed
from askgraph.workspace import DEFAULT_METHOD, Progress, Workspace
from askgraph.workspace.evaluation import evaluated, needs_graph, score_predictions
from askgraph.workspace.graphs import ready_graphs
from askgraph.workspace.models import Models
from askgraph.workspace.plans import Asked, Wishes, method_choices
from askgraph.workspace.run_sync import result_of
from askgraph.workspace.selection import benchmark_name, graph_of, selected


def evaluate(
    common: Common,
    select: Selected,
    workers: Workers,
    form: Form,
    benchmarks: list[str],
    method: list[str] | None = None,
    setting: list[str] | None = None,
    metric: str = "best_column",
    judge: str | None = None,
    base_url: str | None = None,
    abstain: bool = False,
    sample: int | None = None,
    seed: int = 0,
    repeat: int = 1,
    folds: int | None = None,
    leave_out: str | None = None,
    gold: Path | None = None,
    with_rows: bool = False,
    drafts: int = 0,
    sent: Path | None = None,
    timeout: float | None = None,
    retries: int = 0,
    budget: list[str] | None = None,
    out: Path | None = None,
) -> None:
    """Score the answers to questions whose right answers are known.

    A failure scores 0 and stays in the mean. Of an answer that is not sure enough to be given, the
    best attempt counts, unless --abstain. A run that is kept with --out can be killed at any
    moment: the same call goes on. 'askgraph report' and 'askgraph compare' read such runs.
    """
    place = common.workspace
    models = Models(place.folder)
    judging = judge_of(models, judge, base_url)
    logged = [f"sent={sent.absolute()}"] if sent else []
    selection = select.selection(
        sample=sample, seed=seed, folds=folds, leave_out=leave_out, gold=gold, with_rows=with_rows
    )
    wishes = Wishes(
        methods=method_choices(method or [DEFAULT_METHOD], [*(setting or []), *logged]),
        repeat=repeat,
        options=EvaluationOptions(
            timeout=timeout, retries=retries, abstain=abstain, drafts=drafts,
            stored_gold=gold is not None, language=select.lang,
        ),
        metric=metric,
        chosen=selection.json(),
    )  # fmt: skip
    limits = RunBudget.from_texts(budget or [])
    asked = selected(place, benchmarks, selection)
    for one in asked:
        unreadable, there = one.contents.unreadable, len(one.contents.questions)
        if len(one.questions) < there:
            asks = f"{len(one.questions)} of the {there} questions are asked"
            typer.echo(f"{one.name}: {asks}", err=True)
        if unreadable:
            first = unreadable[0]
            typer.echo(
                f"{one.name}: items that cannot be scored: {len(unreadable)}, the first: "
                f"{first.location}: {first.reason} (askgraph benchmark check lists all)",
                err=True,
            )
    with progress_bar() as tell:
        work = evaluated(
            place, asked, wishes, selection, workers.crew, budget=limits, folder=out,
            progress=_running_score(metric, tell), preparing=tell, judge=judging,
        )  # fmt: skip
        try:
            run = result_of(closing(models, work))
        except ServiceError:
            if out is not None:
                typer.echo(f"what is done is kept in {out}; the same call goes on", err=True)
            raise
    if not run.is_complete and (reason := BudgetTracker(limits, run.records).exhausted_limit):
        typer.echo(f"{reason}; with a larger one the same call goes on", err=True)
    for warning in describe_incomplete([run]):
        typer.echo(warning, err=True)
    form.give(
        lambda: build_report_sheets([run], metric=metric),
        lambda: to_report_object([run], metric=metric),
    )


def _running_score(metric: str, tell: Progress) -> Callable[[Record, int, int], None]:
    """Tell the mean score and what the run has cost so far, after each question."""
    total, count, money = 0.0, 0, 0.0

    def told(record: Record, done: int, planned: int) -> None:
        nonlocal total, count, money
        if not record.unanswerable:
            total, count = total + record.get_score(metric).f1, count + 1
        money += record.usage.money
        cost = f", cost {money:.2f}" if money else ""
        tell(f"{metric} {100 * total / max(1, count):.1f}{cost}", done, planned)

    return told


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
            options=EvaluationOptions(gold_timeout=timeout, abstain=abstain, stored_gold=stored),
            concurrency=concurrency,
            progress=lambda record, done, total: tell("scoring", done, total), judge=judging,
        )  # fmt: skip
        run = result_of(closing(models, work))
    form.give(
        lambda: build_report_sheets([run], metric=metric),
        lambda: to_report_object([run], metric=metric),
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
    questions = contents.questions if graph is None else filter_by_graph(contents.questions, graph)
    if gold is not None:
        frozen = read_frozen_gold(gold)
        questions = tuple(frozen.set_stored_answer(question) for question in questions)
    asked = Asked(benchmark_name(path), path, name, contents, questions, ())
    if graph is None and not needs_graph(asked, said, stored_gold=gold is not None):
        return asked
    graphs = tuple(graph_of(place, question, path, graph) for question in questions)
    return Asked(asked.name, path, name, contents, questions, graphs)


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
    for warning in describe_incomplete(read):
        typer.echo(warning, err=True)
    if stories:
        texts = (f"{text}\n\n" for text in _stories(read, metric))
        if out is None:
            typer.echo("".join(texts), nl=False)
        else:
            write_whole(out, "".join(texts))
        return
    if by is not None:
        sheet = build_slice_sheet(read, by, metric=metric)
        form.give(lambda: [sheet], sheet.to_json, out=out)
    else:
        form.give(
            lambda: build_report_sheets(read, metric=metric, with_times=not no_times),
            lambda: to_report_object(read, metric=metric, with_times=not no_times),
            out=out,
        )
    if html is not None:
        write_whole(html, build_html_page(read, metric=metric, with_times=not no_times))
        typer.echo(f"the page is {html}", err=True)


def _stories(runs: Sequence[EvaluationRun], metric: str) -> Iterator[str]:
    """How each question went whose answer is not wholly right."""
    for run in runs:
        wrong = {record.key: record for record in run.records if record.get_score(metric).f1 < 1}
        for detail in run.iterate_details():
            if record := wrong.pop(detail.key, None):
                yield format_question_report(record, detail)
        for record in wrong.values():
            yield format_question_report(record, None)


def _named_apart(folders: Sequence[Path], runs: Sequence[EvaluationRun]) -> list[EvaluationRun]:
    """The runs, by their whole paths if two folders have the same name."""
    places = [folder.resolve() for folder in folders]
    for at, folder in enumerate(folders):
        if places[at] in places[:at]:
            raise SetupError(f"the run {folder} is named twice")
    names = {run.name for run in runs}
    if len(names) == len(runs):
        return list(runs)
    return [replace(run, name=str(folder)) for folder, run in zip(folders, runs, strict=True)]


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
    form.give(
        lambda: build_comparison_sheets(found, max_questions=limit),
        lambda: to_comparison_object(found),
        out=out,
    )


def _side(name: str) -> ComparisonSide:
    """The folder and, behind a colon, the method, whose name may have colons too."""
    parts = name.split(":")
    for at in range(1, len(parts)):
        folder = ":".join(parts[:at])
        if not Path(name).is_dir() and Path(folder).is_dir():
            method = ":".join(parts[at:])
            return select_side(replace(read_run(Path(folder)), name=folder), method=method)
    return select_side(replace(read_run(Path(name)), name=name))


def metrics(
    common: Common, examples: bool = False, json: bool = False, markdown: bool = False
) -> None:
    """List the metrics that compare an answer with gold; with --examples, how they disagree."""
    if markdown and json:
        raise SetupError("one form at a time: --markdown and --json were asked for at once")
    if examples:
        found = score_examples()
        content: list[dict[str, object]] = [
            {
                "example": one.example.name,
                "scores": {name: asdict(score) for name, score in one.scores.items()},
            }
            for one in found
        ]
        heads = (SheetColumn("F1"), *build_columns("number", *found[0].scores))
        rows = [(one.example.name, *(f"{s.f1:.2f}" for s in one.scores.values())) for one in found]
    else:
        rows = list(_listed())
        content = [{"name": name, "about": about} for name, about in rows]
        heads = build_columns("text", "metric", "what it says")
    if json:
        print_json(content)
    elif markdown:
        typer.echo("\n".join(_markdown([column.head for column in heads], rows)))
    else:
        show(to_tables(Sheet("", heads, tuple(rows)), width=room()))


def _listed() -> Iterator[tuple[str, str]]:
    """Each metric and the first sentence on it, or why it cannot be used."""
    for name in plugins.list_names("metric"):
        try:
            plugin = plugins.load("metric", name)
        except SetupError as error:
            yield name, str(error)
            continue
        text = inspect.getdoc(plugin) or inspect.getdoc(inspect.getmodule(plugin)) or ""
        yield name, " ".join(text.split("\n\n", 1)[0].split())


def _markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "|---" * len(heads) + "|"
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


FAILED = 4


def batch(common: Common, asking: Asking, questions: Path, out: Path, concurrency: int = 4) -> None:
    """Answer a file of questions.

    Each line of the output is {"id": …} together with what `ask --json` prints.
    Stopped at any moment and started again, it goes on where it was; the answers stand in the order
    of the questions. A question that fails becomes a refusal with an "error" (exit code 4), and is
    tried again by the next call.
    """
    asked = read_questions(questions)
    place = common.workspace
    name, chosen = asking.chosen(place)

    with progress_bar() as tell:
        ready = ready_graphs(
            asking.graph or [None],
            lambda one: place.graph(one, progress=tell),
            chosen,
            progress=tell,
        )

        async def run() -> int:
            try:
                return await answer_all(
                    asked,
                    build_answerer(chosen, name, ready.graphs, language=asking.lang),
                    out,
                    concurrency=concurrency,
                    timeout=asking.timeout,
                    max_rows=asking.limit,
                    progress=lambda done, total: tell("answering", done, total),
                )
            finally:
                await closed(chosen)
                await ready.close()

        failed = result_of(run())
    typer.echo(f"{len(asked)} answers in {out}, {failed} failed", err=True)
    if failed:
        raise typer.Exit(FAILED)
