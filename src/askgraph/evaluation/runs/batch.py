"""A batch of questions: one line of JSON each, in the order asked, whatever happens in between."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from askgraph.answers.codec import Json, answer_object
from askgraph.errors import AskgraphError, SetupError
from askgraph.evaluation.executors import completed
from askgraph.evaluation.files import LineFile
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.runs.one_question import trace_of
from askgraph.graph import KnowledgeGraph
from askgraph.methods import Method
from askgraph.trace import Outcome, Question, Refusal, Usage


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
