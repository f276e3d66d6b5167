"""One question of a run: asked, again if that failed, and its answer scored.

A question that fails scores 0 and stays, with its reason. So does one whose gold query fails,
unless its answers are stored.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from askgraph.agent.own_predicates import with_own_predicates
from askgraph.answers.codec import status_of
from askgraph.endpoint import Endpoint
from askgraph.errors import AskgraphError, ServiceError, SetupError
from askgraph.evaluation import Table
from askgraph.evaluation.gold.tables import answer_table, gold_or_reason, query_table
from askgraph.evaluation.metrics.best_column import best_column
from askgraph.evaluation.metrics.linking import links
from askgraph.evaluation.pool import given_up
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.runs.record import REJECTED, Done, Task
from askgraph.evaluation.runs.scores import (
    Scored,
    done_task,
    link_scores,
    named,
    same_scores,
    scores_of,
)
from askgraph.evaluation.runs.steps import sound_steps, step_object
from askgraph.graph import KnowledgeGraph
from askgraph.methods import Method
from askgraph.trace import Answer, Draft, Outcome, Question, Step, Trace, Usage, attempt_of, spent

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

    `graph` is the name to record. Raises `SetupError`, and `Unreachable` and `Unauthorised` if
    gold cannot be had.
    """
    known = {**dict(task.prefixes), **(prefixes or {})}
    attempt = await _attempts(task, ask, known)
    scored = await _scored(task, attempt, endpoint, known)
    best, question = attempt.best, task.question
    sparql = best.query if best else None
    counted = sparql if attempt.status == "answer" or not task.options.abstain else None
    found = link_scores(counted, question.sparql, prefixes=prefixes)
    return done_task(
        task,
        replace(scored, scores={**scored.scores, **found}),
        status=attempt.status,
        confidence=best.confidence if best else 0.0,
        sparql=sparql,
        usage=attempt.usage,
        seconds=round(attempt.seconds, 6),
        graph=graph,
        prefixes=known,
        error=attempt.error,
        attempts=attempt.number,
        steps=tuple(step_object(step) for step in attempt.steps),
    )


def asker(method: Method, graphs: Sequence[KnowledgeGraph]) -> Asker:
    """Return a function that answers a question and puts each step into a list as it comes."""
    return partial(collect, method=method, graphs=graphs)


async def trace_of(
    question: Question, *, method: Method, name: str, graphs: Sequence[KnowledgeGraph]
) -> Trace:
    """Answer one question and return all steps; `name` is the method's."""
    steps: list[Step] = []
    await collect(question, steps, method=method, graphs=graphs)
    return Trace(question, name, tuple(steps))


async def collect(
    question: Question, steps: list[Step], *, method: Method, graphs: Sequence[KnowledgeGraph]
) -> None:
    """Answer one question and put each step into the list as it comes; an error leaves the rest."""
    stream = method.answer(question, graphs)
    try:
        async for step in stream:
            steps.append(with_own_predicates(step, graphs))
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()


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
        return attempt_of(self.outcome) if self.outcome else None

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
    """Return what the method is asked, with the links of gold if the task says so."""
    gold = task.question
    language = gold.language or task.options.language
    given = gold_links(gold, prefixes=prefixes) if task.gold_links else None
    return Question(gold.text, language, given=given)


def gold_links(
    question: GoldQuestion, *, prefixes: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Return the IRIs of entities, classes and relations: the benchmark's own, else the query's.

    None if the gold query has none, or there is no gold query. `prefixes` are those that it may
    use without declaring them.
    """
    named = (*question.entities, *question.predicates)
    if named:
        return tuple(dict.fromkeys(named))
    found = links(question.sparql, prefixes=prefixes)
    return (*sorted(found.entities), *sorted(found.predicates))


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
        error, again = named(failure), isinstance(failure, ServiceError)
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


async def _scored(
    task: Task, attempt: _Attempt, endpoint: Endpoint, prefixes: Mapping[str, str]
) -> Scored:
    question, options = task.question, task.options
    if question.unanswerable:
        return Scored(same_scores(float(attempt.status in REJECTED)))
    stored, timeout = options.stored_gold, options.gold_timeout
    gold, gold_error = await gold_or_reason(
        question, endpoint, stored=stored, prefixes=prefixes, timeout=timeout
    )
    predicted, error = await _predicted(task, attempt, endpoint)
    counts = attempt.status == "answer" or not options.abstain
    if gold is None:
        return Scored(same_scores(0.0), predicted, None, error, gold_error)
    scores = await asyncio.to_thread(scores_of, predicted if counts else None, gold)
    drafts = await _drafts(task, attempt, gold, endpoint)
    return Scored(scores, predicted, gold, error, gold_error, drafts)


async def _predicted(
    task: Task, attempt: _Attempt, endpoint: Endpoint
) -> tuple[Table | None, str | None]:
    if attempt.best is None:
        return None, None
    try:
        timeout = task.options.gold_timeout
        return await answer_table(attempt.best, endpoint, timeout=timeout), None
    except AskgraphError as failure:
        return None, named(failure)


async def _drafts(
    task: Task, attempt: _Attempt, gold: Table, endpoint: Endpoint
) -> tuple[float, ...]:
    """Return the F1 that each of the best candidates would have given; one that fails gives 0."""
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
