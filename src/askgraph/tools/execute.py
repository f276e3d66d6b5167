"""Run a query and show its result, or what is wrong with it."""

from typing import Annotated

from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.tools import Context
from askgraph.tools.query_run import Executed, executed, row_count
from askgraph.tools.shown import Shown, listed, table
from askgraph.trace import Observation

__all__ = ["execute"]

_ROWS = 1_000


async def execute(
    context: Context, query: Annotated[str, "SPARQL; known prefixes need no PREFIX"]
) -> Observation:
    """Run a SPARQL query and see its result.

    What can be repaired is, and the repair is told. At most 1,000 rows are taken. A failed query
    comes with the place and the nearest valid names, an empty result with the reason for it, and
    IRIs that the run has not shown yet with what they are.
    """
    found = await executed(context, query, rows=_ROWS)
    if isinstance(found, Observation):
        return found
    parts = [await _shown(context, found), found.remark]
    texts = [*(f"({note})" for note in found.notes), *(part.text for part in parts)]
    seen = tuple(dict.fromkeys(iri for part in parts for iri in part.seen))
    text = "\n".join(text for text in texts if text)
    return Observation(text, seen, query=found.ran.query, rows=row_count(found.ran))


async def _shown(context: Context, found: Executed) -> Shown:
    match found.ran.result:
        case bool() as holds:
            return Shown("true" if holds else "false")
        case SelectResult() as result:
            return await table(context, result)
        case GraphResult() as result:
            return await listed(context, result)
