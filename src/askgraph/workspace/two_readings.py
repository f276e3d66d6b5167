"""Whether two readings of a question agree: what a query gives, and what was answered."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from askgraph.explanation.verbalise import iris_of
from askgraph.metadata.examples.drafts import Draft
from askgraph.metadata.examples.outcome import Outcome, Result, outcome_of, run
from askgraph.sparql.results import Row, SelectResult, value_of
from askgraph.trace import Answer
from askgraph.trace import Outcome as Answered

if TYPE_CHECKING:
    from askgraph.graph import KnowledgeGraph

__all__ = ["SECONDS", "results_of", "same", "tells"]

SECONDS = 5.0
"""For each query."""

_ROWS = 1000


async def results_of(draft: Draft, graph: "KnowledgeGraph") -> list[tuple[str, Result]]:
    """Return the queries of a draft with what they give, those that tell something.

    None does where two things share the best value: the answer would be one of them by chance.
    Raises `QueryError` and `ServiceError` as the endpoint does.
    """
    found = [(query, await _result(query, graph)) for query in draft.queries]
    told = [(query, result) for query, result in found if tells(result)]
    return [] if told and draft.tie and await _tied(draft, graph) else told


def tells(result: Result) -> bool:
    """Whether a result tells something: a row with a value that is not the number zero."""
    if not isinstance(result, SelectResult):
        return isinstance(result, bool)
    return any(value_of(term) not in (None, "0") for row in result.rows for term in row)


def same(answered: Answered, query: str, result: Result) -> bool:
    """Whether an answer says what a query gave, its columns in any order, without repetition.

    One column of several may be the answer. A no has many reasons: it is the same where it is said
    of the same things.
    """
    if not isinstance(answered, Answer):
        return False
    if result is False:
        there = set(iris_of(answered.query))
        return answered.boolean is False and there.issuperset(iris_of(query))
    if answered.boolean is not None or not isinstance(result, SelectResult):
        return answered.boolean is result
    rows = answered.result.rows
    at = [answered.result.variables.index(column) for column in answered.answer_columns]
    ways = [at, *([one] for one in at)] if len(result.variables) == 1 < len(at) else [at]
    wanted = _values(result.rows)
    return any(_values([tuple(row[i] for i in way) for row in rows]) == wanted for way in ways)


async def _result(query: str, graph: "KnowledgeGraph") -> Result:
    return await run(graph.endpoint, query, timeout=SECONDS, limit=_ROWS)


async def _tied(draft: Draft, graph: "KnowledgeGraph") -> bool:
    best = await _result(draft.tie, graph)
    return isinstance(best, SelectResult) and len(set(best.rows)) < len(best.rows)


def _values(rows: Sequence[Row]) -> Outcome:
    distinct = {tuple(sorted(row, key=str)) for row in rows}
    return outcome_of(SelectResult((), tuple(distinct)))
