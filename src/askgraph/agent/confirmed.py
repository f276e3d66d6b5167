"""Confirmed answers: the same question gets its confirmed query again, without a model."""

import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

from askgraph.endpoint import Counted
from askgraph.errors import QueryError, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.metadata.examples import QueryExample, confirmed_repeat, outcome_of, what_changed
from askgraph.tools import Context, Limits
from askgraph.tools.query_run import answered
from askgraph.trace import Answer, Confirmed, Question, Thought, Usage

_SECONDS = 60.0  # as long as the query may take when it is confirmed


async def confirmed_steps(
    question: Question, graphs: Sequence[KnowledgeGraph]
) -> AsyncGenerator[Thought | Answer, None]:
    """Yield the answer of a confirmed query to the same question, as its graph has it now.

    If several graphs have one, the one confirmed last goes first. A thought says which query can
    no longer be used: it fails, or had a result and has none now. Nothing comes if nobody
    confirmed an answer, and for a question that goes on from an earlier one.
    """
    for graph, example in _repeats(question, graphs):
        started = time.perf_counter()
        endpoint = Counted(graph.endpoint)
        context = Context(replace(graph, endpoint=endpoint), question, Limits(timeout=_SECONDS))
        try:
            answer = await answered(context, example.query, confidence=1.0)
        except (QueryError, ServiceError) as problem:
            yield _unused(example, str(problem))
            continue
        answer = replace(
            answer,
            confirmed=_confirmed(example, answer),
            usage=Usage(time.perf_counter() - started, endpoint.requests),
        )
        if _has_dried_up(example, answer):
            yield _unused(example, "it has no result any more")
            continue
        yield answer
        return


def _repeats(
    question: Question, graphs: Sequence[KnowledgeGraph]
) -> list[tuple[KnowledgeGraph, QueryExample]]:
    if question.before:
        return []
    found = (
        (graph, confirmed_repeat(question.text, question.language, graph.examples))
        for graph in graphs
    )
    known = [(graph, example) for graph, example in found if example is not None]
    return sorted(known, key=lambda one: _when(one[1]), reverse=True)


def _confirmed(example: QueryExample, answer: Answer) -> Confirmed:
    change = None
    if example.confirmation and not answer.result.truncated:
        result = answer.result if answer.boolean is None else answer.boolean
        change = what_changed(example.confirmation, outcome_of(result))
    by = example.confirmation.by if example.confirmation else None
    return Confirmed(example.question, _when(example), by, example.iri, change)


def _has_dried_up(example: QueryExample, answer: Answer) -> bool:
    had = example.confirmation is not None and example.confirmation.rows > 0
    return had and answer.is_empty


def _unused(example: QueryExample, why: str) -> Thought:
    return Thought(f"The confirmed query of {example.question!r} is not used: {why}")


def _when(example: QueryExample) -> str:
    return example.confirmation.when if example.confirmation else ""
