"""Run an evaluation from plan to end, in this process or on workers."""

import asyncio
import contextlib
import hashlib
import os
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from askgraph import plugins
from askgraph.errors import SetupError
from askgraph.evaluation import runs
from askgraph.evaluation.executors import Executor, is_cancelling
from askgraph.evaluation.gold.near_duplicates import DataSplit, split_folds, split_leave_one_out
from askgraph.evaluation.questions import write_questions
from askgraph.evaluation.runs.predictions import Prediction, score_prediction
from askgraph.evaluation.runs.run import Progress as Told
from askgraph.evaluation.runs.run import RunBudget, evaluate
from askgraph.evaluation.runs.scores import add_judge, add_judge_fingerprint, check_metric
from askgraph.llm import LanguageModel
from askgraph.methods import Method, collect_methods
from askgraph.workspace import Progress, Workspace, ignore_progress, plans
from askgraph.workspace.run_sync import run_coroutine
from askgraph.workspace.selection import Selection

_MIN_PARALLEL_QUESTIONS = 200  # with fewer questions, starting processes costs more than it saves


@dataclass(frozen=True)
class ExecutorOptions:
    """Where questions are answered: in this process (`local`), or by `workers` of an executor.

    `auto` uses one process per core for many questions to methods without a model, else
    this process. `address` is that of a running cluster. `concurrency` is the number of
    concurrent questions in all; None means one locally, and two per worker elsewhere.
    """

    executor: str = "local"
    workers: int | None = None
    address: str | None = None
    concurrency: int | None = None

    def resolve(self, questions: int, methods: Iterable[Method]) -> "ExecutorOptions":
        """Return the options with `auto` resolved for these questions and methods."""
        if self.executor != "auto":
            return self
        consulted = [component for method in methods for component in collect_methods(method)]
        has_model = any(getattr(component, "model", None) is not None for component in consulted)
        has_few_questions = (
            questions < _MIN_PARALLEL_QUESTIONS or os.cpu_count() == 1 or self.concurrency
        )
        runs_locally = self.address or (not self.workers and (has_few_questions or has_model))
        return replace(self, executor="local" if runs_locally else "processes")

    @property
    def worker_count(self) -> int:
        """The number of processes that answer."""
        return 1 if self.executor == "local" else self.workers or os.cpu_count() or 1

    @property
    def max_concurrency(self) -> int:
        """The number of concurrent questions."""
        return self.concurrency or (1 if self.executor == "local" else 2 * self.worker_count)


async def evaluate_benchmarks(
    workspace: Workspace,
    benchmarks: Sequence[plans.BenchmarkQuestions],
    options: plans.RunOptions,
    selection: Selection,
    executor_options: ExecutorOptions,
    *,
    budget: RunBudget | None = None,
    folder: Path | None = None,
    progress: Told | None = None,
    index_progress: Progress = ignore_progress,
    judge: LanguageModel | None = None,
) -> runs.EvaluationRun:
    """Answer the benchmarks with the methods and score the answers; keep the run in `folder`.

    Args:
        judge: a model that also scores each record; a run has one judge.

    Raises:
        SetupError: the configuration cannot work; no question has been asked yet.
    """
    check_metric(options.metric, judge)
    with _open_examples_folder(folder) as examples_folder:
        prepared = assign_examples(benchmarks, selection, examples_folder)
        async with plans.TaskRunner.from_workspace(workspace, options.methods) as host:
            plan = await plans.plan_run(host, prepared, options, progress=index_progress)
            methods = [host.get_method(choice.label) for choice in options.methods]
            executor_options = executor_options.resolve(len(plan.tasks), methods)
            async with _start_worker(executor_options, host) as work:
                return await evaluate(
                    add_judge_fingerprint(judge, plan.tasks),
                    add_judge(work, judge) if judge else work,
                    folder=folder,
                    settings=plan.settings,
                    concurrency=executor_options.max_concurrency,
                    budget=budget,
                    progress=progress,
                )


