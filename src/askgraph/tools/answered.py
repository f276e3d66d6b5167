"""A query as an answer: its result, its words, its labels, and the triples behind its rows."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from pyoxigraph import NamedNode

from askgraph.errors import QueryError, ServiceError
from askgraph.explanation.evidence import evidence
from askgraph.explanation.verbalise import in_words, iris_of
from askgraph.sparql.format import formatted
from askgraph.sparql.reader import read
from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.tools import Context
from askgraph.tools._answer_columns import answer_columns
from askgraph.tools._empty import said_empty
from askgraph.tools.running import Ran, ready, run
from askgraph.tools.shown import labels_in
from askgraph.trace import Answer

__all__ = ["MOST_ROWS", "answered", "built_answer"]

MOST_ROWS = 10_000
_LABELLED = 200
_EVIDENCE = 3


async def answered(
    context: Context, query: str, columns: Sequence[str] = (), *, confidence: float
) -> Answer:
    """Run a query and return what it gives as an answer; repaired first, where it has to be.

    Of the `columns`, those that the result does not have are passed over. Raises `QueryError` for a
    query that gives triples, and that and `ServiceError` where the query fails.
    """
    ran = await run(context, ready(context, query).query, rows=MOST_ROWS)
    shown = ran.result.variables if isinstance(ran.result, SelectResult) else ()
    there = [name for name in columns if name in shown]
    return await built_answer(context, ran, there, confidence=confidence)


async def built_answer(
    context: Context, ran: Ran, columns: Sequence[str] = (), *, confidence: float
) -> Answer:
    """Return an answer from a query that was run; without `columns`, the question tells them.

    Where it tells none, all of them answer. Rows without an order in the query come in that of
    their terms. The triples behind the first three rows are fetched, or the reason why there is no
    row; where that takes too long or fails, the answer does without. Raises `QueryError` for a
    query that gives triples, and for a column that the result does not have.
    """
    if isinstance(ran.result, GraphResult):
        raise QueryError("an answer is the result of a SELECT or an ASK query: write one of these")
    boolean = ran.result if isinstance(ran.result, bool) else None
    result = ran.result if isinstance(ran.result, SelectResult) else SelectResult((), ())
    if missing := [name for name in columns if name not in result.variables]:
        there = ", ".join(f"?{name}" for name in result.variables) or "none"
        raise QueryError(f"the result has no column ?{missing[0]}: the columns are {there}")
    ordered = _is_ordered(ran.query)
    result = result if ordered else result.sorted()
    resources = [
        term.value for row in result.rows[:_LABELLED] for term in row if isinstance(term, NamedNode)
    ]
    graph = context.graph
    labels = await labels_in(context, iris_of(ran.query))
    text = formatted(ran.query, graph.prefixes, labels)
    labels |= await labels_in(context, resources)
    answer = Answer(
        query=text,
        graph=graph.name,
        result=result,
        answer_columns=tuple(columns) or await answer_columns(context, ran.query, result),
        words=in_words(text, labels, language=context.language),
        confidence=round(confidence, 4),
        boolean=boolean,
        ordered=ordered,
        labels=labels,
    )
    return answer if boolean is not None else await _explained(context, answer)


def _is_ordered(query: str) -> bool:
    try:
        return bool(read(query).order)
    except QueryError:
        return False


async def _explained(context: Context, answer: Answer) -> Answer:
    """Add the triples behind the first rows, or why there are none."""
    if not answer.result.rows:
        return replace(answer, why_empty=(await said_empty(context, answer.query)).text or None)
    endpoint = context.graph.endpoint
    try:
        async with asyncio.timeout(context.limits.timeout):
            behind = await evidence(answer.query, answer.result, endpoint, rows=_EVIDENCE)
    except (ServiceError, TimeoutError):
        return answer  # the result is there, and what is behind it is a courtesy
    unnamed = [iri for iri in behind.iris if iri not in answer.labels]
    labels = answer.labels | await labels_in(context, unnamed)
    return replace(answer, evidence=behind.told(labels), labels=labels)
