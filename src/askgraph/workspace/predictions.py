"""Predictions of other systems become a run like our own, with the same records and figures."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from askgraph.errors import SetupError
from askgraph.evaluation.runs import Done, Options, Run, Task
from askgraph.evaluation.runs.predictions import Prediction, scored
from askgraph.evaluation.runs.run import Progress, evaluate
from askgraph.evaluation.runs.scores import check_metric, judged_by, judging
from askgraph.llm import LanguageModel
from askgraph.workspace import Workspace
from askgraph.workspace.plans import Asked, Host, Site, file_hash, run_settings, states_of

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
    options: Options,
    metric: str = "best_column",
    folder: Path | None = None,
    concurrency: int = 1,
    progress: Progress | None = None,
    judge: LanguageModel | None = None,
) -> Run:
    """Score every question of a benchmark against what each system in a file predicted for it.

    A question without a prediction scores 0. A benchmark without graphs (`asked.graphs` is empty)
    is scored by stored answers alone. A `judge` gives each record a score, too. Raises `SetupError`
    for a prediction that is for no question.
    """
    check_metric(metric, judge)
    _check_ids(asked, predictions)
    known = {prediction.key: prediction for prediction in predictions}
    stem = source.name.split(".")[0]
    host = Host(Site(workspace.folder.absolute(), ()))
    try:
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
                return await scored(task, prediction, None)
            async with host.graph(task.graph) as graph:
                prefixes = graph.prefixes.namespaces
                return await scored(
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
            judged_by(judge, planned), judging(work, judge) if judge else work,
            folder=folder, settings=settings, concurrency=concurrency,
            progress=progress,
        )  # fmt: skip
    finally:
        await host.close()


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
    asked: Asked, method: str, repeat: int, options: Options, states: Mapping[str, tuple[str, str]]
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
