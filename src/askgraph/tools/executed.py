"""A query of somebody who explores, run: its result, or in words what is wrong with it."""

from dataclasses import dataclass

from askgraph.errors import QueryError, ServiceError
from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.tools import Context
from askgraph.tools._empty import said_empty
from askgraph.tools._fault import said_fault, said_unknown, unknown_in
from askgraph.tools._unseen import said_unseen, unseen_in
from askgraph.tools.running import Ran, ready, run, said_failure
from askgraph.tools.tables import Shown
from askgraph.trace import Observation

__all__ = ["Executed", "executed", "row_count"]


@dataclass(frozen=True)
class Executed:
    """What a query gave, what was repaired in it first, and what there is to say of it.

    The remark is the reason for an empty result, or what the IRIs are that nothing showed before.
    """

    ran: Ran
    notes: tuple[str, ...]
    remark: Shown


async def executed(context: Context, query: str, *, rows: int) -> Executed | Observation:
    """Run a query, repaired where it can be; at most so many rows are taken.

    One that fails gives the observation that says so: with the place and the nearest valid names,
    or what failed beyond the query's text.
    """
    repaired = ready(context, query)
    try:
        ran = await run(context, repaired.query, rows=rows)
    except QueryError as problem:
        fault = await said_fault(context, repaired.query, problem)
        return Observation(f"the query failed: {fault.text}", fault.seen, failed=True)
    except ServiceError as problem:
        return Observation(f"the query failed: {said_failure(problem)}", failed=True)
    return Executed(ran, tuple(repaired.notes), await _remark(context, ran))


def row_count(ran: Ran) -> int:
    """Return how many rows or triples a query gave; a yes or no is one."""
    match ran.result:
        case bool():
            return 1
        case SelectResult():
            return len(ran.result.rows)
        case GraphResult():
            return len(ran.result.triples)


async def _remark(context: Context, ran: Ran) -> Shown:
    """Why there is nothing, or what the IRIs are that the query was the first to name."""
    if not row_count(ran) or ran.result is False:
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
