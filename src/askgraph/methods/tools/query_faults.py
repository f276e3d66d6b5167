"""Faults of a query in words for its author: what fails, what is unknown, why it is empty.

A model writes IRIs from memory, too. One that it was shown is one that it means; of any other, its
label and its class are told, before an answer rests on it.
"""

import asyncio
import re
from collections.abc import Iterable

from pyoxigraph import NamedNode

from askgraph.answers.verbalize import iris_of
from askgraph.answers.why_empty import Emptiness, emptiness
from askgraph.errors import (
    ErrorReply,
    Overloaded,
    QueryError,
    QuerySyntaxError,
    ServiceError,
    TimedOut,
    Unauthorised,
    Unreachable,
)
from askgraph.methods.tools import Context
from askgraph.methods.tools.hits import own_types
from askgraph.methods.tools.rendering import Shown, Writer, clipped, labels_in
from askgraph.methods.tools.term_text import STANDARD, named_iris
from askgraph.methods.tools.terms import nearest, nearest_prefixes, unknown_iris
from askgraph.sparql.lexer import lexed

_WIDTH = 100
_MOST = 5
_PLACE = re.compile(r"line \d+, column \d+: ")
_LONGEST = 600
_TOLD = 6


_REQUESTS = 10  # that look for why a result is empty
_TYPES = 2  # shown of each
_ASKED = 6


async def said_fault(context: Context, query: str, problem: QueryError) -> Shown:
    """Say what is wrong with a query, where, and which names of the graph come nearest."""
    prefixes = context.graph.prefixes
    unknown = [prefix for prefix in lexed(query).undeclared if prefix not in prefixes.namespaces]
    if unknown and isinstance(problem, QuerySyntaxError):
        lines = [f"the prefix {unknown[0] + ':'!r} is not declared, and unknown here"]
        if near := nearest_prefixes(unknown[0], prefixes):
            known = ", ".join(f"{prefix}: <{prefixes.namespaces[prefix]}>" for prefix in near)
            lines.append(f"known are, among others, {known}")
        return Shown("; ".join(lines))
    text = clipped(str(problem), 4 * _WIDTH)
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


async def said_empty(context: Context, query: str) -> Shown:
    """Say why a query has no result; empty if that cannot be told within the time allowed.

    IRIs that the graph does not hold are the reason if there are any. Else at most ten
    requests look for the part of the query that leaves nothing.
    """
    try:
        if unknown := await unknown_in(context, query):
            return await said_unknown(context, query, unknown)
        found = await emptiness_of(context, query, budget=_REQUESTS)
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
        changes.append(f"{on_one_line(one.change)}{names}: {one.results:,}")
    possible = f" Rows with a change: {'; '.join(changes)}." if changes else ""
    return Shown(on_one_line(found.reason) + possible, tuple(writer.seen))


def on_one_line(text: str) -> str:
    """Return what is said of a query on one line, clipped."""
    return clipped(" ".join(text.split()), _LONGEST)


async def emptiness_of(context: Context, query: str, *, budget: int) -> Emptiness | None:
    """Return `emptiness` of a query within the time for one; None if that is over.

    Raises `ServiceError` as the endpoint does.
    """
    labels = await labels_in(context, iris_of(query))
    try:
        async with asyncio.timeout(context.limits.timeout):
            return await emptiness(query, context.graph.endpoint, budget=budget, labels=labels)
    except TimeoutError:
        return None


def unseen_in(context: Context, query: str) -> tuple[str, ...]:
    """Return the IRIs of a query that nothing has shown, but for those of standard vocabularies."""
    return tuple(
        iri for iri in named_iris(query) if iri not in context.seen and not iri.startswith(STANDARD)
    )


async def said_unseen(context: Context, iris: tuple[str, ...]) -> Shown:
    """Say what IRIs of the graph are, by label and class; the first six of them.

    Raises `ServiceError` as the endpoint does.
    """
    shown = iris[:_TOLD]
    # The two smallest classes of each IRI that is no predicate: they tell most.
    profile = context.graph.profile
    predicates = {predicate.iri for predicate in profile.predicates}
    sizes = {one.iri: one.instances for one in profile.classes}
    things = [iri for iri in shown if iri not in predicates]
    arrays = context.graph.arrays
    if arrays is not None:
        found = {iri: list(own_types(arrays, f"<{iri}>")) for iri in things}
    else:
        found = await _asked_types(context, things) if things else {}
    types = {
        iri: sorted(some, key=lambda one: sizes.get(one, 0))[:_TYPES] for iri, some in found.items()
    }
    classes = [one for some in types.values() for one in some]
    labels = await labels_in(context, [*shown, *classes])
    writer = Writer(context, labels)
    said = []
    for iri in shown:
        kinds = ", ".join(writer.iri(one) for one in types.get(iri, ()))
        said.append(f"{writer.iri(iri)} ({kinds})" if kinds else writer.iri(iri))
    return Shown("; ".join(said), tuple(writer.seen))


async def _asked_types(context: Context, iris: list[str]) -> dict[str, list[str]]:
    parts = [
        f"{{ SELECT (<{iri}> AS ?thing) ?class WHERE {{ <{iri}> a ?class }} LIMIT {_ASKED} }}"
        for iri in iris
    ]
    query = f"SELECT ?thing ?class WHERE {{ {' UNION '.join(parts)} }} LIMIT {_ASKED * _TOLD}"
    try:
        result = await context.graph.endpoint.select(
            query, timeout=context.limits.timeout, limit=_ASKED * _TOLD
        )
    except QueryError:
        return {}  # an endpoint that cannot take such a query tells no classes
    found: dict[str, list[str]] = {}
    for thing, kind in result.rows:
        if isinstance(thing, NamedNode) and isinstance(kind, NamedNode):
            found.setdefault(thing.value, []).append(kind.value)
    return found
