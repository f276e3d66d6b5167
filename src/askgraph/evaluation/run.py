"""Ask every question, score every answer against gold: nothing dropped, nothing repeated.

A question that fails scores 0 and stays in the mean, with its reason. So does a question whose gold
query fails, unless its answers are stored.
"""

import asyncio
import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path

from askgraph.endpoint import Endpoint
from askgraph.errors import AskgraphError, QueryError, SetupError
from askgraph.evaluation import Table
from askgraph.evaluation.answer_object import status_of
from askgraph.evaluation.lines import LineFile
from askgraph.evaluation.metrics.best_column import best_column
from askgraph.evaluation.metrics.exact_match import exact_match
from askgraph.evaluation.metrics.flattened import flattened
from askgraph.evaluation.pool import completed
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.report import Record, Report
from askgraph.sparql.query import admitted
from askgraph.trace import Answer, Outcome, Question

__all__ = ["Answerer", "Progress", "answer_table", "evaluate", "gold_table"]

Answerer = Callable[[Question], Awaitable[Outcome]]
"""Answers one question, by whatever method; may raise."""

Progress = Callable[[Report, int], None]
"""Told after each question: the report so far, and how many questions there are."""

Prefixes = Mapping[str, str] | None


async def evaluate(
    questions: Sequence[GoldQuestion],
    answerer: Answerer,
    endpoint: Endpoint,
    *,
    abstain: bool = False,
    concurrency: int = 1,
    timeout: float | None = None,
    gold_timeout: float = 60.0,
    prefixes: Prefixes = None,
    records: Path | None = None,
    settings: Mapping[str, object] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Answer the questions and score the answers against gold results on the same endpoint.

    The best attempt counts even where the method would ask back or refuse; with `abstain` it does
    not. `timeout` is in seconds a question. Gold queries may use `prefixes` without declaring them.

    With `records`, each question that is done is a line in that file, and a later call with the
    same questions and `settings` goes on where it stopped; `SetupError` where the file holds
    records made with other ones.
    """
    run = _Run(answerer, endpoint, abstain, timeout, gold_timeout, prefixes)
    keys = {q.id: _key(q, {**(settings or {}), "abstain": abstain}) for q in questions}
    done: dict[str, Record] = {}
    lines = LineFile(records) if records else None
    try:
        if lines:
            done = _resumed(lines, keys)
        missing = [question for question in questions if question.id not in done]
        async with aclosing(completed(missing, run.record, concurrency=concurrency)) as stream:
            async for result in stream:
                record = replace(result, key=keys[result.id])
                done[record.id] = record
                if lines:
                    lines.append(record.json())
                if progress:
                    progress(Report(tuple(done.values())), len(questions))
        if lines:
            lines.reorder(keys)
    finally:
        if lines:
            lines.close()
    return Report(tuple(done[question.id] for question in questions))


async def gold_table(
    question: GoldQuestion, endpoint: Endpoint, *, prefixes: Prefixes = None, timeout: float
) -> Table:
    """Return the gold result of a question: its query's on this endpoint, else the stored one.

    Raises what the endpoint raises, and `SetupError` where there is neither.
    """
    if question.sparql is not None:
        return await _query_table(question.sparql, endpoint, prefixes=prefixes, timeout=timeout)
    if question.answers is not None:
        return question.answers
    raise SetupError(f"question {question.id!r} has no gold to score against")


async def answer_table(answer: Answer, endpoint: Endpoint, *, timeout: float | None) -> Table:
    """Return an answer's result; where it was cut off, that of its query, run again in full."""
    if answer.boolean is not None:
        return Table.of_boolean(answer.boolean)
    if answer.result.truncated:
        return await _query_table(answer.query, endpoint, timeout=timeout)
    return Table.of_result(answer.result)


async def _query_table(
    query: str, endpoint: Endpoint, *, prefixes: Prefixes = None, timeout: float | None
) -> Table:
    admissible = admitted(query, prefixes=prefixes)
    match admissible.form:
        case "SELECT":
            result = await endpoint.select(admissible.text, timeout=timeout)
            if result.truncated:
                raise QueryError(f"the result was cut off: {result.truncated.reason}")
            return Table.of_result(result)
        case "ASK":
            return Table.of_boolean(await endpoint.ask(admissible.text, timeout=timeout))
        case form:
            raise QueryError(f"a {form} query cannot be scored, only SELECT and ASK")


def _key(question: GoldQuestion, settings: Mapping[str, object]) -> str:
    stored = question.answers and [question.answers.variables, question.answers.rows]
    parts = [question.text, question.language, question.sparql, stored, dict(settings)]
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _resumed(lines: LineFile, keys: Mapping[str, str]) -> dict[str, Record]:
    done = {}
    for identity, line in lines.lines.items():
        if identity not in keys:
            continue
        try:
            record = Record.of_json(line)
        except TypeError as error:
            raise SetupError(f"{lines.path} holds no records of an evaluation: {error}") from error
        if record.key != keys[identity]:
            raise SetupError(
                f"{lines.path} holds records made with other settings or other questions "
                f"({identity!r}); name another file, or delete this one"
            )
        done[identity] = record
    return done


@dataclass(frozen=True)
class _Scores:
    f1: float = 0.0
    f1_flattened: float = 0.0
    em: float = 0.0


@dataclass(frozen=True)
class _Attempt:
    """What came of asking: an outcome, or what went wrong."""

    outcome: Outcome | None
    seconds: float
    error: str | None = None

    @property
    def best(self) -> Answer | None:
        if self.outcome is None or isinstance(self.outcome, Answer):
            return self.outcome
        return self.outcome.best

    @property
    def status(self) -> str:
        return status_of(self.outcome) if self.outcome else "error"


@dataclass(frozen=True)
class _Run:
    answerer: Answerer
    endpoint: Endpoint
    abstain: bool
    timeout: float | None
    gold_timeout: float
    prefixes: Prefixes

    async def record(self, question: GoldQuestion) -> Record:
        attempt = await self._ask(question)
        scores, error, gold_error = await self._score(question, attempt)
        return Record(
            id=question.id,
            question=question.text,
            status=attempt.status,
            confidence=attempt.best.confidence if attempt.best else 0.0,
            f1=scores.f1,
            f1_flattened=scores.f1_flattened,
            em=scores.em,
            seconds=round(attempt.seconds, 6),
            sparql=attempt.best.query if attempt.best else None,
            gold_sparql=question.sparql,
            tags=question.tags,
            unanswerable=question.unanswerable,
            error=attempt.error or error,
            gold_error=gold_error,
        )

    async def _ask(self, question: GoldQuestion) -> _Attempt:
        start = time.perf_counter()
        outcome: Outcome | None = None
        error: str | None = None
        try:
            async with asyncio.timeout(self.timeout):
                outcome = await self.answerer(Question(question.text, question.language))
        except SetupError:
            raise
        except TimeoutError:
            error = f"no answer within {self.timeout} s"
        except AskgraphError as failure:
            error = _named(failure)
        except Exception as failure:  # noqa: BLE001 - a method's bug costs its question, not the run
            error = f"the method failed: {failure!r}"
        return _Attempt(outcome, time.perf_counter() - start, error)

    async def _score(
        self, question: GoldQuestion, attempt: _Attempt
    ) -> tuple[_Scores, str | None, str | None]:
        """Return the scores, what failed in the answer's query, and what failed in gold's."""
        if question.unanswerable:
            right = float(attempt.status in ("refusal", "clarification"))
            return _Scores(right, right, right), None, None
        gold, gold_error = await self._gold(question)
        counted = attempt.best if attempt.status == "answer" or not self.abstain else None
        if gold is None or counted is None:
            return _Scores(), None, gold_error
        try:
            predicted = await answer_table(counted, self.endpoint, timeout=self.gold_timeout)
        except AskgraphError as failure:
            return _Scores(), _named(failure), gold_error
        scores = _Scores(
            best_column(predicted, gold).f1,
            flattened(predicted, gold).f1,
            exact_match(predicted, gold).f1,
        )
        return scores, None, gold_error

    async def _gold(self, question: GoldQuestion) -> tuple[Table | None, str | None]:
        try:
            gold = await gold_table(
                question, self.endpoint, prefixes=self.prefixes, timeout=self.gold_timeout
            )
        except SetupError:
            raise
        except AskgraphError as failure:
            return question.answers, _named(failure)
        return gold, None


def _named(error: AskgraphError) -> str:
    return f"{type(error).__name__}: {error}"
