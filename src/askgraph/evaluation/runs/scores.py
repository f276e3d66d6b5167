"""Scoring of an answer, and the record and detail of its question."""

import asyncio
import json
import tomllib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from askgraph import plugins
from askgraph.answers.codec import Json, to_json_value
from askgraph.endpoint import Endpoint
from askgraph.errors import AskgraphError, QueryError, SetupError
from askgraph.evaluation import Metric, ResultTable, Score, align_numbers
from askgraph.evaluation.metrics import score_linking
from askgraph.evaluation.questions import try_load_gold
from askgraph.evaluation.reports.failures import classify_failure
from askgraph.evaluation.runs import REJECTED_STATUSES, Done, QuestionDetail, Record, Task, Worker
from askgraph.llm import LanguageModel, Message, System, User, read_completion
from askgraph.llm.structured import StructuredReply, parse_structured
from askgraph.sparql import Pattern, walk
from askgraph.sparql.comparison import Cell
from askgraph.sparql.lexer import declare_prefixes
from askgraph.sparql.parser import parse_tree
from askgraph.trace import Usage


@dataclass(frozen=True)
class ScoredAnswer:
    """Both results of a question, their scores, and the error if one is missing."""

    scores: Mapping[str, Score]
    predicted: ResultTable | None = None
    gold: ResultTable | None = None
    error: str | None = None
    gold_error: str | None = None
    drafts: tuple[float, ...] = ()  # F1 of the method's candidates


async def score_answer(
    task: Task,
    status: str,
    load_prediction: Callable[[], Awaitable[ResultTable | None]],
    endpoint: Endpoint | None,
    prefixes: Mapping[str, str],
) -> ScoredAnswer:
    """Score a prediction against gold; a failure of either is kept as an error.

    Raises:
        SetupError: The operator must fix something.
        Unreachable: Gold cannot be loaded.
        Unauthorised: Gold cannot be loaded.
    """
    question, options = task.question, task.options
    gold, gold_error, error = None, None, None
    if not question.unanswerable:
        gold, gold_error = await try_load_gold(
            question, endpoint, stored_only=options.stored_gold, prefixes=prefixes,
            timeout=options.gold_timeout,
        )  # fmt: skip
    try:
        table = await load_prediction()
    except AskgraphError as exception:
        table, error = None, format_error(exception)
    if question.unanswerable:
        scores = build_uniform_scores(float(status in REJECTED_STATUSES))
    elif gold is None:
        scores = build_uniform_scores(0.0)
    else:
        is_counted = status == "answer" or not options.abstain
        scores = await asyncio.to_thread(compute_scores, table if is_counted else None, gold)
    return ScoredAnswer(scores, table, gold, error, gold_error)


def build_result(
    task: Task,
    scored: ScoredAnswer,
    *,
    status: str,
    confidence: float,
    sparql: str | None,
    usage: Usage,
    seconds: float,
    graph: str,
    prefixes: Mapping[str, str],
    error: str | None = None,
    attempts: int = 1,
    steps: Sequence[Json] = (),
) -> Done:
    """Build the record and the detail of a question that was answered and scored.

    `graph` is the name for the record; queries may use `prefixes` without declaring them.
    """
    question, rows = task.question, len(scored.predicted.rows) if scored.predicted else None
    form, patterns = analyze_query(question.sparql, prefixes)
    record = Record(
        id=question.id,
        question=question.text,
        status=status,
        confidence=confidence,
        scores=scored.scores,
        seconds=seconds,
        sparql=sparql,
        gold_sparql=question.sparql,
        benchmark=task.benchmark,
        graph=graph,
        method=task.method,
        repeat=task.repeat,
        language=question.language,
        tags=question.tags,
        form=form,
        patterns=patterns,
        unanswerable=question.unanswerable,
        executed=scored.predicted is not None,
        rows=rows,
        drafts=scored.drafts,
        attempts=attempts,
        gold_links=task.gold_links,
        usage=usage,
        error=error or scored.error,
        gold_error=scored.gold_error,
        fingerprint=task.fingerprint,
    )
    gold_rows = len(scored.gold.rows) if scored.gold else None
    failure = classify_failure(record, gold_rows=gold_rows, prefixes=prefixes)
    detail = build_detail(record.key, scored.predicted, scored.gold, steps=steps)
    return Done(replace(record, failure=failure), detail)


def format_error(error: AskgraphError) -> str:
    """Return the class and the text of an error."""
    return f"{type(error).__name__}: {error}"


@cache
def load_metrics() -> Mapping[str, Metric]:
    """Return all metrics by name; raise `SetupError` if one needs a library that is missing."""
    return {name: plugins.load("metric", name) for name in plugins.list_names("metric")}


def compute_scores(predicted: ResultTable | None, gold: ResultTable) -> dict[str, Score]:
    """Score an answer with every metric; None, no answer, scores 0."""
    if predicted is None:
        return build_uniform_scores(0.0)
    return {name: metric(predicted, gold) for name, metric in load_metrics().items()}


def score_links(
    predicted: str | None, gold: str | None, *, prefixes: Mapping[str, str] | None = None
) -> dict[str, Score]:
    """Score the IRIs of a query against those of the gold query; empty without a gold query."""
    if gold is None:
        return {}
    scores = score_linking(predicted, gold, prefixes=prefixes)
    return {"linked_entities": scores.entities, "linked_predicates": scores.predicates}


def build_uniform_scores(value: float) -> dict[str, Score]:
    """Return the same score for every metric."""
    return dict.fromkeys(load_metrics(), Score.from_value(value))


