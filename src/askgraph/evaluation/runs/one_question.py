"""One question of a run: ask it, retry on failure, and score the answer.

A failed question scores 0 and keeps its reason. So does a question whose gold query fails, unless
its gold answer is stored.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from askgraph import trace
from askgraph.answers.codec import Json, get_status, to_json_object
from askgraph.endpoint import Endpoint
from askgraph.errors import AskgraphError, ServiceError, SetupError
from askgraph.evaluation import ResultTable
from askgraph.evaluation.executors import is_cancelling, run_concurrently
from askgraph.evaluation.files import LineFile
from askgraph.evaluation.metrics import extract_links
from askgraph.evaluation.metrics.sets import best_column
from askgraph.evaluation.questions import GoldQuestion, load_answer_table, run_query
from askgraph.evaluation.runs import Done, Task
from askgraph.evaluation.runs.scores import (
    ScoredAnswer,
    build_result,
    format_error,
    score_answer,
    score_links,
)
from askgraph.graph import KnowledgeGraph
from askgraph.methods import Method, answer_with_deadline, expand_virtual_predicates
from askgraph.methods.tools.replay import record_graph_responses

Asker = Callable[[trace.Question, list[trace.Step]], Awaitable[None]]
"""Answers a question and appends each step to the list; may raise."""

DRAFT_TIMEOUT_SECONDS = 10.0


async def asked(
    task: Task,
    ask: Asker,
    endpoint: Endpoint,
    *,
    graph: str = "",
    prefixes: Mapping[str, str] | None = None,
) -> Done:
    """Ask the question of a task and score the answer; gold runs on the same endpoint.

    Args:
        endpoint: Where gold queries and answers run.
        prefixes: Prefixes that queries may use without declaring them.

    Raises:
        SetupError: The operator must fix something.
        Unreachable: Gold cannot be loaded.
        Unauthorised: Gold cannot be loaded.
    """
    all_prefixes = {**dict(task.prefixes), **(prefixes or {})}
    attempt = await _ask_with_retries(task, ask, all_prefixes)
    scored_answer = await _score_attempt(task, attempt, endpoint, all_prefixes)
    best_answer, question = attempt.best, task.question
    sparql = best_answer.query if best_answer else None
    scored_query = sparql if attempt.status == "answer" or not task.options.abstain else None
    linking_scores = score_links(scored_query, question.sparql, prefixes=prefixes)
    return build_result(
        task,
        replace(scored_answer, scores={**scored_answer.scores, **linking_scores}),
        status=attempt.status,
        confidence=best_answer.confidence if best_answer else 0.0,
        sparql=sparql,
        usage=attempt.usage,
        seconds=round(attempt.seconds, 6),
        graph=graph,
        prefixes=all_prefixes,
        error=attempt.error,
        attempts=attempt.number,
        steps=tuple(to_step_object(step) for step in attempt.steps),
    )


async def trace_of(
    question: trace.Question, *, method: Method, name: str, graphs: Sequence[KnowledgeGraph]
) -> trace.Trace:
    """Answer one question and return all steps, with what a replay needs."""
    stream = record_graph_responses(answer_with_deadline(method, question, graphs), graphs)
    async with aclosing(stream):
        steps = [expand_virtual_predicates(step, graphs) async for step in stream]
    return trace.Trace(question, name, tuple(steps))


async def collect_steps(
    question: trace.Question,
    steps: list[trace.Step],
    *,
    method: Method,
    graphs: Sequence[KnowledgeGraph],
) -> None:
    """Answer one question and append each step to the list, which survives an error."""
    async with aclosing(answer_with_deadline(method, question, graphs)) as stream:
        async for step in stream:
            steps.append(expand_virtual_predicates(step, graphs))


@dataclass(frozen=True)
class _AttemptResult:
    """The steps or error of the last attempt; costs are those of all attempts."""

    steps: tuple[trace.Step, ...]
    number: int
    seconds: float
    usage: trace.Usage
    error: str | None = None

    @property
    def outcome(self) -> trace.Outcome | None:
        last = self.steps[-1] if self.steps and self.error is None else None
        return last if isinstance(last, trace.Outcome) else None

    @property
    def best(self) -> trace.Answer | None:
        return trace.get_attempt(self.outcome) if self.outcome else None

    @property
    def status(self) -> str:
        return get_status(self.outcome) if self.outcome else "error"


async def _ask_with_retries(task: Task, ask: Asker, prefixes: Mapping[str, str]) -> _AttemptResult:
    gold = task.question
    language = gold.language or task.options.language
    links = get_gold_links(gold, prefixes=prefixes) if task.gold_links else None
    question = trace.Question(gold.text, language, given=links)
    seconds, usage = 0.0, trace.Usage()
    for number in range(1, task.options.retries + 2):
        steps, error, duration, should_retry = await _ask_once(task, question, ask)
        seconds, usage = seconds + duration, usage + trace.compute_usage(steps)
        if not should_retry or number > task.options.retries:
            break
    return _AttemptResult(steps, number, seconds, usage, error)


def get_gold_links(
    question: GoldQuestion, *, prefixes: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Return the IRIs of entities, classes and relations: the benchmark's own, else the query's.

    Empty if neither has any. The query may use `prefixes` without declaring them.
    """
    benchmark_links = (*question.entities, *question.predicates)
    if benchmark_links:
        return tuple(dict.fromkeys(benchmark_links))
    query_links = extract_links(question.sparql, prefixes=prefixes)
    return (*sorted(query_links.entities), *sorted(query_links.predicates))


