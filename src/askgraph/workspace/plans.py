"""Plan the tasks of a run from benchmarks and methods, each with the state of its graph."""

import asyncio
import atexit
import contextlib
import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Self

from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import BenchmarkContents
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.runs import Done, EvaluationOptions, Task
from askgraph.evaluation.runs.one_question import asked, collect_steps
from askgraph.graph import KnowledgeGraph
from askgraph.methods import (
    ConfirmedAnswerMethod,
    Method,
    can_search_indices,
    collect_methods,
    disable_fallback,
    has_given_links,
)
from askgraph.workspace import Progress, Workspace, ignore_progress
from askgraph.workspace.graphs import build_missing_indices
from askgraph.workspace.models import Models
from askgraph.workspace.run_sync import run_in_background
from askgraph.workspace.settings import parse_method_spec, parse_setting

MAX_OPEN_GRAPHS = 16  # open graphs; each has its own process


@dataclass(frozen=True)
class MethodChoice:
    """A method with settings: its label in a run, its name, and the settings as JSON."""

    label: str
    name: str
    settings: str = "{}"


@dataclass(frozen=True)
class WorkerContext:
    """The data that a worker process needs: the workspace's folder, and the methods."""

    folder: Path
    methods: tuple[MethodChoice, ...]


@dataclass
class _OpenGraph:
    graph: KnowledgeGraph
    users: int = 0


@dataclass
class TaskRunner:
    """Answers tasks in this process; close it when all are done."""

    context: WorkerContext
    _graphs: OrderedDict[str, _OpenGraph] = field(default_factory=OrderedDict)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    _methods: dict[tuple[str, Path | None], Method] = field(default_factory=dict)
    _models: Models = field(init=False)

    def __post_init__(self) -> None:
        self._models = Models(self.context.folder)

    @classmethod
    def from_workspace(cls, workspace: Workspace, methods: tuple[MethodChoice, ...] = ()) -> Self:
        """Create a runner for a workspace."""
        return cls(WorkerContext(workspace.folder.absolute(), methods))

    async def run_task(self, task: Task) -> Done:
        """Ask and score one question. Raises errors that the operator must fix."""
        method = self.get_method(task.method, task.examples)
        async with self.use_graph(task.graph) as graph:
            if task.snapshot not in ("", graph.snapshot):
                raise SetupError(
                    f"the graph {graph.name!r} differs from the one that the run was "
                    "planned with; build it from the same files"
                )
            # Confirmed answers may be gold: only a method that sets them gets them.
            uses_confirmed = json.loads(self._find_choice(task.method).settings).get("confirmed")
            effective_method = ConfirmedAnswerMethod(method) if uses_confirmed is True else method
            ask = partial(collect_steps, method=effective_method, graphs=[graph])
            prefixes = graph.prefixes.namespaces
            return await asked(task, ask, graph.endpoint, graph=graph.name, prefixes=prefixes)

    def get_method(self, label: str, examples: Path | None = None) -> Method:
        """Return the method with a label, with the examples that it may learn from.

        If its model fails, the question fails, so that a resumed run asks it again, unless the
        label has `fallback=yes`.
        """
        if (label, examples) not in self._methods:
            choice = self._find_choice(label)
            settings = json.loads(choice.settings)
            if examples is not None:
                settings["examples"] = str(examples)
            method = Workspace(self.context.folder).method(
                choice.name, settings, models=self._models
            )
            self._methods[label, examples] = disable_fallback(method, settings)
        return self._methods[label, examples]

    @contextlib.asynccontextmanager
    async def use_graph(self, source: str | Path) -> AsyncIterator[KnowledgeGraph]:
        """Provide a graph by name, path or URL, opened once; surplus idle graphs close."""
        async with self._opening:
            if (key := str(source)) not in self._graphs:
                graph = await asyncio.to_thread(Workspace(self.context.folder).find, source)
                self._graphs[key] = _OpenGraph(graph)
            self._graphs.move_to_end(key)
            opened = self._graphs[key]
        opened.users += 1
        try:
            yield opened.graph
        finally:
            opened.users -= 1
            await self._close_idle()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all graphs and language models."""
        while self._graphs:
            _, opened = self._graphs.popitem()
            await opened.graph.endpoint.close()
        await self._models.close()

    def _find_choice(self, label: str) -> MethodChoice:
        return next(choice for choice in self.context.methods if choice.label == label)

    async def _close_idle(self) -> None:
        for key in list(self._graphs):
            if len(self._graphs) <= MAX_OPEN_GRAPHS:
                return
            if not self._graphs[key].users:
                await self._graphs.pop(key).graph.endpoint.close()


_LOCK = threading.Lock()


def run_in_process(context: WorkerContext, task: Task) -> Done:
    """Run a task in this process and keep opened graphs: for worker processes."""
    with _LOCK:
        runner = _get_runner(context)
    return run_in_background(runner.run_task(task)).result()


@cache
def _get_runner(context: WorkerContext) -> TaskRunner:
    runner = TaskRunner(context)
    atexit.register(lambda: run_in_background(runner.close()).result(10))
    return runner


@dataclass(frozen=True)
class BenchmarkQuestions:
    """The selected questions of a benchmark, each with its graph."""

    name: str
    path: Path
    format: str
    contents: BenchmarkContents
    questions: tuple[GoldQuestion, ...]
    graphs: tuple[str | Path, ...]  # names, paths or URLs, one per question
    examples: tuple[Path | None, ...] = ()  # files to learn from, one per question, or empty


@dataclass(frozen=True)
class RunOptions:
    """The methods and repetitions of a run; `chosen` records the caller's selection."""

    methods: tuple[MethodChoice, ...]
    repeat: int = 1
    options: EvaluationOptions = field(default_factory=EvaluationOptions)
    metric: str = "best_column"
    chosen: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class RunPlan:
    """The tasks of a run, and the settings for `run.json`."""

    tasks: tuple[Task, ...]
    settings: Mapping[str, object]


