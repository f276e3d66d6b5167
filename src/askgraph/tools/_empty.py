"""Why a query has no result: names that the graph does not hold first, then the part at fault."""

import asyncio

from askgraph.errors import ServiceError
from askgraph.explanation.verbalise import iris_of
from askgraph.explanation.why_empty import Emptiness, emptiness
from askgraph.tools import Context
from askgraph.tools._fault import said_unknown, unknown_in
from askgraph.tools.running import said_failure
from askgraph.tools.shown import Writer, clipped, labels_in
from askgraph.tools.tables import Shown

__all__ = ["emptiness_of", "on_one_line", "said_empty"]

_LONGEST = 600


async def said_empty(context: Context, query: str, *, budget: int = 10) -> Shown:
    """Say why a query has no result; empty where that cannot be told within the time allowed.

    IRIs that the graph does not hold are the reason where there are any. Else at most `budget`
    requests look for the part of the query that leaves nothing.
    """
    try:
        if unknown := await unknown_in(context, query):
            return await said_unknown(context, query, unknown)
        found = await emptiness_of(context, query, budget=budget)
    except ServiceError as problem:
        return Shown(f"why could not be found out: {said_failure(problem)}")
    if found is None:
        return Shown("")
    writer = Writer(context)
    known = iris_of(query)
    changes = []
    for one in found.suggestions:
        new = [writer.short(iri) for iri in iris_of(one.query) if iri not in known]
        names = f" ({', '.join(new)})" if new else ""
        change = on_one_line(context, one.change, one.query)
        changes.append(f"{change}{names}: {one.results:,}")
    counted = context.veil is None or context.veil.rows
    possible = f" Rows with a change: {'; '.join(changes)}." if changes and counted else ""
    return Shown(on_one_line(context, found.reason, query) + possible, tuple(writer.seen))


def on_one_line(context: Context, text: str, query: str) -> str:
    """Return what is said of a query and names things of a graph on one line, clipped."""
    veil = context.veil
    told = text if veil is None else veil.explained(query, text)
    return clipped(" ".join(told.split()), _LONGEST)


async def emptiness_of(context: Context, query: str, *, budget: int) -> Emptiness | None:
    """Return `emptiness` of a query within the time for one; None where that is over.

    Raises `ServiceError` as the endpoint does.
    """
    labels = await labels_in(context, iris_of(query))
    try:
        async with asyncio.timeout(context.limits.timeout):
            return await emptiness(query, context.graph.endpoint, budget=budget, labels=labels)
    except TimeoutError:
        return None