async def _ask_once(
    task: Task, question: trace.Question, ask: Asker
) -> tuple[tuple[trace.Step, ...], str | None, float, bool]:
    """Return the steps, the error, the duration in seconds, and whether to try again."""
    timeout = task.options.timeout
    steps: list[trace.Step] = []
    error: str | None = None
    should_retry = True
    start = time.perf_counter()
    clock = asyncio.timeout(timeout)
    try:
        async with clock:
            await ask(question, steps)
    except SetupError:
        raise
    except AskgraphError as failure:
        error, should_retry = format_error(failure), isinstance(failure, ServiceError)
    except asyncio.CancelledError:
        if is_cancelling():
            raise
        error = "the method failed: it cancelled its own task"
    except Exception as failure:  # noqa: BLE001 - a method's bug costs its question, not the run
        error = f"the method failed: {failure!r}"
    duration = time.perf_counter() - start
    if clock.expired() or (
        timeout is not None and duration > timeout
    ):  # one that never waits is not cut
        error, should_retry = f"no answer within {timeout} s", True
    valid_steps, defect = check_steps(steps)
    if error is None and defect is not None:
        error = f"the method failed: {defect}"
    return valid_steps, error, duration, should_retry and error is not None


async def _score_attempt(
    task: Task, attempt: _AttemptResult, endpoint: Endpoint, prefixes: Mapping[str, str]
) -> ScoredAnswer:
    async def load_prediction() -> ResultTable | None:
        if attempt.best is None or task.question.unanswerable:
            return None
        return await load_answer_table(attempt.best, endpoint, timeout=task.options.gold_timeout)

    scored_answer = await score_answer(task, attempt.status, load_prediction, endpoint, prefixes)
    if scored_answer.gold is None:
        return scored_answer
    # The F1 of each of the best candidates; a failed one scores 0.
    drafts = [step for step in attempt.steps if isinstance(step, trace.Draft)]
    scores = []
    for draft in sorted(drafts, key=lambda draft: -draft.score)[: task.options.drafts]:
        try:
            table = await run_query(draft.query, endpoint, timeout=DRAFT_TIMEOUT_SECONDS)
        except AskgraphError:
            scores.append(0.0)
        else:
            scores.append(round(best_column(table, scored_answer.gold).f1, 9))
    return replace(scored_answer, drafts=tuple(scores))


MAX_ROWS = 20
MAX_TEXT_CHARACTERS = 8_000  # characters to store of a prompt, a reply or a tool's output


def to_step_object(step: trace.Step, *, max_rows: int = MAX_ROWS) -> Json:
    """Return a step as a JSON object whose `step` names its kind; long texts are truncated.

    `thought`, `findings` and `draft` have the fields of their classes; `answer`, `clarification`
    and `refusal` are the answer object with the first rows of the result. `prompt` has `purpose`,
    `messages` (role and text) and the names of its `tools`; `model_turn` has `text`, `reasoning`,
    `calls` (tool and arguments as written), `finish`, `model` and `usage`; `tool_use` has `tool`,
    `arguments`, `output`, `failed`, `query`, `rows` and `seconds`. `askgraph.trace.codec` writes
    complete traces.
    """
    match step:
        case trace.ToolUse():
            observation = step.observation
            return {
                "step": "tool_use",
                "tool": step.tool,
                "arguments": {name: _truncate(value) for name, value in step.arguments.items()},
                "output": _truncate(observation.text),
                "failed": observation.failed,
                "query": observation.query,
                "rows": observation.rows,
                "seconds": step.seconds,
            }
        case trace.Prompt():
            messages = [
                {"role": type(message).__name__.lower(), "text": _truncate(message.text)}
                for message in step.messages
            ]
            tools = [tool.name for tool in step.tools]
            content = {"purpose": step.purpose, "messages": messages, "tools": tools}
            return {"step": "prompt", **content}
        case trace.ModelTurn():
            choice = step.choice
            calls = [
                {"tool": call.name, "arguments": _truncate(call.arguments)} for call in choice.calls
            ]
            return {
                "step": "model_turn",
                "text": _truncate(choice.text or choice.refusal),
                "reasoning": _truncate(choice.reasoning),
                "calls": calls,
                "finish": choice.finish.value,
                "model": step.model,
                "usage": asdict(step.usage),
            }
        case trace.Thought() | trace.Findings() | trace.Draft():
            return {"step": type(step).__name__.lower(), **asdict(step)}
        case trace.Heard():
            return {"step": "heard", "said": list(step.said)}
        case outcome:
            answer = to_json_object(outcome, limit=max_rows)
            return {"step": answer["status"], **answer}


