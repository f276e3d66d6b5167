"""One query of a language model, run on the graph of its context, whatever its form."""

from dataclasses import dataclass

from askgraph.errors import (
    ErrorReply,
    Overloaded,
    QuerySyntaxError,
    ServiceError,
    TimedOut,
    Unauthorised,
    Unreachable,
)
from askgraph.sparql.lexer import with_declared
from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.sparql.rewrite.repair import Repaired, form_of, repaired
from askgraph.tools import Context

__all__ = ["Ran", "ready", "run", "said_failure"]


@dataclass(frozen=True)
class Ran:
    """A query as it was run, and what it gave: solutions, true or false, or triples."""

    query: str
    result: SelectResult | bool | GraphResult


def ready(context: Context, query: str) -> Repaired:
    """Return a model's query repaired, with the prefixes of the graph that it needs."""
    found = repaired(query, language=context.language)
    prefixes = context.graph.prefixes.namespaces
    return Repaired(with_declared(found.query, prefixes), found.notes)


async def run(context: Context, query: str, *, rows: int) -> Ran:
    """Run a query that is ready; at most `rows` rows or triples are taken.

    Raises `QueryError` and `ServiceError` as the endpoint does.
    """
    endpoint, timeout = context.graph.endpoint, context.limits.timeout
    match form_of(query):
        case "ASK":
            return Ran(query, await endpoint.ask(query, timeout=timeout))
        case "CONSTRUCT":
            return Ran(query, await endpoint.construct(query, timeout=timeout, limit=rows))
        case "DESCRIBE":
            return Ran(query, await endpoint.describe(query, timeout=timeout, limit=rows))
        case "":
            if not query.strip():
                raise QuerySyntaxError("the query is empty: write a SELECT or an ASK query")
    return Ran(query, await endpoint.select(query, timeout=timeout, limit=rows))


def said_failure(problem: ServiceError) -> str:
    """Say what failed beyond the query's text, and what a query's author can do about it."""
    match problem:
        case TimedOut():
            return (
                f"time is over: {problem}. Make the query cheaper: start from a named thing, drop "
                "unbounded paths (p*), OPTIONAL and text filters, aggregate less, or add a LIMIT."
            )
        case Unreachable() | Unauthorised():
            return f"the endpoint is down: {problem}. Other queries will fail as well."
        case Overloaded():
            return f"the endpoint is too busy: {problem}. Try once more, or a cheaper query."
        case ErrorReply():
            return f"the endpoint failed on this query: {problem}. Write it more simply."
        case _:
            return f"the endpoint failed: {problem}"
