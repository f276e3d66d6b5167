"""`askgraph evaluate`, `score`, `report`, `compare`, `metrics`, `batch`: many questions."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from enum import StrEnum
from pathlib import Path

import typer

from askgraph import plugins
from askgraph.cli import DebugOption, figures
from askgraph.cli.output import (
    AskOptions,
    CommonOptions,
    get_line_width,
    print_blocks,
    print_json,
    show_progress,
)
from askgraph.errors import ServiceError, SetupError
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.evaluation.questions import filter_by_graph
from askgraph.evaluation.reports.compare import (
    ComparisonSide,
    build_comparison_sheets,
    score_examples,
    select_side,
    to_comparison_object,
)
from askgraph.evaluation.reports.compare import compare_sides as compared
from askgraph.evaluation.reports.page import build_html_page
from askgraph.evaluation.reports.report import describe_incomplete, to_report_object
from askgraph.evaluation.reports.report_sheets import (
    build_published_sheet,
    build_report_sheets,
    build_slice_sheet,
    format_question_report,
)
from askgraph.evaluation.reports.sheet import Sheet, SheetColumn, build_columns, to_tables
from askgraph.evaluation.runs import EvaluationOptions, EvaluationRun, Record, read_run
from askgraph.evaluation.runs.one_question import answer_all, build_answerer
from askgraph.evaluation.runs.predictions import read_predictions
from askgraph.evaluation.runs.run import BudgetTracker, RunBudget
from askgraph.methods import closed
from askgraph.workspace import SEARCH_METHOD, Progress
from askgraph.workspace.evaluation import evaluate_benchmarks, is_graph_required, score_predictions
from askgraph.workspace.graphs import prepare_graphs, run_and_close
from askgraph.workspace.models import Models
from askgraph.workspace.plans import BenchmarkQuestions, RunOptions, parse_method_choices
from askgraph.workspace.run_sync import run_coroutine
from askgraph.workspace.selection import (
    attach_gold,
    get_benchmark_name,
    resolve_graph,
    select_benchmarks,
)


def evaluate(
    common: CommonOptions,
    select: figures.SelectOptions,
    workers: figures.WorkerOptions,
    form: figures.OutputFormat,
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
    """Score the answers to benchmark questions with gold answers."""
    workspace = common.workspace
    models = Models(workspace.folder)
    judge_model = figures.create_judge(models, judge, base_url)
    log_settings = [f"sent={sent.absolute()}"] if sent else []
    selection = select.to_selection(
        sample=sample, seed=seed, folds=folds, leave_out=leave_out, gold=gold, with_rows=with_rows
    )
    run_options = RunOptions(
        methods=parse_method_choices(method or [SEARCH_METHOD], [*(setting or []), *log_settings]),
        repeat=repeat,
        options=EvaluationOptions(
            timeout=timeout, retries=retries, abstain=abstain, drafts=drafts,
            stored_gold=gold is not None, language=select.lang,
        ),
        metric=metric,
        chosen=selection.to_json(),
    )  # fmt: skip
    limits = RunBudget.from_texts(budget or [])
    benchmark_selections = select_benchmarks(workspace, benchmarks, selection)
    for selected_benchmark in benchmark_selections:
        unreadable = selected_benchmark.contents.unreadable
        question_count = len(selected_benchmark.contents.questions)
        if len(selected_benchmark.questions) < question_count:
            note = f"asking {len(selected_benchmark.questions)} of {question_count} questions"
            typer.echo(f"{selected_benchmark.name}: {note}", err=True)
        if unreadable:
            first_item = unreadable[0]
            typer.echo(
                f"{selected_benchmark.name}: items that cannot be scored: {len(unreadable)}, "
                "the first: "
                f"{first_item.location}: {first_item.reason} (askgraph benchmark check lists all)",
                err=True,
            )
    with show_progress() as report:
        evaluation = evaluate_benchmarks(
            workspace, benchmark_selections, run_options, selection, workers.executor_options,
            budget=limits,
            folder=out,
            progress=_create_score_reporter(metric, report), index_progress=report,
            judge=judge_model,
        )  # fmt: skip
        try:
            run = run_and_close(models, evaluation)
        except ServiceError:
            if out is not None:
                typer.echo(
                    f"the results so far are in {out}; run the same command to continue", err=True
                )
            raise
    if not run.is_complete and (reason := BudgetTracker(limits, run.records).exhausted_limit):
        typer.echo(f"{reason}; run the same command with a larger budget to continue", err=True)
    for warning in describe_incomplete([run]):
        typer.echo(warning, err=True)
    form.write(
        lambda: build_report_sheets([run], metric=metric),
        lambda: to_report_object([run], metric=metric),
    )


def _create_score_reporter(metric: str, report: Progress) -> Callable[[Record, int, int], None]:
    total, count, money = 0.0, 0, 0.0

    def report_record(record: Record, done: int, planned: int) -> None:
        nonlocal total, count, money
        if not record.unanswerable:
            total, count = total + record.get_score(metric).f1, count + 1
        money += record.usage.money
        cost = f", cost {money:.2f}" if money else ""
        report(f"{metric} {100 * total / max(1, count):.1f}{cost}", done, planned)

    return report_record


def score(
    common: CommonOptions,
    form: figures.OutputFormat,
    reading: figures.ReadOptions,
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
    """Score predictions of any system against a benchmark."""
    workspace = common.workspace
    models = Models(workspace.folder)
    judge_model = figures.create_judge(models, judge, base_url)
    prediction_list = read_predictions(predictions)
    name, contents = reading.read_contents(benchmark)
    questions = contents.questions if graph is None else filter_by_graph(contents.questions, graph)
    questions = attach_gold(questions, gold)
    selected_questions = BenchmarkQuestions(
        get_benchmark_name(benchmark), benchmark, name, contents, questions, ()
    )
    if graph is not None or is_graph_required(
        selected_questions, prediction_list, stored_gold=gold is not None
    ):
        graphs = tuple(
            resolve_graph(workspace, question, benchmark, graph) for question in questions
        )
        selected_questions = replace(selected_questions, graphs=graphs)
    uses_stored_gold = gold is not None or not selected_questions.graphs
    with show_progress() as report:
        scoring = score_predictions(
            workspace, selected_questions, prediction_list, source=predictions, metric=metric,
            folder=out,
            options=EvaluationOptions(
                gold_timeout=timeout, abstain=abstain, stored_gold=uses_stored_gold
            ),
            concurrency=concurrency,
            progress=lambda record, done, total: report("scoring", done, total), judge=judge_model,
        )  # fmt: skip
        run = run_and_close(models, scoring)
    published = {
        (item.method or predictions.name.split(".")[0], item.repeat, item.id): item.published
        for item in prediction_list
        if item.published is not None
    }
    form.write(
        lambda: [
            *build_report_sheets([run], metric=metric),
            *([build_published_sheet(run, published, metric=metric)] if published else []),
        ],
        lambda: {
            **to_report_object([run], metric=metric),
            "published": build_published_sheet(run, published, metric=metric).to_json()["rows"],
        },
    )


class ReportGrouping(StrEnum):
    """How a report groups its figures."""

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
    form: figures.OutputFormat,
    metric: str = "best_column",
    by: ReportGrouping | None = None,
    html: Path | None = None,
    no_times: bool = False,
    stories: bool = False,
    out: Path | None = None,
    debug: DebugOption = False,
) -> None:
    """Report the scores of one or more runs, one row per benchmark and method."""
    if stories and not (form.is_plain and by is None and html is None):
        raise SetupError("--stories can only be combined with --metric and --out")
    run_list = _name_runs(runs, [read_run(folder) for folder in runs])
    for warning in describe_incomplete(run_list):
        typer.echo(warning, err=True)
    if stories:
        texts = (f"{text}\n\n" for text in _format_stories(run_list, metric))
        if out is None:
            typer.echo("".join(texts), nl=False)
        else:
            figures.write_atomically(out, "".join(texts))
        return
    if by is not None:
        sheet = build_slice_sheet(run_list, by, metric=metric)
        form.write(lambda: [sheet], sheet.to_json, out=out)
    else:
        form.write(
            lambda: build_report_sheets(run_list, metric=metric, with_times=not no_times),
            lambda: to_report_object(run_list, metric=metric, with_times=not no_times),
            out=out,
        )
    if html is not None:
        figures.write_atomically(
            html, build_html_page(run_list, metric=metric, with_times=not no_times)
        )
        typer.echo(f"wrote {html}", err=True)


def _format_stories(runs: Sequence[EvaluationRun], metric: str) -> Iterator[str]:
    for run in runs:
        wrong = {record.key: record for record in run.records if record.get_score(metric).f1 < 1}
        for detail in run.iterate_details():
            if record := wrong.pop(detail.key, None):
                yield format_question_report(record, detail)
        for record in wrong.values():
            yield format_question_report(record, None)


def _name_runs(folders: Sequence[Path], runs: Sequence[EvaluationRun]) -> list[EvaluationRun]:
    """Return the runs, named by their full paths if two folders have the same name."""
    resolved_folders = [folder.resolve() for folder in folders]
    for position, folder in enumerate(folders):
        if resolved_folders[position] in resolved_folders[:position]:
            raise SetupError(f"the run {folder} is named twice: name each run once")
    if len({run.name for run in runs}) == len(runs):
        return list(runs)
    return [replace(run, name=str(folder)) for folder, run in zip(folders, runs, strict=True)]


def compare(
    a: str,
    b: str,
    form: figures.OutputFormat,
    metric: str = "best_column",
    limit: int = 10,
    out: Path | None = None,
    debug: DebugOption = False,
) -> None:
    """Compare two runs, or two methods of one run, on the questions they share."""
    comparison = compared(_read_side(a), _read_side(b), metric=metric)
    for warning in comparison.warnings:
        typer.echo(warning, err=True)
    form.write(
        lambda: build_comparison_sheets(comparison, max_questions=limit),
        lambda: to_comparison_object(comparison),
        out=out,
    )


def _read_side(name: str) -> ComparisonSide:
    """Read a run FOLDER, or FOLDER:METHOD; the name of the method may contain colons, too."""
    parts = name.split(":")
    for position in range(1, len(parts)):
        folder = ":".join(parts[:position])
        if not Path(name).is_dir() and Path(folder).is_dir():
            method = ":".join(parts[position:])
            return select_side(replace(read_run(Path(folder)), name=folder), method=method)
    return select_side(replace(read_run(Path(name)), name=name))


def metrics(
    common: CommonOptions, examples: bool = False, json: bool = False, markdown: bool = False
) -> None:
    """List the metrics that compare an answer with gold; --examples shows where they disagree."""
    if markdown and json:
        raise SetupError("--markdown and --json exclude each other: choose one")
    if examples:
        scored = score_examples()
        content: list[dict[str, object]] = [
            {
                "example": example.name,
                "scores": {name: asdict(score) for name, score in scores.items()},
            }
            for example, scores in scored
        ]
        columns = (SheetColumn("F1"), *build_columns("number", *scored[0][1]))
        rows = [
            (example.name, *(f"{score.f1:.2f}" for score in scores.values()))
            for example, scores in scored
        ]
    else:
        rows = list(_describe_metrics())
        content = [{"name": name, "about": description} for name, description in rows]
        columns = build_columns("text", "metric", "meaning")
    if json:
        print_json(content)
    elif markdown:
        typer.echo("\n".join(_format_markdown([column.head for column in columns], rows)))
    else:
        print_blocks(to_tables(Sheet("", columns, tuple(rows)), width=get_line_width()))


def _describe_metrics() -> Iterator[tuple[str, str]]:
    """Yield each metric with the first sentence of its documentation, or why it is unusable."""
    for name in plugins.list_names("metric"):
        try:
            plugin = plugins.load("metric", name)
        except SetupError as error:
            yield name, str(error)
            continue
        text = inspect.getdoc(plugin) or inspect.getdoc(inspect.getmodule(plugin)) or ""
        yield name, " ".join(text.split("\n\n", 1)[0].split())


def _format_markdown(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(headers) + " |"
    yield "|---" * len(headers) + "|"
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


FAILED_QUESTIONS_EXIT_CODE = 4


def batch(
    common: CommonOptions, asking: AskOptions, questions: Path, out: Path, concurrency: int = 4
) -> None:
    """Answer a file of questions."""
    question_list = read_questions(questions)
    workspace = common.workspace
    name, chosen_method = asking.create_method(workspace)

    with show_progress() as report:
        open_graphs = prepare_graphs(
            asking.graph or [None],
            lambda name_or_none: workspace.graph(name_or_none, progress=report),
            chosen_method,
            progress=report,
        )

        async def answer_questions() -> int:
            try:
                return await answer_all(
                    question_list,
                    build_answerer(chosen_method, name, open_graphs.graphs, language=asking.lang),
                    out,
                    concurrency=concurrency,
                    timeout=asking.timeout,
                    max_rows=asking.limit,
                    progress=lambda done, total: report("answering", done, total),
                )
            finally:
                await closed(chosen_method)
                await open_graphs.close()

        failed = run_coroutine(answer_questions())
    typer.echo(f"{len(question_list)} answers in {out}, {failed} failed", err=True)
    if failed:
        raise typer.Exit(FAILED_QUESTIONS_EXIT_CODE)
