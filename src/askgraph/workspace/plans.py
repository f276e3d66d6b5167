"""From benchmarks and methods to the tasks of a run, each with the state of its graph."""

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
from functools import cache
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Self

from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import BenchmarkContents
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.runs import Done, EvaluationOptions, Task
from askgraph.evaluation.runs.one_question import asked, asker
from askgraph.graph import KnowledgeGraph
from askgraph.methods import (
    ConfirmedAnswerMethod,
    Method,
    can_search_indices,
    collect_methods,
    disable_fallback,
    has_given_links,
)
from askgraph.workspace import Progress, Workspace, silent
from askgraph.workspace.graphs import build_missing
from askgraph.workspace.models import Models
from askgraph.workspace.settings import method_spec, named_setting

OPEN = 16  # graphs kept open; each has a process of its own


@dataclass(frozen=True)
class MethodChoice:
    """A method with settings: its label in a run, its name, and the settings as JSON."""

    label: str
    name: str
    settings: str = "{}"


@dataclass(frozen=True)
class Site:
    """What a process needs to know to answer: the workspace's folder, and the methods."""

    folder: Path
    methods: tuple[MethodChoice, ...]


@dataclass
class _Opened:
    graph: KnowledgeGraph
    users: int = 0


@dataclass
class Host:
    """Answers tasks in this process; close it when all are done."""

    site: Site
    _graphs: OrderedDict[str, _Opened] = field(default_factory=OrderedDict)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    _methods: dict[tuple[str, Path | None], Method] = field(default_factory=dict)
    _models: Models = field(init=False)

    def __post_init__(self) -> None:
        self._models = Models(self.site.folder)

    @classmethod
    def of(cls, workspace: Workspace, methods: tuple[MethodChoice, ...] = ()) -> Self:
        """Return a host for a workspace."""
        return cls(Site(workspace.folder.absolute(), methods))

    async def work(self, task: Task) -> Done:
        """Ask and score one question. Raises what the operator has to mend."""
        method = self.method(task.method, task.examples)
        async with self.graph(task.graph) as graph:
            if task.snapshot not in ("", graph.snapshot):
                raise SetupError(
                    f"the graph {graph.name!r} here is another one than where the run was planned; "
                    "build it from the same files"
                )
            ask = asker(self._as_asked(task.method, method), [graph])
            prefixes = graph.prefixes.namespaces
            return await asked(task, ask, graph.endpoint, graph=graph.name, prefixes=prefixes)

    def method(self, label: str, examples: Path | None = None) -> Method:
        """Return the method with a label, with the examples that it may learn from.

        If its model fails the question fails, so that a resumed run asks it again; unless the
        label says `fallback=yes`.
        """
        if (label, examples) not in self._methods:
            choice = self._choice(label)
            settings = json.loads(choice.settings)
            if examples is not None:
                settings["examples"] = str(examples)
            method = Workspace(self.site.folder).method(choice.name, settings, models=self._models)
            self._methods[label, examples] = disable_fallback(method, settings)
        return self._methods[label, examples]

    @contextlib.asynccontextmanager
    async def graph(self, source: str | Path) -> AsyncIterator[KnowledgeGraph]:
        """Give a graph by its name, path or URL, opened once; idle ones are closed when many."""
        async with self._opening:
            if (key := str(source)) not in self._graphs:
                graph = await asyncio.to_thread(Workspace(self.site.folder).find, source)
                self._graphs[key] = _Opened(graph)
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

    def _choice(self, label: str) -> MethodChoice:
        return next(choice for choice in self.site.methods if choice.label == label)

    def _as_asked(self, label: str, method: Method) -> Method:
        """The method; with the confirmed answers, which may be the gold, only if it says so."""
        wanted = json.loads(self._choice(label).settings).get("confirmed")
        return ConfirmedAnswerMethod(method) if wanted is True else method

    async def _close_idle(self) -> None:
        for key in list(self._graphs):
            if len(self._graphs) <= OPEN:
                return
            if not self._graphs[key].users:
                await self._graphs.pop(key).graph.endpoint.close()


