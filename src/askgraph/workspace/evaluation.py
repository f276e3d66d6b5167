"""A run from its plan to its end: on this process, or spread over others."""

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
from askgraph.evaluation.executors import Executor, is_cancelling
from askgraph.evaluation.gold.near_duplicates import DataSplit, split_folds, split_leave_one_out
from askgraph.evaluation.questions import GoldQuestion, write_questions
from askgraph.evaluation.runs import (
    EXAMPLES_FOLDER,
    Done,
    EvaluationOptions,
    EvaluationRun,
    Task,
    Worker,
)
from askgraph.evaluation.runs.predictions import Prediction, score_prediction
from askgraph.evaluation.runs.run import Progress as Told
from askgraph.evaluation.runs.run import RunBudget, evaluate
from askgraph.evaluation.runs.scores import add_judge, add_judge_fingerprint, check_metric
from askgraph.llm import LanguageModel
from askgraph.methods import Method, collect_methods
from askgraph.workspace import Progress, Workspace, silent
from askgraph.workspace.plans import (
    Asked,
    Host,
    Wishes,
    file_hash,
    planned,
    run_settings,
    states_of,
    work_in_process,
)
from askgraph.workspace.run_sync import result_of
from askgraph.workspace.selection import Selection

_MANY = 200  # questions of graph search that are worth the start of processes


@dataclass(frozen=True)
class Crew:
    """Who answers: this process (`local`), or `workers` of an executor, by its name.

    `auto` is a process a core for many questions to methods without a model, else this process.
    `address` is that of a cluster that runs already. `concurrency` is how many questions are under
    way at once, in all; None is one here, and two a worker elsewhere.
    """

    on: str = "local"
    workers: int | None = None
    address: str | None = None
    concurrency: int | None = None

    def chosen(self, questions: int, methods: Iterable[Method]) -> "Crew":
        """Return the crew that `auto` is for so many questions to methods; any other as it is."""
        if self.on != "auto":
            return self
        asked = [one for method in methods for one in collect_methods(method)]
        has_model = any(getattr(one, "model", None) is not None for one in asked)
        few = questions < _MANY or os.cpu_count() == 1 or self.concurrency
        here = self.address or (not self.workers and (few or has_model))
        return replace(self, on="local" if here else "processes")

    @property
    def size(self) -> int:
        """How many processes answer."""
        return 1 if self.on == "local" else self.workers or os.cpu_count() or 1

    @property
    def at_once(self) -> int:
        """How many questions are under way at once."""
        return self.concurrency or (1 if self.on == "local" else 2 * self.size)


async def evaluated(
    workspace: Workspace,
    asked: Sequence[Asked],
    wishes: Wishes,
    selection: Selection,
    crew: Crew,
    *,
    budget: RunBudget | None = None,
    folder: Path | None = None,
    progress: Told | None = None,
    preparing: Progress = silent,
    judge: LanguageModel | None = None,
) -> EvaluationRun:
    """Ask the benchmarks with the methods and score what comes; keep the run in `folder`.

    `progress` is told each record as it comes, `preparing` how far the indices are that are built.
    With a `judge` each record has its score, too; a run is of one judge.
    Raises `SetupError` for what cannot work, before any question is asked.
    """
    check_metric(wishes.metric, judge)
    with _place_for_examples(folder) as place:
        learnt = with_examples(asked, selection, place)
        async with Host.of(workspace, wishes.methods) as host:
            plan = await planned(host, learnt, wishes, progress=preparing)
            methods = [host.method(choice.label) for choice in wishes.methods]
            crew = crew.chosen(len(plan.tasks), methods)
            async with _worker(crew, host) as work:
                return await evaluate(
                    add_judge_fingerprint(judge, plan.tasks),
                    add_judge(work, judge) if judge else work,
                    folder=folder,
                    settings=plan.settings,
                    concurrency=crew.at_once,
                    budget=budget,
                    progress=progress,
                )


