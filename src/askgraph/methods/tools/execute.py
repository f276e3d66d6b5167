"""Run a query: show its result, what is wrong with it, or why it has none."""

from dataclasses import replace
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
from askgraph.methods.tools.query_run import Executed, executed, ready, row_count, run, showed
from askgraph.methods.tools.rendering import Shown, body_lines, clipped, listed, table
from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.sparql.rewrite import formatted
from askgraph.trace import Observation

__all__ = ["execute", "why_empty"]

_ROWS = 1_000
_LONG = 32  # times as much of a text is shown on a page


async def execute(
    context: Context,
    query: Annotated[str, "SPARQL; known prefixes need no PREFIX"],
    page: Annotated[int, "which ten rows, from 1, texts long; 0: first and last"] = 0,
) -> Observation:
    """Run a SPARQL query and see its result.

    What can be repaired is, and the repair is told. At most 1,000 rows are taken, of many the first
    and the last are shown, or those of a page. A failed query
    comes with the place and the nearest valid names, an empty result with the reason for it, and
    IRIs that the run has not shown yet with what they are.
    """
    found = await executed(context, query, rows=_ROWS)
    if isinstance(found, Observation):
        return found
    parts = [await _shown(context, found, page), found.remark]
    showed(context, found.ran.query, found.ran.result)
    texts = [*(f"({note})" for note in found.notes), *(part.text for part in parts)]
    seen = tuple(dict.fromkeys(iri for part in parts for iri in part.seen))
    text = "\n".join(text for text in texts if text)
    return Observation(text, seen, query=found.ran.query, rows=row_count(found.ran))


async def _shown(context: Context, found: Executed, page: int) -> Shown:
    match found.ran.result:
        case bool() as holds:
            return Shown("true" if holds else "false")
        case SelectResult() as result if page > 0:
            return await _page(context, result, page)
        case SelectResult() as result:
            return await table(context, result)
        case GraphResult() as result:
            return await listed(context, result)


async def _page(context: Context, result: SelectResult, page: int) -> Shown:
    """Some rows of a result with more of their texts, and which they are."""
    size, number = context.limits.rows, len(result.rows)
    pages = max(1, -(-number // size))
    if page > pages:
        return Shown(f"there is no page {page}: {number:,} rows are {pages:,} of {size}")
    rows = result.rows[size * (page - 1) : size * page]
    limits = replace(context.limits, clip=_LONG * context.limits.clip)
    shown = await table(replace(context, limits=limits), replace(result, rows=rows))
    return replace(shown, text=f"page {page:,} of {pages:,}, {number:,} rows in all: {shown.text}")


_BUDGET = 24
_LONGEST = 800


async def why_empty(
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
        if ran.result is not False and row_count(ran):
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
        lines.append(on_one_line(found.reason))
    for one in found.suggestions if found else ():
        laid_out = formatted(one.query, context.graph.prefixes, {})
        changed = clipped(" ".join(map(str.strip, body_lines(laid_out))), _LONGEST)
        lines.append(f"{on_one_line(one.change)} ({one.results:,} rows): {changed}")
        seen += iris_of(one.query)
    if not lines:
        lines.append("no rows, and no part of the query could be found that is to blame")
    return Observation("\n".join(lines), tuple(dict.fromkeys(seen)), query=text, rows=0)