_LOCK = threading.Lock()


def work_in_process(site: Site, task: Task) -> Done:
    """Do a task in this process, which keeps what it opens: for processes that only do tasks."""
    with _LOCK:
        host, loop = _host(site), _loop()
    return asyncio.run_coroutine_threadsafe(host.work(task), loop).result()


@cache
def _host(site: Site) -> Host:
    host = Host(site)
    atexit.register(lambda: asyncio.run_coroutine_threadsafe(host.close(), _loop()).result(10))
    return host


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="askgraph", daemon=True).start()
    return loop


@dataclass(frozen=True)
class Asked:
    """A benchmark as it is asked: some of its questions, each with the graph that it goes to.

    `graphs` are what a workspace finds a graph by, one a question; `examples` files that a method
    may learn from, one a question, or none at all.
    """

    name: str
    path: Path
    format: str
    contents: BenchmarkContents
    questions: tuple[GoldQuestion, ...]
    graphs: tuple[str | Path, ...]
    examples: tuple[Path | None, ...] = ()


@dataclass(frozen=True)
class Wishes:
    """How a run asks: with which methods, how often, and `chosen`, what the caller selected by."""

    methods: tuple[MethodChoice, ...]
    repeat: int = 1
    options: EvaluationOptions = field(default_factory=EvaluationOptions)
    metric: str = "best_column"
    chosen: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """The tasks of a run, and what `run.json` says of it."""

    tasks: tuple[Task, ...]
    settings: Mapping[str, object]


async def planned(
    host: Host, benchmarks: Sequence[Asked], wishes: Wishes, *, progress: Progress = silent
) -> Plan:
    """Return a task for each question, method and repetition; the graphs are opened for it.

    If a method searches indices, those that are missing are built; `progress` tells of that.

    Raises `SetupError` for a graph or a method that there is none of, and for a method that is
    given examples and takes none.
    """
    states = await states_of(host, benchmarks)
    given = any(asked.examples for asked in benchmarks)
    for choice in wishes.methods:
        method = host.method(choice.label)
        if given and not hasattr(method, "examples"):
            raise SetupError(
                f"the method {choice.name!r} learns nothing from examples, so that folds would "
                "change nothing; leave --folds and --leave-out away"
            )
    if any(can_search_indices(host.method(choice.label)) for choice in wishes.methods):
        for source in _sources(benchmarks):
            async with host.graph(source) as graph:
                await asyncio.to_thread(build_missing, graph, progress=progress)
    tasks = tuple(
        task for benchmark in benchmarks for task in _tasks(host, benchmark, wishes, states)
    )
    methods = [(choice.label, repr(host.method(choice.label))) for choice in wishes.methods]
    options = {**asdict(wishes.options), "repeat": wishes.repeat, **wishes.chosen}
    settings = run_settings(
        benchmarks, methods, states.values(), metric=wishes.metric, options=options
    )
    return Plan(tasks, settings)


def method_choices(specs: Sequence[str], settings: Sequence[str] = ()) -> tuple[MethodChoice, ...]:
    """Read `graph-search` or `graph-search:operators=false,states=50`, and settings for all.

    A value is JSON if it can be, else text. Raises `SetupError` for a setting without a name,
    and for two methods alike.
    """
    shared = dict(map(named_setting, settings))
    choices = []
    for spec in specs:
        name, own = method_spec(spec)
        choices.append(method_choice(name, {**shared, **own}))
    labels = [choice.label for choice in choices]
    if twice := {label for label in labels if labels.count(label) > 1}:
        raise SetupError(f"the method {sorted(twice)[0]!r} is named twice")
    return tuple(choices)


def method_choice(name: str, settings: Mapping[str, object]) -> MethodChoice:
    """Return a method with settings, which its label tells."""
    label = name + "".join(
        f"{':' if not at else ','}{key}={json.dumps(value)}"
        for at, (key, value) in enumerate(settings.items())
    )
    return MethodChoice(label, name, json.dumps(settings))


