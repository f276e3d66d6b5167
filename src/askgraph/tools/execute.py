"""Run a query and show its result, or what is wrong with it."""

from typing import Annotated

from askgraph.errors import QueryError, ServiceError
from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.tools import Context
from askgraph.tools._empty import said_empty
from askgraph.tools._fault import said_fault, said_unknown, unknown_in
from askgraph.tools._unseen import said_unseen, unseen_in
from askgraph.tools.running import Ran, ready, run, said_failure
from askgraph.tools.tables import Shown, listed, table
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
    repaired = ready(context, query)
    try:
        ran = await run(context, repaired.query, rows=_ROWS)
    except QueryError as problem:
        fault = await said_fault(context, repaired.query, problem)
        return Observation(f"the query failed: {fault.text}", fault.seen, failed=True)
    except ServiceError as problem:
        return Observation(f"the query failed: {said_failure(problem)}", failed=True)
    parts = [await _shown(context, ran), await _remark(context, ran)]
    texts = [*(f"({note})" for note in repaired.notes), *(part.text for part in parts)]
    seen = tuple(dict.fromkeys(iri for part in parts for iri in part.seen))
    text = "\n".join(text for text in texts if text)
    return Observation(text, seen, query=ran.query, rows=_rows(ran))


async def _shown(context: Context, ran: Ran) -> Shown:
    match ran.result:
        case bool():
            return Shown("true" if ran.result else "false")
        case SelectResult():
            return await table(context, ran.result)
        case GraphResult():
            return await listed(context, ran.result)


async def _remark(context: Context, ran: Ran) -> Shown:
    """Why there is nothing, or what the IRIs are that the query was the first to name."""
    if not _rows(ran) or ran.result is False:
        return await said_empty(context, ran.query)
    unseen = unseen_in(context, ran.query)
    if not unseen:
        return Shown("")
    try:
        unknown = await unknown_in(context, ran.query)
        strange = await said_unknown(context, ran.query, unknown)
        known = tuple(iri for iri in unseen if iri not in unknown)
        there = await said_unseen(context, known) if known else Shown("")
    except ServiceError:
        return Shown("")  # the result is there; what its names mean is a courtesy
    new = f"first named here: {there.text}" if known else ""
    text = "\n".join(part for part in (strange.text, new) if part)
    return Shown(text, (*strange.seen, *there.seen))


def _rows(ran: Ran) -> int:
    match ran.result:
        case bool():
            return 1
        case SelectResult():
            return len(ran.result.rows)
        case GraphResult():
            return len(ran.result.triples)