def check_steps(steps: Sequence[object]) -> tuple[tuple[trace.Step, ...], str | None]:
    """Return the steps that JSON can represent, and how the steps break a method's contract.

    The second value is None for steps that JSON can represent, of which the last one, and no other,
    is an outcome, with a confidence between 0 and 1.
    """
    defects = [_find_defect(step) for step in steps]
    valid_steps = tuple(
        step
        for step, defect in zip(steps, defects, strict=True)
        if defect is None and isinstance(step, trace.Step)
    )
    outcome_count = sum(isinstance(step, trace.Outcome) for step in steps)
    if any(defects):
        return valid_steps, next(filter(None, defects))
    if not outcome_count:
        return valid_steps, "it ended without an answer, a refusal or a question back"
    if outcome_count > 1 or not isinstance(steps[-1], trace.Outcome):
        return valid_steps, "it went on after its answer"
    return valid_steps, None


def _find_defect(step: object) -> str | None:
    if not isinstance(step, trace.Step):
        return f"it yielded a {type(step).__name__}, which is not a step"
    try:
        json.dumps(to_step_object(step), allow_nan=False)
    except (AttributeError, TypeError, ValueError) as error:
        return f"its {type(step).__name__} cannot be written as JSON: {error}"
    answer = trace.get_attempt(step) if isinstance(step, trace.Outcome) else None
    if answer is not None and not 0 <= answer.confidence <= 1:
        return f"its confidence is {answer.confidence}, not between 0 and 1"
    return None


def _truncate(value: object) -> object:
    if not isinstance(value, str) or len(value) <= MAX_TEXT_CHARACTERS:
        return value
    return f"{value[:MAX_TEXT_CHARACTERS]} … ({len(value) - MAX_TEXT_CHARACTERS:,} characters more)"


async def answer_all(
    questions: Sequence[GoldQuestion],
    answerer: Callable[[trace.Question], Awaitable[trace.Outcome]],
    output_path: Path,
    *,
    concurrency: int = 1,
    timeout: float | None = None,
    max_rows: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Write `{"id": …, …answer object}` for each question; return the number of failures.

    Each line is durable once written, so a killed call can be resumed: answered ids are skipped and
    failed ones retried. A question fails if its answerer raises or exceeds the timeout; its line is
    a refusal that also has an `error`.

    Args:
        answerer: Answers one question.
        output_path: The file of answers.
        concurrency: Number of questions that run at once.
        timeout: Limit in seconds per question.
        max_rows: Maximum number of rows per answer; None for all.
        progress: Called with the number of finished questions and of all questions.

    Raises:
        SetupError: The file holds answers to other questions.
    """
    with LineFile(output_path) as lines:
        ids = [question.id for question in questions]
        _check_answer_file(lines, set(ids))
        pending = [
            question
            for question in questions
            if lines.lines.get(question.id, {"error": "none"}).get("error")
        ]
        done_count, failed_count = len(questions) - len(pending), 0

        async def answer_question(question: GoldQuestion) -> Json:
            return {
                "id": question.id,
                **await _answer_question(question, answerer, timeout, max_rows),
            }

        async with aclosing(
            run_concurrently(pending, answer_question, concurrency=concurrency)
        ) as stream:
            async for line in stream:
                lines.append(line)
                done_count, failed_count = done_count + 1, failed_count + ("error" in line)
                if progress:
                    progress(done_count, len(questions))
        lines.reorder(ids)
    return failed_count


def _check_answer_file(lines: LineFile, ids: set[str]) -> None:
    for identity, line in lines.lines.items():
        if identity not in ids or "status" not in line:
            problem = (
                "is not an answer" if identity in ids else "belongs to another file of questions"
            )
            raise SetupError(
                f"{lines.path} is in use: its line {identity!r} {problem}; "
                "name another file, or delete this one"
            )


async def _answer_question(
    question: GoldQuestion,
    answerer: Callable[[trace.Question], Awaitable[trace.Outcome]],
    timeout: float | None,
    limit: int | None,
) -> Json:
    start = time.perf_counter()
    try:
        async with asyncio.timeout(timeout):
            outcome = await answerer(trace.Question(question.text, question.language))
        return to_json_object(outcome, limit=limit)
    except SetupError:
        raise
    except TimeoutError:
        reason = f"no answer within {timeout} s"
    except AskgraphError as error:
        reason = f"{type(error).__name__}: {error}"
    except Exception as error:  # noqa: BLE001 - a method's bug costs its question, not the run
        reason = f"the method failed: {error!r}"
    refusal = trace.Refusal(reason, usage=trace.Usage(seconds=time.perf_counter() - start))
    return {**to_json_object(refusal), "error": reason}


def build_answerer(
    method: Method, name: str, graphs: Sequence[KnowledgeGraph], *, language: str | None = None
) -> Callable[[trace.Question], Awaitable[trace.Outcome]]:
    """Build a function from a question to the outcome of this method over these graphs.

    `language` applies to questions without a language.
    """

    async def answer(question: trace.Question) -> trace.Outcome:
        localized_question = replace(question, language=question.language or language)
        return (await trace_of(localized_question, method=method, name=name, graphs=graphs)).outcome

    return answer
