"""Run a query: show its result, its faults, or the reason why it is empty."""

from dataclasses import replace
from typing import Annotated

from askgraph.methods.tools import Context, rendering
from askgraph.methods.tools import query_run as query_runs
from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.trace import Observation

__all__ = ["execute"]

_MAX_ROWS = 1_000
_PAGE_CLIP_RATIO = 32  # times as much of a text is shown on a page


async def execute(
    context: Context,
    query: Annotated[str, "SPARQL; known prefixes need no PREFIX"],
    page: Annotated[int, "which ten rows, from 1, texts long; 0: first and last"] = 0,
) -> Observation:
    """Run a SPARQL query and see its result.

    Repairs are made where possible and reported. At most 1,000 rows are fetched; of many, the first
    and the last are shown, or those of a page. A failed query comes with the place of the fault and
    the nearest valid names, an empty result with its reason, and IRIs that the run has not shown
    yet with a description.
    """
    execution = await query_runs.execute_query(context, query, rows=_MAX_ROWS)
    if isinstance(execution, Observation):
        return execution
    rendered = await render_execution(context, execution, page)
    query_runs.mark_as_read(context, execution.query_run.query, execution.query_run.result)
    return Observation(
        rendered.text,
        rendered.iris,
        query=execution.query_run.query,
        rows=query_runs.count_rows(execution.query_run),
    )


async def render_execution(
    context: Context, execution: query_runs.QueryExecution, page: int = 0
) -> rendering.RenderedText:
    """Render the repairs of a query, its result or a page of it, and the remark."""
    parts = [await _render_result(context, execution, page), execution.remark]
    texts = [*(f"({note})" for note in execution.notes), *(part.text for part in parts)]
    iris = tuple(dict.fromkeys(iri for part in parts for iri in part.iris))
    return rendering.RenderedText("\n".join(text for text in texts if text), iris)


async def _render_result(
    context: Context, execution: query_runs.QueryExecution, page: int
) -> rendering.RenderedText:
    match execution.query_run.result:
        case bool() as holds:
            return rendering.RenderedText("true" if holds else "false")
        case SelectResult() as result if page > 0:
            size, number = context.limits.rows, len(result.rows)
            pages = max(1, -(-number // size))
            if page > pages:
                return rendering.RenderedText(
                    f"there is no page {page}: {number:,} rows are {pages:,} of {size}"
                )
            rows = result.rows[size * (page - 1) : size * page]
            limits = replace(context.limits, clip=_PAGE_CLIP_RATIO * context.limits.clip)
            page_table = await rendering.render_table(
                replace(context, limits=limits), replace(result, rows=rows)
            )
            return replace(
                page_table,
                text=f"page {page:,} of {pages:,}, {number:,} rows in all: {page_table.text}",
            )
        case SelectResult() as result:
            return await rendering.render_table(context, result)
        case GraphResult() as result:
            return await rendering.render_triples(context, result)