def whole_run(
    workspace: Workspace,
    asked: Sequence[Asked],
    wishes: Wishes,
    selection: Selection,
    folder: Path,
    *,
    progress: Told | None = None,
) -> EvaluationRun:
    """Run an evaluation to its end in this process; `SetupError` if it was stopped before that."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    run = result_of(
        evaluated(workspace, asked, wishes, selection, Crew(), folder=folder, progress=progress)
    )
    if not run.is_complete:
        raise SetupError(f"the run in {folder} is not complete; the same call goes on")
    return run


@contextlib.contextmanager
def _place_for_examples(folder: Path | None) -> Iterator[Path]:
    """Give the folder for files that methods learn from: kept with the run, or for now."""
    if folder is not None:
        yield folder.absolute() / EXAMPLES_FOLDER
        return
    with tempfile.TemporaryDirectory() as temporary:
        yield Path(temporary)


@contextlib.asynccontextmanager
async def _worker(crew: Crew, host: Host) -> AsyncIterator[Worker]:
    if crew.on == "local":
        if crew.address or crew.workers:
            raise SetupError("--workers and --address are for --on processes or dask")
        yield host.work
        return
    plugin = plugins.load("executor", crew.on)
    executor: Executor = await asyncio.to_thread(plugin, crew.size, crew.address)

    async def work(task: Task) -> Done:
        future = executor.submit(work_in_process, host.site, task)
        try:
            done: Done = await asyncio.wrap_future(future)
        except executor.worker_death_errors as error:
            raise SetupError(
                f"a worker died while {task.question.id!r} was under way, most likely for its "
                "memory: try fewer --workers, or a smaller --concurrency; the same call goes on"
            ) from error
        except asyncio.CancelledError as error:
            if is_cancelling():
                raise
            raise SetupError(
                "the cluster is gone; once it is there, the same call goes on"
            ) from error
        return done

    try:
        yield work
    finally:
        await asyncio.to_thread(executor.close)


def with_examples(asked: Sequence[Asked], selection: Selection, folder: Path) -> tuple[Asked, ...]:
    """Give each question a file of the examples that its method may learn from.

    With `selection.folds` these are the other folds of its benchmark; with `leave_out` the
    questions about all other graphs, or of all other benchmarks. Questions that are not asked, as
    only a sample is, are learnt from all the same. The files go into `folder`.
    """
    if selection.folds is None and selection.leave_out is None:
        return tuple(asked)
    if selection.folds is not None and selection.leave_out is not None:
        raise SetupError("--folds and --leave-out exclude each other; choose one")
    if selection.leave_out not in (None, "graph", "dataset"):
        raise SetupError(f"--leave-out is 'graph' or 'dataset', not {selection.leave_out!r}")
    questions = [(one, question) for one in asked for question in one.contents.questions]
    learnt: dict[tuple[str, str], Path] = {}
    folder.mkdir(parents=True, exist_ok=True)
    for number, split in enumerate(_splits(asked, selection), start=1):
        path = folder / f"{number:03}.jsonl"
        write_questions(path, [questions[at][1] for at in split.train])
        for one, question in (questions[at] for at in split.test):
            learnt[one.name, question.id] = path
    return tuple(
        replace(one, examples=tuple(learnt[one.name, q.id] for q in one.questions)) for one in asked
    )


def _splits(asked: Sequence[Asked], selection: Selection) -> Iterator[DataSplit]:
    """Splits whose places count through all questions of all benchmarks, asked or not."""
    if selection.leave_out == "dataset":
        yield from split_leave_one_out([one.name for one in asked for _ in one.contents.questions])
    elif selection.leave_out == "graph":
        yield from split_leave_one_out(
            [_graph(one, question) for one in asked for question in one.contents.questions]
        )
    else:
        start = 0
        for one in asked:
            whole = one.contents.questions
            for split in split_folds(whole, selection.folds or 0, seed=selection.seed):
                moved = (tuple(start + at for at in part) for part in (split.train, split.test))
                yield DataSplit(split.name, *moved)
            start += len(whole)


def _graph(asked: Asked, question: GoldQuestion) -> str:
    return Path(question.graph).stem if question.graph else str(asked.graphs[0])


NOWHERE = ""  # the graph of tasks that need none


def needs_graph(asked: Asked, predictions: Sequence[Prediction], *, stored_gold: bool) -> bool:
    """Tell whether something has to be run: a gold query, or a predicted one without an answer."""
    return any(p.answers is None and p.sparql is not None for p in predictions) or any(
        q.answers is None and not q.unanswerable and not stored_gold for q in asked.questions
    )


async def score_predictions(
    workspace: Workspace,
    asked: Asked,
    predictions: Sequence[Prediction],
    *,
    source: Path,
    options: EvaluationOptions,
    metric: str = "best_column",
    folder: Path | None = None,
    concurrency: int = 1,
    progress: Told | None = None,
    judge: LanguageModel | None = None,
) -> EvaluationRun:
    """Score every question of a benchmark against what each system in a file predicted for it.

    A question without a prediction scores 0. A benchmark without graphs (`asked.graphs` is empty)
    is scored by stored answers alone. A `judge` gives each record a score, too. Raises `SetupError`
    for a prediction that is for no question.
    """
    check_metric(metric, judge)
    _check_ids(asked, predictions)
    known = {prediction.key: prediction for prediction in predictions}
    stem = source.name.split(".")[0]
    async with Host.of(workspace) as host:
        states = await states_of(host, [asked])
        systems = tuple(dict.fromkeys((p.method, p.repeat) for p in predictions))
        said = {
            task.key: (task, known.get((method, repeat, task.question.id)))
            for method, repeat in systems
            for task in _tasks(asked, method or stem, repeat, options, states)
        }

        async def work(task: Task) -> Done:
            prediction = said[task.key][1]
            if task.graph == NOWHERE:
                return await score_prediction(task, prediction, None)
            async with host.graph(task.graph) as graph:
                prefixes = graph.prefixes.namespaces
                return await score_prediction(
                    task, prediction, graph.endpoint, graph=graph.name, prefixes=prefixes
                )

        planned = [
            replace(task, fingerprint=_fingerprint(task, prediction))
            for task, prediction in said.values()
        ]
        given = f"predictions in {source.name}, sha256 {file_hash(source)}"
        methods = dict.fromkeys((task.method for task in planned), given).items()
        settings = run_settings(
            [asked], methods, states.values(), metric=metric, options=asdict(options)
        )
        return await evaluate(
            add_judge_fingerprint(judge, planned), add_judge(work, judge) if judge else work,
            folder=folder, settings=settings, concurrency=concurrency,
            progress=progress,
        )  # fmt: skip


def _check_ids(asked: Asked, predictions: Sequence[Prediction]) -> None:
    known = {question.id for question in asked.contents.questions}
    unknown = tuple(dict.fromkeys(p.id for p in predictions if p.id not in known))
    if unknown:
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        raise SetupError(
            f"{asked.path} has no question {', '.join(map(repr, unknown[:3]))}{more}: these "
            "predictions are for another benchmark, or its ids are written otherwise"
        )


def _tasks(
    asked: Asked,
    method: str,
    repeat: int,
    options: EvaluationOptions,
    states: Mapping[str, tuple[str, str]],
) -> Iterator[Task]:
    prefixes = tuple(sorted(asked.contents.prefixes.items()))
    graphs = asked.graphs or (NOWHERE,) * len(asked.questions)
    for question, graph in zip(asked.questions, graphs, strict=True):
        snapshot = states[str(graph)][1] if graph != NOWHERE else ""
        yield Task(
            question, asked.name, graph, method, repeat,
            prefixes=prefixes, options=options, snapshot=snapshot,
        )  # fmt: skip


def _fingerprint(task: Task, prediction: Prediction | None) -> str:
    text = repr([task.question, task.snapshot, task.options, prediction])
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]