JUDGE_METRIC = "judge"
"""Metric name of the scores from a language model as judge."""


def add_judge(work: Worker, model: LanguageModel) -> Worker:
    """Wrap a worker so that a model judges each answer: 1 for right, 0 for wrong.

    The judge sees the first rows of both results. It is not asked if one of them is missing, and a
    reply without a verdict counts as 0.

    Raises:
        ServiceError: The model's server failed.
    """

    async def run_and_judge(task: Task) -> Done:
        result = await work(task)
        record, detail = result.record, result.detail
        if record.unanswerable:
            score = Score.from_value(float(record.status in REJECTED_STATUSES))
        elif (
            detail.predicted is None
            or detail.gold is None
            or (task.options.abstain and record.status != "answer")  # not given, so not counted
        ):
            score = Score.from_value(0.0)
        else:
            score = Score.from_value(float(await _ask_judge(model, record.question, detail)))
        return replace(
            result, record=replace(record, scores={**record.scores, JUDGE_METRIC: score})
        )

    return run_and_judge


def add_judge_fingerprint(judge: LanguageModel | None, tasks: Sequence[Task]) -> Sequence[Task]:
    """Return the tasks with the judge in their fingerprints."""
    if judge is None:
        return tasks
    name = f"{judge.identity.provider} {judge.identity.model}"
    return [replace(task, fingerprint=f"{task.fingerprint} judged by {name}") for task in tasks]


def check_metric(metric: str, judge: LanguageModel | None) -> None:
    """Raise `SetupError` for an unknown metric, and for `judge` without a model."""
    if metric == JUDGE_METRIC and judge is None:
        raise SetupError("the metric 'judge' is a language model: name it with --judge MODEL")
    if metric not in (JUDGE_METRIC, *load_metrics()):  # which names a missing extra
        plugins.load("metric", metric)


async def _ask_judge(model: LanguageModel, question: str, detail: QuestionDetail) -> bool:
    parts = (
        f"Question: {question}",
        f"Right: {json.dumps(detail.gold, ensure_ascii=False)}",
        f"System: {json.dumps(detail.predicted, ensure_ascii=False)}",
    )
    texts = tomllib.loads(Path(__file__).with_name("judge.toml").read_text("utf-8"))
    messages: list[Message] = [System(texts["prompt"]), User("\n".join(parts))]
    schema = texts["schema"]
    reply = await read_completion(model.complete(messages, temperature=0.0, schema=schema))
    match parse_structured(reply.first, schema):
        case StructuredReply(value):
            return value["right"] is True
        case _:
            return False


MAX_HEAD_ROWS = 20


def build_detail(
    key: str, predicted: ResultTable | None, gold: ResultTable | None, *, steps: Sequence[Json] = ()
) -> QuestionDetail:
    """Build the detail of a record; None stands for a missing result."""
    missing, extra = _find_differences(predicted, gold)
    return QuestionDetail(
        key, tuple(steps), _build_head(predicted), _build_head(gold), missing, extra
    )


def _build_head(table: ResultTable | None) -> Json | None:
    if table is None:
        return None
    rows = [
        list(row)
        for row in _to_plain_rows(table, table.rows[:MAX_HEAD_ROWS], table.terms[:MAX_HEAD_ROWS])
    ]
    return {"columns": list(table.variables), "rows": rows, "n": len(table.rows)}


def _to_plain_rows(
    table: ResultTable, rows: Sequence[tuple[Cell | None, ...]], terms: Sequence[tuple[object, ...]]
) -> list[tuple[object, ...]]:
    if table.terms:
        return [tuple(to_json_value(term) for term in row) for row in terms]  # type: ignore[arg-type]
    return [tuple(cell and cell[1] for cell in row) for row in rows]


def _find_differences(
    predicted: ResultTable | None, gold: ResultTable | None
) -> tuple[tuple[tuple[object, ...], ...], tuple[tuple[object, ...], ...]]:
    """Return the first rows that only gold has, and those that only the answer has, unaligned."""
    if predicted is None or gold is None:
        return (), ()
    predicted_rows, gold_rows = align_numbers(predicted, gold)
    missing = _find_unmatched(gold_rows.rows, predicted_rows.rows)
    extra = _find_unmatched(predicted_rows.rows, gold_rows.rows)
    return _select_rows(gold, missing), _select_rows(predicted, extra)


def _find_unmatched(rows: Sequence[object], matches: Sequence[object]) -> list[int]:
    counts = Counter(matches)
    indices: list[int] = []
    for index, row in enumerate(rows):
        if counts[row] > 0:
            counts[row] -= 1
        elif len(indices) < MAX_HEAD_ROWS:
            indices.append(index)
    return indices


def _select_rows(table: ResultTable, indices: Sequence[int]) -> tuple[tuple[object, ...], ...]:
    rows = [table.rows[index] for index in indices]
    terms = [table.terms[index] for index in indices] if table.terms else []
    return tuple(_to_plain_rows(table, rows, terms))


def analyze_query(query: str | None, prefixes: Mapping[str, str]) -> tuple[str | None, int | None]:
    """Return the form (`SELECT`, `ASK`, …) of a query and the number of its triple patterns.

    The query may use `prefixes` without declaring them. (None, None) if it cannot be parsed.
    """
    if query is None:
        return None, None
    try:
        tree = parse_tree(declare_prefixes(query, prefixes))
    except QueryError:
        return None, None
    return tree.form, sum(isinstance(node, Pattern) for node in walk(tree.where))
