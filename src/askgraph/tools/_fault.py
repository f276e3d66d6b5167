"""What the author of a query that failed, or that gave nothing, is told of what is wrong in it."""

import re
from collections.abc import Iterable

from askgraph.errors import QueryError, QuerySyntaxError
from askgraph.sparql.lexer import undeclared
from askgraph.tools import Context
from askgraph.tools._nearest import nearest
from askgraph.tools._terms import nearest_prefixes
from askgraph.tools.known import unknown_iris
from askgraph.tools.named import named_iris
from askgraph.tools.shown import Writer, clipped
from askgraph.tools.tables import Shown

__all__ = ["said_fault", "said_unknown", "unknown_in"]

_WIDTH = 100
_MOST = 5
_PLACE = re.compile(r"line \d+, column \d+: ")


async def said_fault(context: Context, query: str, problem: QueryError) -> Shown:
    """Say what is wrong with a query, where, and which names of the graph come nearest.

    Under a veil the place is told by its line and column alone.
    """
    prefixes = context.graph.prefixes
    unknown = [prefix for prefix in undeclared(query) if prefix not in prefixes.namespaces]
    if unknown and isinstance(problem, QuerySyntaxError):
        lines = [f"the prefix {unknown[0] + ':'!r} is not declared, and unknown here"]
        if near := nearest_prefixes(unknown[0], prefixes):
            known = ", ".join(f"{prefix}: <{prefixes.namespaces[prefix]}>" for prefix in near)
            lines.append(f"known are, among others, {known}")
        return Shown("; ".join(lines))
    text = clipped(str(problem), 4 * _WIDTH)
    if context.veil is not None:
        return Shown(context.veil.explained(query, text))
    if isinstance(problem, QuerySyntaxError) and problem.line and problem.column:
        return Shown(_marked(query, text, problem.line, problem.column))
    return Shown(text)


async def unknown_in(context: Context, query: str) -> tuple[str, ...]:
    """Return the IRIs of a query that the graph does not hold.

    Raises `ServiceError` as the endpoint does.
    """
    return await unknown_iris(context, named_iris(query))


async def said_unknown(context: Context, query: str, iris: Iterable[str]) -> Shown:
    """Say of each IRI that the graph does not hold it, with the nearest names of its sort."""
    named = named_iris(query)
    listed = list(iris)
    near = {iri: await nearest(context, iri, sort=named.get(iri, "")) for iri in listed[:_MOST]}
    writer = await Writer.knowing(context, [one for found in near.values() for one in found])
    lines = []
    if context.veil is not None:
        context.veil.made_up(listed)
    for iri, found in near.items():
        hint = f"; nearest: {', '.join(map(writer.iri, found))}" if found else ""
        short = clipped(context.graph.prefixes.shorten(iri), _WIDTH)
        lines.append(f"the graph has no {short}{hint}")
    if len(listed) > _MOST:
        lines.append(f"nor {len(listed) - _MOST} more of the IRIs in the query")
    return Shown("\n".join(lines), tuple(writer.seen))


def _marked(query: str, text: str, line: int, column: int) -> str:
    """The message with the line it speaks of, and a mark below the place."""
    lines = query.split("\n")
    if line > len(lines):
        return text
    start = max(0, column - 1 - _WIDTH // 2)
    shown = lines[line - 1][start : start + _WIDTH].replace("\t", " ")
    return f"{_PLACE.sub('', text, count=1)}\n{shown}\n{' ' * (column - 1 - start)}^"
