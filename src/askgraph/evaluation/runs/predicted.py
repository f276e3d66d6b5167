"""One prediction of another system, scored like an answer of our own."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from askgraph.endpoint import Endpoint
from askgraph.errors import AskgraphError, SetupError
from askgraph.evaluation import Score, Table
from askgraph.evaluation.gold.tables import gold_or_reason, query_table
from askgraph.evaluation.reports.failures import failure_of
from askgraph.evaluation.runs.detail import detail_of
from askgraph.evaluation.runs.predictions import Prediction
from askgraph.evaluation.runs.query_shape import form_and_patterns
from askgraph.evaluation.runs.record import Record
from askgraph.evaluation.runs.scoring import link_scores, same_scores, scores_of
from askgraph.evaluation.runs.task import Done, Task

__all__ = ["NO_PREDICTION", "scored"]

NO_PREDICTION = "no prediction"
SILENT = ("refusal", "clarification")


async def scored(
    task: Task,
    prediction: Prediction | None,
    endpoint: Endpoint | None,
    *,
    graph: str = "",
    prefixes: Mapping[str, str] | None = None,
) -> Done:
    """Score what was predicted for the question of a task; None scores 0, as "no prediction".

    Without an endpoint, gold and prediction must both be stored answers. An answer without a
    confidence counts as sure. Raises `SetupError`, and `Unreachable` and `Unauthorised` where gold
    cannot be had.
    """
    said = prediction or Prediction(task.question.id, status="error", error=NO_PREDICTION)
    judge = _Judge(task, endpoint, {**dict(task.prefixes), **(prefixes or {})})
    gold, gold_error = await judge.gold()
    predicted, error = await judge.predicted(said)
    question = task.question
    scores = await asyncio.to_thread(judge.scores, said, predicted, gold)
    if said.sparql is not None or said.answers is None:
        sparql = said.sparql if judge.counts(said) else None
        scores |= link_scores(sparql, question.sparql, prefixes=judge.prefixes)
    form, patterns = form_and_patterns(question.sparql, judge.prefixes)
    record = Record(
        id=question.id,
        question=question.text,
        status=said.status,
        confidence=_confidence(said),
        scores=scores,
        seconds=said.usage.seconds,
        sparql=said.sparql,
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
        executed=predicted is not None,
        rows=len(predicted.rows) if predicted else None,
        usage=said.usage,
        error=said.error or error,
        gold_error=gold_error,
        fingerprint=task.fingerprint,
    )
    failure = failure_of(
        record.sparql,
        record.gold_sparql,
        status=record.status,
        error=record.error,
        scores=record.scores,
        rows=len(predicted.rows) if predicted else None,
        gold_rows=len(gold.rows) if gold else None,
        executed=record.executed,
        unanswerable=record.unanswerable,
        gold_error=gold_error,
        prefixes=judge.prefixes,
    )
    return Done(replace(record, failure=failure), detail_of(record.key, predicted, gold))


@dataclass(frozen=True)
class _Judge:
    """Finds both results of a task; `prefixes` need not be declared in queries."""

    task: Task
    endpoint: Endpoint | None
    prefixes: Mapping[str, str]

    async def gold(self) -> tuple[Table | None, str | None]:
        question, options = self.task.question, self.task.options
        if question.unanswerable:
            return None, None
        return await gold_or_reason(
            question,
            self.endpoint,
            stored=options.stored_gold,
            prefixes=self.prefixes,
            timeout=options.gold_timeout,
        )

    async def predicted(self, said: Prediction) -> tuple[Table | None, str | None]:
        if said.answers is not None or said.sparql is None:
            return said.answers, None
        if self.endpoint is None:
            raise SetupError(
                f"the prediction for {said.id!r} is a query and no answer: name the graph to run "
                "it on with -g"
            )
        try:
            timeout = self.task.options.gold_timeout
            table = await query_table(
                said.sparql, self.endpoint, prefixes=self.prefixes, timeout=timeout
            )
        except SetupError:
            raise
        except AskgraphError as failure:
            return None, _named(failure)
        return table, None

    def scores(
        self, said: Prediction, predicted: Table | None, gold: Table | None
    ) -> dict[str, Score]:
        if self.task.question.unanswerable:
            return same_scores(float(said.status in SILENT))
        if gold is None or not self.counts(said):
            return same_scores(0.0)
        return scores_of(predicted, gold)

    def counts(self, said: Prediction) -> bool:
        return said.status == "answer" or not self.task.options.abstain


def _confidence(said: Prediction) -> float:
    if said.confidence is not None:
        return said.confidence
    return 1.0 if said.status == "answer" else 0.0


def _named(error: AskgraphError) -> str:
    return f"{type(error).__name__}: {error}"