def run_to_completion(
    workspace: Workspace,
    benchmarks: Sequence[plans.BenchmarkQuestions],
    options: plans.RunOptions,
    selection: Selection,
    folder: Path,
    *,
    progress: Told | None = None,
) -> runs.EvaluationRun:
    """Run an evaluation to its end in this process; `SetupError` if it stopped before."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    run = run_coroutine(
        evaluate_benchmarks(
            workspace,
            benchmarks,
            options,
            selection,
            ExecutorOptions(),
            folder=folder,
            progress=progress,
        )
    )
    if not run.is_complete:
        raise SetupError(f"the run in {folder} is not complete; resume it with the same call")
    return run


@contextlib.contextmanager
def _open_examples_folder(folder: Path | None) -> Iterator[Path]:
    if folder is not None:
        yield folder.absolute() / runs.EXAMPLES_FOLDER
        return
    with tempfile.TemporaryDirectory() as temporary:
        yield Path(temporary)


@contextlib.asynccontextmanager
async def _start_worker(
    options: ExecutorOptions, host: plans.TaskRunner
) -> AsyncIterator[runs.Worker]:
    if options.executor == "local":
        if options.address or options.workers:
            raise SetupError("--workers and --address require --on processes or --on dask")
        yield host.run_task
        return
    plugin = plugins.load("executor", options.executor)
    executor: Executor = await asyncio.to_thread(plugin, options.worker_count, options.address)

    async def run_task(task: runs.Task) -> runs.Done:
        future = executor.submit(plans.run_in_process, host.context, task)
        try:
            done: runs.Done = await asyncio.wrap_future(future)
        except executor.worker_death_errors as error:
            raise SetupError(
                f"a worker died while it answered {task.question.id!r}, most likely out of "
                "memory: try fewer --workers or a smaller --concurrency; the same call "
                "resumes the run"
            ) from error
        except asyncio.CancelledError as error:
            if is_cancelling():
                raise
            raise SetupError(
                "the cluster is not reachable; when it is back, resume the run with the same call"
            ) from error
        return done

    try:
        yield run_task
    finally:
        await asyncio.to_thread(executor.close)


def assign_examples(
    benchmarks: Sequence[plans.BenchmarkQuestions], selection: Selection, folder: Path
) -> tuple[plans.BenchmarkQuestions, ...]:
    """Assign to each question a file of the examples that its method may learn from.

    With `selection.folds` these are the other folds of its benchmark; with `leave_out`, the
    questions about all other graphs or of all other benchmarks. Questions outside of a
    sample count as examples too. The files go into `folder`.
    """
    if selection.folds is None and selection.leave_out is None:
        return tuple(benchmarks)
    if selection.folds is not None and selection.leave_out is not None:
        raise SetupError("--folds and --leave-out exclude each other; choose one")
    if selection.leave_out not in (None, "graph", "dataset"):
        raise SetupError(f"--leave-out must be 'graph' or 'dataset', not {selection.leave_out!r}")
    questions = [
        (benchmark, question)
        for benchmark in benchmarks
        for question in benchmark.contents.questions
    ]
    files: dict[tuple[str, str], Path] = {}
    folder.mkdir(parents=True, exist_ok=True)
    for number, split in enumerate(_iterate_splits(benchmarks, selection), start=1):
        path = folder / f"{number:03}.jsonl"
        write_questions(path, [questions[position][1] for position in split.train])
        for benchmark, question in (questions[position] for position in split.test):
            files[benchmark.name, question.id] = path
    return tuple(
        replace(
            benchmark,
            examples=tuple(files[benchmark.name, item.id] for item in benchmark.questions),
        )
        for benchmark in benchmarks
    )


def _iterate_splits(
    benchmarks: Sequence[plans.BenchmarkQuestions], selection: Selection
) -> Iterator[DataSplit]:
    """Yield splits whose positions count through all questions of all benchmarks."""
    if selection.leave_out == "dataset":
        yield from split_leave_one_out(
            [benchmark.name for benchmark in benchmarks for _ in benchmark.contents.questions]
        )
    elif selection.leave_out == "graph":
        yield from split_leave_one_out(
            [
                Path(question.graph).stem if question.graph else str(benchmark.graphs[0])
                for benchmark in benchmarks
                for question in benchmark.contents.questions
            ]
        )
    else:
        start = 0
        for benchmark in benchmarks:
            all_questions = benchmark.contents.questions
            for split in split_folds(all_questions, selection.folds or 0, seed=selection.seed):
                shifted = (
                    tuple(start + position for position in part)
                    for part in (split.train, split.test)
                )
                yield DataSplit(split.name, *shifted)
            start += len(all_questions)


NO_GRAPH = ""  # for tasks that need no graph


def is_graph_required(
    benchmark: plans.BenchmarkQuestions, predictions: Sequence[Prediction], *, stored_gold: bool
) -> bool:
    """Return whether a query must run: a gold query, or a predicted one without an answer."""
    return any(
        prediction.answers is None and prediction.sparql is not None for prediction in predictions
    ) or any(
        question.answers is None and not question.unanswerable and not stored_gold
        for question in benchmark.questions
    )


async def score_predictions(
    workspace: Workspace,
    benchmark: plans.BenchmarkQuestions,
    predictions: Sequence[Prediction],
    *,
    source: Path,
    options: runs.EvaluationOptions,
    metric: str = "best_column",
    folder: Path | None = None,
    concurrency: int = 1,
    progress: Told | None = None,
    judge: LanguageModel | None = None,
) -> runs.EvaluationRun:
    """Score every question of a benchmark against the predictions of each system in a file.

    A question without a prediction scores 0. A benchmark without graphs is scored by stored
    answers alone. A `judge` also scores each record.

    Raises:
        SetupError: a prediction belongs to no question.
    """
    check_metric(metric, judge)
    ids = {question.id for question in benchmark.contents.questions}
    unknown = tuple(
        dict.fromkeys(prediction.id for prediction in predictions if prediction.id not in ids)
    )
    if unknown:
        omitted = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        raise SetupError(
            f"{benchmark.path} has no question "
            f"{', '.join(map(repr, unknown[:3]))}{omitted}: these predictions are for "
            "another benchmark, or its ids are spelled differently"
        )
    predictions_by_key = {prediction.key: prediction for prediction in predictions}
    stem = source.name.split(".")[0]
    async with plans.TaskRunner.from_workspace(workspace) as host:
        states = await plans.load_graph_states(host, [benchmark])
        systems = tuple(
            dict.fromkeys((prediction.method, prediction.repeat) for prediction in predictions)
        )
        tasks_by_key = {
            task.key: (task, predictions_by_key.get((method, repeat, task.question.id)))
            for method, repeat in systems
            for task in _iterate_tasks(benchmark, method or stem, repeat, options, states)
        }

        async def score_task(task: runs.Task) -> runs.Done:
            prediction = tasks_by_key[task.key][1]
            if task.graph == NO_GRAPH:
                return await score_prediction(task, prediction, None)
            async with host.use_graph(task.graph) as graph:
                prefixes = graph.prefixes.namespaces
                return await score_prediction(
                    task, prediction, graph.endpoint, graph=graph.name, prefixes=prefixes
                )

        planned = [
            replace(task, fingerprint=_compute_fingerprint(task, prediction))
            for task, prediction in tasks_by_key.values()
        ]
        description = f"predictions in {source.name}, sha256 {_hash_text(repr(predictions))}"
        methods = dict.fromkeys((task.method for task in planned), description).items()
        settings = plans.build_run_settings(
            [benchmark], methods, states.values(), metric=metric, options=asdict(options)
        )
        return await evaluate(
            add_judge_fingerprint(judge, planned),
            add_judge(score_task, judge) if judge else score_task,
            folder=folder, settings=settings, concurrency=concurrency,
            progress=progress,
        )  # fmt: skip


def _iterate_tasks(
    benchmark: plans.BenchmarkQuestions,
    method: str,
    repeat: int,
    options: runs.EvaluationOptions,
    states: Mapping[str, tuple[str, str]],
) -> Iterator[runs.Task]:
    prefixes = tuple(sorted(benchmark.contents.prefixes.items()))
    graphs = benchmark.graphs or (NO_GRAPH,) * len(benchmark.questions)
    for question, graph in zip(benchmark.questions, graphs, strict=True):
        snapshot = states[str(graph)][1] if graph != NO_GRAPH else ""
        yield runs.Task(
            question, benchmark.name, graph, method, repeat,
            prefixes=prefixes, options=options, snapshot=snapshot,
        )  # fmt: skip


def _compute_fingerprint(task: runs.Task, prediction: Prediction | None) -> str:
    return _hash_text(repr([task.question, task.snapshot, task.options, prediction]))[:16]


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
