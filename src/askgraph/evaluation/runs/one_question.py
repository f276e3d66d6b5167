"""One question: asked, again where that failed, its answer scored, whatever happens on the way.

A question that fails scores 0 and stays, with its reason. So does one whose gold query fails,
unless its answers are stored.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from askgraph.answers.codec import status_of
from askgraph.endpoint import Endpoint
from askgraph.errors import AskgraphError, ServiceError, SetupError
from askgraph.evaluation import Score
from askgraph.evaluation.gold.links import gold_links
from askgraph.evaluation.gold.tables import answer_table, gold_or_reason, query_table
from askgraph.evaluation.metrics.best_column import best_column
from askgraph.evaluation.pool import given_up
from askgraph.evaluation.reports.failures import failure_of
from askgraph.evaluation.runs.detail import detail_of
from askgraph.evaluation.runs.query_shape import form_and_patterns
from askgraph.evaluation.runs.record import Record
from askgraph.evaluation.runs.scoring import link_scores, same_scores, scores_of
from askgraph.evaluation.runs.steps import sound_steps, step_object
from askgraph.evaluation.runs.task import Done, Task
from askgraph.evaluation.values import Table
from askgraph.trace import Answer, Draft, Outcome, Question, Step, Usage, spent

__all__ = ["Asker", "asked"]

Asker = Callable[[Question, list[Step]], Awaitable[None]]
"""Answers a question and adds each step to the list as it comes; may raise."""

DRAFT_TIMEOUT = 10.0


async def asked(
    task: Task,
    ask: Asker,
    endpoint: Endpoint,
    *,
    graph: str = "",
    prefixes: Mapping[str, str] | None = None,
) -> Done:
    """Ask the question of a task and score what comes; gold runs on the same endpoint.

    `graph` is the name to record. Raises `SetupError`, and `Unreachable` and `Unauthorised` where
    gold cannot be had.
    """
    known = {**dict(task.prefixes), **(prefixes or {})}
    attempt = await _attempts(task, ask, known)
    scored = await _scored(task, attempt, endpoint, known)
    best, question = attempt.best, task.question
    sparql = best.query if best else None
    counted = sparql if attempt.status == "answer" or not task.options.abstain else None
    form, patterns = form_and_patterns(question.sparql, known)
    record = Record(
        id=question.id,
        question=question.text,
        status=attempt.status,
        confidence=best.confidence if best else 0.0,
        scores={**scored.scores, **link_scores(counted, question.sparql, prefixes=known)},
        seconds=round(attempt.seconds, 6),
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
        rows=len(scored.predicted.rows) if scored.predicted else None,
        drafts=scored.drafts,
        attempts=attempt.number,
        gold_links=task.gold_links,
        usage=attempt.usage,
        error=attempt.error or scored.error,
        gold_error=scored.gold_error,
        fingerprint=task.fingerprint,
    )
    steps = tuple(step_object(step) for step in attempt.steps)
    detail = detail_of(record.key, scored.predicted, scored.gold, steps=steps)
    return Done(replace(record, failure=_failure(record, scored, known)), detail)


@dataclass(frozen=True)
class _Attempt:
    """What came of asking: steps, or what went wrong; costs are those of all attempts."""

    steps: tuple[Step, ...]
    number: int
    seconds: float
    usage: Usage
    error: str | None = None

    @property
    def outcome(self) -> Outcome | None:
        last = self.steps[-1] if self.steps and self.error is None else None
        return last if isinstance(last, Outcome) else None

    @property
    def best(self) -> Answer | None:
        outcome = self.outcome
        if outcome is None or isinstance(outcome, Answer):
            return outcome
        return outcome.best

    @property
    def status(self) -> str:
        return status_of(self.outcome) if self.outcome else "error"


async def _attempts(task: Task, ask: Asker, prefixes: Mapping[str, str]) -> _Attempt:
    question = _asked_question(task, prefixes)
    seconds, usage = 0.0, Usage()
    for number in range(1, task.options.retries + 2):
        steps, error, took, again = await _attempt(task, question, ask)
        seconds, usage = seconds + took, usage + spent(steps)
        if not again or number > task.options.retries:
            break
    return _Attempt(steps, number, seconds, usage, error)


def _asked_question(task: Task, prefixes: Mapping[str, str]) -> Question:
    """What the method is asked; what gold says of it is told only where the task says so."""
    gold = task.question
    language = gold.language or task.options.language
    given = gold_links(gold, prefixes=prefixes) if task.gold_links else None
    return Question(gold.text, language, given=given)


async def _attempt(
    task: Task, question: Question, ask: Asker
) -> tuple[tuple[Step, ...], str | None, float, bool]:
    """Return the steps, what went wrong, the seconds it took, and whether to try again."""
    limit = task.options.timeout
    steps: list[Step] = []
    error: str | None = None
    again = True
    start = time.perf_counter()
    clock = asyncio.timeout(limit)
    try:
        async with clock:
            await ask(question, steps)
    except SetupError:
        raise
    except AskgraphError as failure:
        error, again = _named(failure), isinstance(failure, ServiceError)
    except asyncio.CancelledError:
        if given_up():
            raise
        error = "the method failed: it cancelled itself"
    except Exception as failure:  # noqa: BLE001 - a method's bug costs its question, not the run
        error = f"the method failed: {failure!r}"
    took = time.perf_counter() - start
    if clock.expired() or (limit is not None and took > limit):  # one that never waits is not cut
        error, again = f"no answer within {limit} s", True
    sound, flaw = sound_steps(steps)
    if error is None and flaw is not None:
        error = f"the method failed: {flaw}"
    return sound, error, took, again and error is not None


@dataclass(frozen=True)
class _Scored:
    scores: Mapping[str, Score]
    predicted: Table | None = None
    gold: Table | None = None
    error: str | None = None
    gold_error: str | None = None
    drafts: tuple[float, ...] = ()


async def _scored(
    task: Task, attempt: _Attempt, endpoint: Endpoint, prefixes: Mapping[str, str]
) -> _Scored:
    question, options = task.question, task.options
    if question.unanswerable:
        return _Scored(same_scores(float(attempt.status in ("refusal", "clarification"))))
    stored, timeout = options.stored_gold, options.gold_timeout
    gold, gold_error = await gold_or_reason(
        question, endpoint, stored=stored, prefixes=prefixes, timeout=timeout
    )
    predicted, error = await _predicted(task, attempt, endpoint)
    counts = attempt.status == "answer" or not options.abstain
    if gold is None:
        return _Scored(same_scores(0.0), predicted, None, error, gold_error)
    scores = await asyncio.to_thread(scores_of, predicted if counts else None, gold)
    drafts = await _drafts(task, attempt, gold, endpoint)
    return _Scored(scores, predicted, gold, error, gold_error, drafts)


async def _predicted(
    task: Task, attempt: _Attempt, endpoint: Endpoint
) -> tuple[Table | None, str | None]:
    if attempt.best is None:
        return None, None
    try:
        timeout = task.options.gold_timeout
        return await answer_table(attempt.best, endpoint, timeout=timeout), None
    except AskgraphError as failure:
        return None, _named(failure)


async def _drafts(
    task: Task, attempt: _Attempt, gold: Table, endpoint: Endpoint
) -> tuple[float, ...]:
    """The F1 that each of the best candidates would have given; one that fails gives 0."""
    found = [step for step in attempt.steps if isinstance(step, Draft)]
    scores = []
    for draft in sorted(found, key=lambda draft: -draft.score)[: task.options.drafts]:
        try:
            table = await query_table(draft.query, endpoint, timeout=DRAFT_TIMEOUT)
        except AskgraphError:
            scores.append(0.0)
        else:
            scores.append(round(best_column(table, gold).f1, 9))
    return tuple(scores)


def _failure(record: Record, scored: _Scored, prefixes: Mapping[str, str]) -> str | None:
    return failure_of(
        record.sparql,
        record.gold_sparql,
        status=record.status,
        error=record.error,
        scores=record.scores,
        rows=len(scored.predicted.rows) if scored.predicted else None,
        gold_rows=len(scored.gold.rows) if scored.gold else None,
        executed=record.executed,
        unanswerable=record.unanswerable,
        gold_error=record.gold_error,
        prefixes=prefixes,
    )


def _named(error: AskgraphError) -> str:
    return f"{type(error).__name__}: {error}"