async def plan_run(
    runner: TaskRunner,
    benchmarks: Sequence[BenchmarkQuestions],
    run_options: RunOptions,
    *,
    progress: Progress = ignore_progress,
) -> RunPlan:
    """Return a task for each question, method and repetition; the graphs are opened.

    If a method searches indices, missing ones are built; `progress` reports that.

    Raises:
        SetupError: a graph or method does not exist, or a method with examples takes none.
    """
    states = await load_graph_states(runner, benchmarks)
    has_examples = any(benchmark.examples for benchmark in benchmarks)
    for choice in run_options.methods:
        if has_examples and not hasattr(runner.get_method(choice.label), "examples"):
            raise SetupError(
                f"the method {choice.name!r} learns nothing from examples, so folds would "
                "change nothing; omit --folds and --leave-out"
            )
    if any(can_search_indices(runner.get_method(choice.label)) for choice in run_options.methods):
        for source in _list_graph_sources(benchmarks):
            async with runner.use_graph(source) as graph:
                await asyncio.to_thread(build_missing_indices, graph, progress=progress)
    tasks = tuple(
        task
        for benchmark in benchmarks
        for task in _iterate_tasks(runner, benchmark, run_options, states)
    )
    methods = [
        (choice.label, repr(runner.get_method(choice.label))) for choice in run_options.methods
    ]
    options = {**asdict(run_options.options), "repeat": run_options.repeat, **run_options.chosen}
    settings = build_run_settings(
        benchmarks, methods, states.values(), metric=run_options.metric, options=options
    )
    return RunPlan(tasks, settings)


def parse_method_choices(
    specs: Sequence[str], settings: Sequence[str] = ()
) -> tuple[MethodChoice, ...]:
    """Parse `graph-search` or `graph-search:operators=false,states=50`, and settings for all.

    A value is JSON if possible, else text.

    Raises:
        SetupError: a setting has no name, or a method is repeated.
    """
    shared = dict(map(parse_setting, settings))
    choices = []
    for spec in specs:
        name, method_options = parse_method_spec(spec)
        choices.append(create_method_choice(name, {**shared, **method_options}))
    labels = [choice.label for choice in choices]
    if duplicates := {label for label in labels if labels.count(label) > 1}:
        raise SetupError(f"the method {sorted(duplicates)[0]!r} is named twice: name it once")
    return tuple(choices)


def create_method_choice(name: str, settings: Mapping[str, object]) -> MethodChoice:
    """Return a method with settings, which its label includes."""
    label = name + "".join(
        f"{':' if not position else ','}{key}={json.dumps(value)}"
        for position, (key, value) in enumerate(settings.items())
    )
    return MethodChoice(label, name, json.dumps(settings))