def sampled(questions: Sequence[GoldQuestion], size: int, *, seed: int) -> tuple[GoldQuestion, ...]:
    """Return so many questions, the same for the same seed whatever their order, in file order.

    A larger sample with the same seed holds the smaller one.
    """

    def rank(question: GoldQuestion) -> bytes:
        return hashlib.sha256(f"{seed}\t{question.id}".encode()).digest()

    taken = {question.id for question in sorted(questions, key=rank)[:size]}
    return tuple(question for question in questions if question.id in taken)


async def states_of(host: Host, benchmarks: Iterable[Asked]) -> dict[str, tuple[str, str]]:
    """Open the graphs of benchmarks; return name and snapshot of each, by what it is found by."""
    states: dict[str, tuple[str, str]] = {}
    for source in _sources(benchmarks):
        async with host.graph(source) as graph:
            states[str(source)] = graph.name, graph.snapshot
    return states


def described(asked: Asked) -> dict[str, object]:
    """Return what `run.json` says of a benchmark."""
    return {
        "name": asked.name,
        "format": asked.format,
        "path": str(asked.path),
        "sha256": file_hash(asked.path) if asked.path.is_file() else None,
        "questions": len(asked.questions),
        "unreadable": [[item.location, item.reason] for item in asked.contents.unreadable],
    }


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sources(benchmarks: Iterable[Asked]) -> list[str | Path]:
    return list(dict.fromkeys(graph for asked in benchmarks for graph in asked.graphs))


def _tasks(
    host: Host, asked: Asked, wishes: Wishes, states: Mapping[str, tuple[str, str]]
) -> Iterator[Task]:
    examples = asked.examples or (None,) * len(asked.questions)
    methods = {choice.label: host.method(choice.label) for choice in wishes.methods}
    given = {label: _examples_of(method) for label, method in methods.items()}
    files = {*examples, *chain.from_iterable(given.values())}
    hashes = {path: file_hash(path) for path in files if path is not None}
    for question, graph, learnt in zip(asked.questions, asked.graphs, examples, strict=True):
        snapshot = states[str(graph)][1]
        for label, method in methods.items():
            known = (learnt,) if learnt else given[label]
            contents = " ".join(hashes[path] for path in known) or None
            task = Task(
                question=question,
                benchmark=asked.name,
                graph=graph,
                method=label,
                examples=learnt,
                gold_links=has_given_links(method),
                prefixes=tuple(sorted(asked.contents.prefixes.items())),
                options=wishes.options,
                snapshot=snapshot,
                fingerprint=_fingerprint(
                    question, repr(method), snapshot, wishes.options, contents
                ),
            )
            yield from (replace(task, repeat=number) for number in range(wishes.repeat))


def _examples_of(method: Method) -> tuple[Path, ...]:
    """The files of examples in the settings of a method and of those that it consults.

    What is in them is a setting, too.
    """
    named = (getattr(one, "examples", None) for one in collect_methods(method))
    paths = dict.fromkeys(Path(one) for one in named if one and isinstance(one, str))
    return tuple(path for path in paths if path.is_file())


def _fingerprint(question: GoldQuestion, *parts: object) -> str:
    stored = question.answers and [question.answers.variables, question.answers.rows]
    asked = [question.text, question.language, question.sparql, stored, question.unanswerable]
    text = json.dumps([asked, *map(repr, parts)], default=str)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def run_settings(
    benchmarks: Iterable[Asked],
    methods: Iterable[tuple[str, str]],
    states: Iterable[tuple[str, str]],
    *,
    metric: str,
    options: Mapping[str, object],
) -> dict[str, object]:
    """Return what `run.json` says of a run; `methods` are labels with settings in words."""
    return {
        "askgraph": version("askgraph"),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "metric": metric,
        "benchmarks": [described(asked) for asked in benchmarks],
        "methods": [{"name": name, "settings": settings} for name, settings in methods],
        "graphs": [{"name": name, "snapshot": snapshot} for name, snapshot in states],
        "options": options,
    }
