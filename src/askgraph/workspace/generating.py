"""Examples for a graph that has none: drafted from its profile, kept where two readings agree.

A draft is a question from a template and the query that it was made for. It is kept where that
query gives a result and graph search, which knows nothing of the template, reads the question as a
query with the same result.
"""

import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from askgraph.errors import QueryError, ServiceError
from askgraph.metadata.examples import Confirmation, QueryExample
from askgraph.metadata.examples.drafts import Draft, drafts
from askgraph.metadata.examples.outcome import Outcome, Result, outcome_of, run
from askgraph.metadata.examples.repeats import plain_question
from askgraph.sparql.results import Row, SelectResult, value_of
from askgraph.trace import Answer, Question
from askgraph.workspace import Progress, Workspace, silent
from askgraph.workspace.answering import outcome_of as answer_of
from askgraph.workspace.examples import keep
from askgraph.workspace.running import result_of

if TYPE_CHECKING:
    from askgraph.graph import KnowledgeGraph
    from askgraph.methods import Method

__all__ = ["Generated", "generate"]

_ROWS = 1000
_QUERY_SECONDS = 5.0
_DRAFTS_FOR_ONE = 20


@dataclass(frozen=True)
class Generated:
    """The examples that were kept, of how many drafts, and why no more were made."""

    graph: str
    examples: tuple[QueryExample, ...]
    drafted: int
    ended: str


def generate(
    workspace: Workspace,
    graph: str | None = None,
    *,
    number: int = 20,
    seconds: float = 60.0,
    seed: int = 0,
    progress: Progress = silent,
) -> Generated:
    """Make examples of a graph and write them, marked as generated, into its folder.

    At most `number` new ones are made, from twenty times as many drafts, within about `seconds`.
    Questions that the graph has examples of already are passed over. The same graph and seed give
    the same examples. Raises `ServiceError` where the graph does not answer.
    """
    method = workspace.method()
    opened = workspace.graph(graph, progress=progress)
    made = result_of(_generated(opened, method, number, seconds, seed, progress))
    if made.examples:
        keep(workspace, opened.name, made.examples)
    return made


async def _generated(
    graph: "KnowledgeGraph",
    method: "Method",
    number: int,
    seconds: float,
    seed: int,
    progress: Progress,
) -> Generated:
    end = time.monotonic() + seconds
    known = {plain_question(w.text) for example in graph.examples for w in example.wordings}
    kept: list[QueryExample] = []
    drafted, ended = 0, "there is nothing more to ask of it"
    try:
        stream = drafts(graph.profile, graph.endpoint, graph.prefixes, seed=seed)
        async with aclosing(stream) as given:
            async for draft in given:
                if len(kept) == number or drafted == number * _DRAFTS_FOR_ONE:
                    ended = f"{len(kept)} of {number} were found"
                    break
                if time.monotonic() > end:
                    ended = f"{seconds:g} seconds were over"
                    break
                if plain_question(draft.question) in known:
                    continue
                known.add(plain_question(draft.question))
                drafted += 1
                progress(f"reading {draft.question}", len(kept), number)
                if example := await _agreed(draft, graph, method):
                    kept.append(example)
    finally:
        await graph.endpoint.close()
    return Generated(graph.name, tuple(kept), drafted, ended)


async def _agreed(draft: Draft, graph: "KnowledgeGraph", method: "Method") -> QueryExample | None:
    """The draft as an example, where graph search finds the same by its question alone."""
    try:
        found = [(query, await _result(query, graph)) for query in draft.queries]
        if not any(map(_tells, (result for _, result in found))):
            return None
        question = Question(draft.question, "en")
        answer = await answer_of(question, method, [graph], timeout=2 * _QUERY_SECONDS)
    except (QueryError, ServiceError):
        return None
    for query, result in found:
        outcome = outcome_of(result)
        agree = isinstance(answer, Answer) and _tells(result) and _same(answer, result)
        if agree and outcome.digest is not None:
            return _example(draft, query, graph, outcome)
    return None


async def _result(query: str, graph: "KnowledgeGraph") -> Result:
    return await run(graph.endpoint, query, timeout=_QUERY_SECONDS, limit=_ROWS)


def _example(draft: Draft, query: str, graph: "KnowledgeGraph", outcome: Outcome) -> QueryExample:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return QueryExample(
        draft.question,
        query,
        "en",
        keywords=(draft.kind,),
        origin="generated",
        confirmation=Confirmation(now, graph.name, graph.snapshot, outcome.rows, outcome.digest),
    )


def _tells(result: Result) -> bool:
    """Whether a result tells something: a row with a value that is not the number zero."""
    if not isinstance(result, SelectResult):
        return result is True
    return any(value_of(term) not in (None, "0") for row in result.rows for term in row)


def _same(answer: Answer, result: Result) -> bool:
    """Whether an answer says what a result does, its columns in any order, without repetition."""
    if answer.boolean is not None or not isinstance(result, SelectResult):
        return answer.boolean is result
    at = [answer.result.variables.index(column) for column in answer.answer_columns]
    return _values([tuple(row[i] for i in at) for row in answer.result.rows]) == _values(
        result.rows
    )


def _values(rows: Sequence[Row]) -> Outcome:
    distinct = {tuple(sorted(row, key=str)) for row in rows}
    return outcome_of(SelectResult((), tuple(distinct)))