def sample_questions(
    questions: Sequence[GoldQuestion], size: int, *, seed: int
) -> tuple[GoldQuestion, ...]:
    """Return a sample that depends on the seed but not on the order, in file order.

    A larger sample with the same seed includes the smaller one.
    """

    by_hash = sorted(questions, key=lambda q: hashlib.sha256(f"{seed}\t{q.id}".encode()).digest())
    sample_ids = {question.id for question in by_hash[:size]}
    return tuple(question for question in questions if question.id in sample_ids)


async def load_graph_states(
    runner: TaskRunner, benchmarks: Iterable[BenchmarkQuestions]
) -> dict[str, tuple[str, str]]:
    """Open the graphs of benchmarks; return the name and snapshot of each by its source."""
    states: dict[str, tuple[str, str]] = {}
    for source in _list_graph_sources(benchmarks):
        async with runner.use_graph(source) as graph:
            states[str(source)] = graph.name, graph.snapshot
    return states


def describe_benchmark(benchmark: BenchmarkQuestions) -> dict[str, object]:
    """Return the entry of a benchmark in `run.json`."""
    return {
        "name": benchmark.name,
        "format": benchmark.format,
        "path": str(benchmark.path),
        "sha256": hash_file(benchmark.path) if benchmark.path.is_file() else None,
        "questions": len(benchmark.questions),
        "unreadable": [[item.location, item.reason] for item in benchmark.contents.unreadable],
    }


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _list_graph_sources(benchmarks: Iterable[BenchmarkQuestions]) -> list[str | Path]:
    return list(dict.fromkeys(graph for benchmark in benchmarks for graph in benchmark.graphs))


def _iterate_tasks(
    runner: TaskRunner,
    benchmark: BenchmarkQuestions,
    run_options: RunOptions,
    states: Mapping[str, tuple[str, str]],
) -> Iterator[Task]:
    examples = benchmark.examples or (None,) * len(benchmark.questions)
    methods = {choice.label: runner.get_method(choice.label) for choice in run_options.methods}
    files_by_label = {label: _list_example_files(method) for label, method in methods.items()}
    files = {*examples, *chain.from_iterable(files_by_label.values())}
    hashes = {path: hash_file(path) for path in files if path is not None}
    for question, graph, file in zip(benchmark.questions, benchmark.graphs, examples, strict=True):
        snapshot = states[str(graph)][1]
        for label, method in methods.items():
            example_files = (file,) if file else files_by_label[label]
            contents = " ".join(hashes[path] for path in example_files) or None
            task = Task(
                question=question,
                benchmark=benchmark.name,
                graph=graph,
                method=label,
                examples=file,
                gold_links=has_given_links(method),
                prefixes=tuple(sorted(benchmark.contents.prefixes.items())),
                options=run_options.options,
                snapshot=snapshot,
                fingerprint=_compute_fingerprint(
                    question, repr(method), snapshot, run_options.options, contents
                ),
            )
            yield from (replace(task, repeat=number) for number in range(run_options.repeat))


def _list_example_files(method: Method) -> tuple[Path, ...]:
    # Their content counts as a setting.
    settings = (getattr(component, "examples", None) for component in collect_methods(method))
    paths = dict.fromkeys(
        Path(component) for component in settings if component and isinstance(component, str)
    )
    return tuple(path for path in paths if path.is_file())


def _compute_fingerprint(question: GoldQuestion, *parts: object) -> str:
    question_fields = [
        question.text,
        question.language,
        question.sparql,
        question.answers and [question.answers.variables, question.answers.rows],
        question.unanswerable,
    ]
    text = json.dumps([question_fields, *map(repr, parts)], default=str)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def build_run_settings(
    benchmarks: Iterable[BenchmarkQuestions],
    methods: Iterable[tuple[str, str]],
    states: Iterable[tuple[str, str]],
    *,
    metric: str,
    options: Mapping[str, object],
) -> dict[str, object]:
    """Return the settings of a run for `run.json`; `methods` are labels with their settings."""
    return {
        "askgraph": version("askgraph"),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "metric": metric,
        "benchmarks": [describe_benchmark(benchmark) for benchmark in benchmarks],
        "methods": [{"name": name, "settings": settings} for name, settings in methods],
        "graphs": [{"name": name, "snapshot": snapshot} for name, snapshot in states],
        "options": options,
    }
