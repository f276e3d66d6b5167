"""Tell why a query has no result, and which small changes give one."""

from typing import Annotated

from askgraph.answers.verbalize import iris_of
from askgraph.errors import QueryError, ServiceError
from askgraph.methods.tools import Context
from askgraph.methods.tools.query_faults import (
    emptiness_of,
    on_one_line,
    said_failure,
    said_fault,
    said_unknown,
    unknown_in,
)
from askgraph.methods.tools.query_run import Ran, ready, run
from askgraph.methods.tools.rendering import clipped
from askgraph.sparql.layout import formatted
from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.trace import Observation

__all__ = ["explain_empty"]

_BUDGET = 24
_LONGEST = 800


async def explain_empty(
    context: Context, query: Annotated[str, "SPARQL without a result"]
) -> Observation:
    """Find what in a query leaves no result, and changes that give one.

    Names that the graph does not hold come first, with the nearest that it does; then the part of
    the query that nothing matches, and at most three changed queries with their numbers of rows. At
    most 24 requests are made.
    """
    text = ready(context, query).query
    try:
        ran = await run(context, text, rows=1)
        if not _is_empty(ran):
            return Observation("the query has a result: run it", query=text, rows=1)
        unknown = await unknown_in(context, text)
        said = await said_unknown(context, text, unknown)
        found = await emptiness_of(context, text, budget=_BUDGET)
    except QueryError as problem:
        fault = await said_fault(context, text, problem)
        return Observation(f"the query failed: {fault.text}", fault.seen, failed=True)
    except ServiceError as problem:
        return Observation(f"the query failed: {said_failure(problem)}", failed=True)
    lines, seen = [said.text] if unknown else [], list(said.seen)
    if found is not None:
        lines.append(on_one_line(context, found.reason, text))
    for one in found.suggestions if found else ():
        changed = _shown_query(context, one.query)
        rows = f" ({one.results:,} rows)" if context.veil is None or context.veil.rows else ""
        lines.append(f"{on_one_line(context, one.change, one.query)}{rows}: {changed}")
        seen += iris_of(one.query)
    if not lines:
        lines.append("no rows, and no part of the query could be found that is to blame")
    return Observation("\n".join(lines), tuple(dict.fromkeys(seen)), query=text, rows=0)


def _is_empty(ran: Ran) -> bool:
    match ran.result:
        case bool():
            return not ran.result
        case SelectResult():
            return not ran.result.rows
        case GraphResult():
            return not ran.result.triples


def _shown_query(context: Context, query: str) -> str:
    """A query without its PREFIX lines, clipped."""
    lines = formatted(query, context.graph.prefixes, {}).splitlines()
    kept = " ".join(line.strip() for line in lines if not line.startswith("PREFIX "))
    return clipped(kept if context.veil is None else context.veil.query(kept), _LONGEST)
