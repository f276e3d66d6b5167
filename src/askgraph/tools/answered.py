"""A query as an answer: its result, its words, its labels, and the triples behind its rows."""

from collections.abc import Sequence
from functools import partial

from askgraph.answers.build import AnswerBuilder
from askgraph.errors import QueryError
from askgraph.sparql.read import read
from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.tools import Context
from askgraph.tools._answer_columns import answer_columns
from askgraph.tools._empty import said_empty
from askgraph.tools.running import Ran, ready, run
from askgraph.trace import Answer

__all__ = ["MOST_ROWS", "answered", "built_answer"]

MOST_ROWS = 10_000


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
    shown = ran.result.variables if isinstance(ran.result, SelectResult) else ()
    if missing := [name for name in columns if name not in shown]:
        there = ", ".join(f"?{name}" for name in shown) or "none"
        raise QueryError(f"the result has no column ?{missing[0]}: the columns are {there}")
    if isinstance(ran.result, SelectResult) and not columns:
        columns = await answer_columns(context, ran.query, ran.result)
    timeout = context.limits.timeout
    builder = AnswerBuilder(
        context.graph,
        [context.language, "en"],
        timeout,
        evidence_seconds=timeout,
        reason=partial(_why_empty, context),
    )
    query, labels = await builder.layout(ran.query)
    return await builder.answer(
        query,
        ran.result,
        columns=columns,
        confidence=confidence,
        ordered=_is_ordered(ran.query),
        labels=labels,
    )


async def _why_empty(context: Context, query: str) -> str | None:
    return (await said_empty(context, query)).text or None


def _is_ordered(query: str) -> bool:
    try:
        return bool(read(query).order)
    except QueryError:
        return False
