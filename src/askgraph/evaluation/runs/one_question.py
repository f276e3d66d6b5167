"""One question of a run: asked, again if that failed, and its answer scored.

A question that fails scores 0 and stays, with its reason. So does one whose gold query fails,
unless its answers are stored.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from askgraph.answers.codec import Json, answer_object, status_of
from askgraph.endpoint import Endpoint
from askgraph.errors import AskgraphError, ServiceError, SetupError
from askgraph.evaluation import Table
from askgraph.evaluation.executors import completed, given_up
from askgraph.evaluation.files import LineFile
from askgraph.evaluation.metrics.linking import links
from askgraph.evaluation.metrics.sets import best_column
from askgraph.evaluation.questions import GoldQuestion, answer_table, query_table
from askgraph.evaluation.runs import Done, Task
from askgraph.evaluation.runs.scores import Scored, done_task, judged, link_scores, named
from askgraph.graph import KnowledgeGraph
from askgraph.methods import Method, in_time, with_own_predicates
from askgraph.methods.tools.replay import with_heard
from askgraph.trace import (
    Answer,
    Draft,
    Findings,
    Heard,
    ModelTurn,
    Outcome,
    Prompt,
    Question,
    Refusal,
    Step,
    Thought,
    ToolUse,
    Trace,
    Usage,
    attempt_of,
    spent,
)

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
    """Answer one question and return all steps, for a replay too; `name` is the method's."""
    stream = with_heard(in_time(method, question, graphs), graphs)
    async with aclosing(stream):
        steps = [with_own_predicates(step, graphs) async for step in stream]
    return Trace(question, name, tuple(steps))


async def collect(
    question: Question, steps: list[Step], *, method: Method, graphs: Sequence[KnowledgeGraph]
) -> None:
    """Answer one question and put each step into the list as it comes; an error leaves the rest."""
    async with aclosing(in_time(method, question, graphs)) as stream:
        async for step in stream:
            steps.append(with_own_predicates(step, graphs))


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
    gold = task.question
    language = gold.language or task.options.language
    given = gold_links(gold, prefixes=prefixes) if task.gold_links else None
    question = Question(gold.text, language, given=given)
    seconds, usage = 0.0, Usage()
    for number in range(1, task.options.retries + 2):
        steps, error, took, again = await _attempt(task, question, ask)
        seconds, usage = seconds + took, usage + spent(steps)
        if not again or number > task.options.retries:
            break
    return _Attempt(steps, number, seconds, usage, error)


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
    async def predicted() -> Table | None:
        if attempt.best is None or task.question.unanswerable:
            return None
        return await answer_table(attempt.best, endpoint, timeout=task.options.gold_timeout)

    found = await judged(task, attempt.status, predicted, endpoint, prefixes)
    if found.gold is None:
        return found
    return replace(found, drafts=await _drafts(task, attempt, found.gold, endpoint))


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


ROWS = 20
TEXT = 8_000  # characters of a prompt, a reply or a tool's output that are kept


def step_object(step: Step, *, rows: int = ROWS) -> Json:
    """Return a step as a JSON object whose `step` names its kind; of long texts the beginning.

    `thought`, `findings` and `draft` have the fields of their classes; `answer`, `clarification`
    and `refusal` are the answer object with the first rows of the result. `prompt` has `purpose`,
    `messages` (role and text) and the names of its `tools`; `model_turn` has `text`, `reasoning`,
    `calls` (tool and arguments as written), `finish`, `model` and `usage`; `tool_use` has `tool`,
    `arguments`, `output`, `failed`, `query`, `rows` and `seconds`. All of it is in a trace of
    `askgraph.trace.codec`.
    """
    match step:
        case ToolUse():
            return {"step": "tool_use", **_tool_use(step)}
        case Prompt():
            return {"step": "prompt", **_prompt(step)}
        case ModelTurn():
            return {"step": "model_turn", **_model_turn(step)}
        case Thought() | Findings() | Draft():
            return {"step": type(step).__name__.lower(), **asdict(step)}
        case Heard():
            return {"step": "heard", "said": list(step.said)}
        case outcome:
            found = answer_object(outcome, limit=rows)
            return {"step": found["status"], **found}


def sound_steps(steps: Sequence[object]) -> tuple[tuple[Step, ...], str | None]:
    """Return the steps that can be written down, and how all are not what a method promises.

    The latter is None if they are: steps that JSON can hold, of which the last one, and no
    other, is an outcome, with a confidence between 0 and 1.
    """
    flaws = [_flaw_of(step) for step in steps]
    sound = tuple(
        step
        for step, flaw in zip(steps, flaws, strict=True)
        if flaw is None and isinstance(step, Step)
    )
    outcomes = sum(isinstance(step, Outcome) for step in steps)
    if any(flaws):
        return sound, next(filter(None, flaws))
    if not outcomes:
        return sound, "it ended without an answer, a refusal or a question back"
    if outcomes > 1 or not isinstance(steps[-1], Outcome):
        return sound, "it went on after its answer"
    return sound, None


