"""End a run without an answer."""

from typing import Annotated

from askgraph.errors import QueryError, ServiceError
from askgraph.methods.tools import Context
from askgraph.methods.tools.query_run import answered
from askgraph.methods.tools.rendering import clipped
from askgraph.trace import Observation

__all__ = ["cancel"]

_CONFIDENCE = 0.1
_LONGEST = 2_000


async def cancel(
    context: Context,
    reason: Annotated[str, "why, for the asker"],
    query: Annotated[str | None, "best attempt, SPARQL"] = None,
) -> Observation:
    """Give up, where the graph cannot answer; ends the run.

    The observation has the best attempt as its answer if the query runs.
    """
    text = clipped(reason.strip(), _LONGEST) or "The graph does not answer the question."
    if not query or not query.strip():
        return Observation(text, ends="cancel")
    try:
        best = await answered(context, query, confidence=_CONFIDENCE)
    except (QueryError, ServiceError) as problem:
        why = clipped(str(problem), _LONGEST)
        return Observation(f"{text}\n(The best attempt failed: {why})", ends="cancel")
    rows = 1 if best.boolean is not None else len(best.result.rows)
    return Observation(text, query=best.query, rows=rows, ends="cancel", answer=best)