def _flaw_of(step: object) -> str | None:
    if not isinstance(step, Step):
        return f"it gave a {type(step).__name__}, which is no step"
    try:
        json.dumps(step_object(step), allow_nan=False)
    except (AttributeError, TypeError, ValueError) as problem:
        return f"its {type(step).__name__} cannot be written as JSON: {problem}"
    best = attempt_of(step) if isinstance(step, Outcome) else None
    if best is not None and not 0 <= best.confidence <= 1:
        return f"its confidence is {best.confidence}, not between 0 and 1"
    return None


def _tool_use(use: ToolUse) -> Json:
    seen = use.observation
    return {
        "tool": use.tool,
        "arguments": {name: _beginning(one) for name, one in use.arguments.items()},
        "output": _beginning(seen.text),
        "failed": seen.failed,
        "query": seen.query,
        "rows": seen.rows,
        "seconds": use.seconds,
    }


def _prompt(prompt: Prompt) -> Json:
    messages = [
        {"role": type(message).__name__.lower(), "text": _beginning(message.text)}
        for message in prompt.messages
    ]
    tools = [tool.name for tool in prompt.tools]
    return {"purpose": prompt.purpose, "messages": messages, "tools": tools}


def _model_turn(turn: ModelTurn) -> Json:
    choice = turn.choice
    calls = [{"tool": one.name, "arguments": _beginning(one.arguments)} for one in choice.calls]
    return {
        "text": _beginning(choice.text or choice.refusal),
        "reasoning": _beginning(choice.reasoning),
        "calls": calls,
        "finish": choice.finish.value,
        "model": turn.model,
        "usage": asdict(turn.usage),
    }


def _beginning(value: object) -> object:
    if not isinstance(value, str) or len(value) <= TEXT:
        return value
    return f"{value[:TEXT]} … ({len(value) - TEXT:,} characters more)"


async def answer_all(
    questions: Sequence[GoldQuestion],
    answerer: Callable[[Question], Awaitable[Outcome]],
    out: Path,
    *,
    concurrency: int = 1,
    timeout: float | None = None,
    limit: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Write `{"id": …, …answer object}` for each question; return how many failed in this call.

    Ids that are in the file already are passed over, but for those that failed. A question fails
    if its answerer raises or takes longer than `timeout` seconds: its line is a refusal that
    also has an `error`, and the next call tries it again. Lines are on the disk as soon as they are
    there; killed at any moment, a later call goes on. `limit` caps the rows of a line. `progress`
    is told how many are done, and of how many.

    Raises `SetupError` if the file holds answers to other questions.
    """
    with LineFile(out) as lines:
        ids = [question.id for question in questions]
        _check(lines, set(ids))
        waiting = [q for q in questions if lines.lines.get(q.id, {"error": "none"}).get("error")]
        done, failed = len(questions) - len(waiting), 0

        async def answered(question: GoldQuestion) -> Json:
            return {"id": question.id, **await _answer(question, answerer, timeout, limit)}

        async with aclosing(completed(waiting, answered, concurrency=concurrency)) as stream:
            async for line in stream:
                lines.append(line)
                done, failed = done + 1, failed + ("error" in line)
                if progress:
                    progress(done, len(questions))
        lines.reorder(ids)
    return failed


def _check(lines: LineFile, ids: set[str]) -> None:
    for identity, line in lines.lines.items():
        if identity not in ids or "status" not in line:
            what = "is no answer" if identity in ids else "belongs to another file of questions"
            raise SetupError(
                f"{lines.path} is in use: its line {identity!r} {what}; "
                "name another file, or delete this one"
            )


async def _answer(
    question: GoldQuestion,
    answerer: Callable[[Question], Awaitable[Outcome]],
    timeout: float | None,
    limit: int | None,
) -> Json:
    start = time.perf_counter()
    try:
        async with asyncio.timeout(timeout):
            outcome = await answerer(Question(question.text, question.language))
        return answer_object(outcome, limit=limit)
    except SetupError:
        raise
    except TimeoutError:
        reason = f"no answer within {timeout} s"
    except AskgraphError as error:
        reason = f"{type(error).__name__}: {error}"
    except Exception as error:  # noqa: BLE001 - a method's bug costs its question, not the run
        reason = f"the method failed: {error!r}"
    refusal = Refusal(reason, usage=Usage(seconds=time.perf_counter() - start))
    return {**answer_object(refusal), "error": reason}


def answerer(
    method: Method, name: str, graphs: Sequence[KnowledgeGraph], *, language: str | None = None
) -> Callable[[Question], Awaitable[Outcome]]:
    """Return a function from a question to the outcome of this method over these graphs.

    `language` is that of questions that do not say theirs.
    """

    async def answer(question: Question) -> Outcome:
        asked = replace(question, language=question.language or language)
        return (await trace_of(asked, method=method, name=name, graphs=graphs)).outcome

    return answer
