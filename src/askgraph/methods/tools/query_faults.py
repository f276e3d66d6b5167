"""Explain faults of a query to its author: failures, unknown names, reasons for empty results.

A model also writes IRIs from memory. If a tool has shown an IRI, the model means it; any other IRI
is explained by its label and class before an answer depends on it.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping

from pyoxigraph import NamedNode

from askgraph import errors
from askgraph.answers.verbalize import list_query_iris
from askgraph.answers.why_empty import analyse_empty_result
from askgraph.methods.settings import load_texts
from askgraph.methods.tools import Context
from askgraph.methods.tools.hits import look_up_types
from askgraph.methods.tools.rendering import RenderedText, TermWriter, clip_text, fetch_labels
from askgraph.methods.tools.term_text import STANDARD_NAMESPACES, extract_iris
from askgraph.methods.tools.terms import filter_unknown_iris, find_nearest, find_nearest_prefixes
from askgraph.sparql.lexer import tokenize

_ADVICE: Mapping[str, str] = load_texts("shared")["advice"]
_MAX_LINE_CHARACTERS = 100
_MAX_UNKNOWN_IRIS = 5
_POSITION_PREFIX = re.compile(r"line \d+, column \d+: ")
_MAX_TEXT_CHARACTERS = 600
_MAX_DESCRIBED_IRIS = 6


_MAX_REQUESTS = 10  # that look for why a result is empty
_MAX_CLASSES_PER_IRI = 2  # shown of each
_MAX_FETCHED_CLASSES = 6


async def explain_fault(context: Context, query: str, problem: errors.QueryError) -> RenderedText:
    """Explain a query's fault, with its position and the nearest names of the graph."""
    prefixes = context.graph.prefixes
    unknown = [
        prefix
        for prefix in tokenize(query).undeclared_prefixes
        if prefix not in prefixes.namespaces
    ]
    if unknown and isinstance(problem, errors.QuerySyntaxError):
        lines = [f"the prefix {unknown[0] + ':'!r} is not declared, and unknown here"]
        if nearest_known := find_nearest_prefixes(unknown[0], prefixes):
            known_prefixes = ", ".join(
                f"{prefix}: <{prefixes.namespaces[prefix]}>" for prefix in nearest_known
            )
            lines.append(f"known are, among others, {known_prefixes}")
        return RenderedText("; ".join(lines))
    text = clip_text(str(problem), 4 * _MAX_LINE_CHARACTERS)
    if isinstance(problem, errors.QuerySyntaxError) and problem.line and problem.column:
        return RenderedText(_mark_position(query, text, problem.line, problem.column))
    return RenderedText(text)


async def find_unknown_iris(context: Context, query: str) -> tuple[str, ...]:
    """Return the IRIs of a query that the graph lacks; raise `ServiceError` if it fails."""
    return await filter_unknown_iris(context, extract_iris(query))


async def explain_unknown_iris(context: Context, query: str, iris: Iterable[str]) -> RenderedText:
    """Report each IRI that the graph does not contain, with the nearest names of its kind."""
    kind_by_iri = extract_iris(query)
    all_iris = list(iris)
    nearest_by_iri = {
        iri: await find_nearest(context, iri, sort=kind_by_iri.get(iri, ""))
        for iri in all_iris[:_MAX_UNKNOWN_IRIS]
    }
    writer = await TermWriter.from_iris(
        context, [name for names in nearest_by_iri.values() for name in names]
    )
    lines = []
    for iri, names in nearest_by_iri.items():
        hint = f"; nearest: {', '.join(map(writer.write_iri, names))}" if names else ""
        short = clip_text(context.graph.prefixes.shorten(iri), _MAX_LINE_CHARACTERS)
        lines.append(f"the graph has no {short}{hint}")
    if len(all_iris) > _MAX_UNKNOWN_IRIS:
        lines.append(f"nor {len(all_iris) - _MAX_UNKNOWN_IRIS} more of the IRIs in the query")
    return RenderedText("\n".join(lines), tuple(writer.written_iris))


def _mark_position(query: str, text: str, line: int, column: int) -> str:
    """Return the message with the line that it refers to, and a mark below the position."""
    lines = query.split("\n")
    if line > len(lines):
        return text
    start = max(0, column - 1 - _MAX_LINE_CHARACTERS // 2)
    line_text = lines[line - 1][start : start + _MAX_LINE_CHARACTERS].replace("\t", " ")
    return f"{_POSITION_PREFIX.sub('', text, count=1)}\n{line_text}\n{' ' * (column - 1 - start)}^"


def explain_failure(problem: errors.ServiceError) -> str:
    """Explain a failure of the service, and what the author of the query can do about it."""
    match problem:
        case errors.TimedOut():
            return f"time is over: {problem}. {_ADVICE['late']}"
        case errors.Unreachable() | errors.Unauthorised():
            return f"the endpoint is down: {problem}. Other queries will fail as well."
        case errors.Overloaded():
            return f"the endpoint is too busy: {problem}. {_ADVICE['busy']}"
        case errors.ErrorReply():
            return f"the endpoint failed on this query: {problem}. {_ADVICE['failed']}"
        case _:
            return f"the endpoint failed: {problem}"


async def explain_empty_result(context: Context, query: str) -> RenderedText:
    """Explain why a query has no result; empty text if there is no reason within the time limit.

    The reason is IRIs that the graph does not contain, if there are any. Otherwise at most ten
    requests look for the part of the query that has no match.
    """
    try:
        if unknown := await find_unknown_iris(context, query):
            return await explain_unknown_iris(context, query, unknown)
        labels = await fetch_labels(context, list_query_iris(query))
        async with asyncio.timeout(context.limits.timeout):
            diagnosis = await analyse_empty_result(
                query, context.graph.endpoint, budget=_MAX_REQUESTS, labels=labels
            )
    except errors.ServiceError as problem:
        return RenderedText(f"why could not be found out: {explain_failure(problem)}")
    except TimeoutError:
        return RenderedText("")
    if diagnosis is None:
        return RenderedText("")
    writer = TermWriter(context)
    query_iris = list_query_iris(query)
    changes = []
    for suggestion in diagnosis.suggestions:
        new_names = [
            writer.write_short(iri)
            for iri in list_query_iris(suggestion.query)
            if iri not in query_iris
        ]
        names = f" ({', '.join(new_names)})" if new_names else ""
        changes.append(f"{join_lines(suggestion.change)}{names}: {suggestion.results:,}")
    suggestions = f" Rows with a change: {'; '.join(changes)}." if changes else ""
    return RenderedText(join_lines(diagnosis.reason) + suggestions, tuple(writer.written_iris))


def join_lines(text: str) -> str:
    """Return an explanation on one line, clipped."""
    return clip_text(" ".join(text.split()), _MAX_TEXT_CHARACTERS)


def find_unseen_iris(context: Context, query: str) -> tuple[str, ...]:
    """Return the IRIs of a query that no tool has shown, without those of standard vocabularies."""
    return tuple(
        iri
        for iri in extract_iris(query)
        if iri not in context.shown_iris and not iri.startswith(STANDARD_NAMESPACES)
    )


async def explain_unseen_iris(context: Context, iris: tuple[str, ...]) -> RenderedText:
    """Describe the first six IRIs by label and class; raise `ServiceError` if a graph fails."""
    first_iris = iris[:_MAX_DESCRIBED_IRIS]
    # The two smallest classes of each IRI that is not a predicate: they are the most specific.
    profile = context.graph.profile
    predicates = {predicate.iri for predicate in profile.predicates}
    sizes = {cls.iri: cls.instances for cls in profile.classes}
    other_iris = [iri for iri in first_iris if iri not in predicates]
    arrays = context.graph.arrays
    if arrays is not None:
        types_by_iri = {iri: list(look_up_types(arrays, f"<{iri}>")) for iri in other_iris}
    else:
        types_by_iri = await _fetch_types(context, other_iris) if other_iris else {}
    shown_types = {
        iri: sorted(types, key=lambda cls: sizes.get(cls, 0))[:_MAX_CLASSES_PER_IRI]
        for iri, types in types_by_iri.items()
    }
    classes = [cls for types in shown_types.values() for cls in types]
    labels = await fetch_labels(context, [*first_iris, *classes])
    writer = TermWriter(context, labels)
    descriptions = []
    for iri in first_iris:
        kinds = ", ".join(writer.write_iri(cls) for cls in shown_types.get(iri, ()))
        descriptions.append(
            f"{writer.write_iri(iri)} ({kinds})" if kinds else writer.write_iri(iri)
        )
    return RenderedText("; ".join(descriptions), tuple(writer.written_iris))


async def _fetch_types(context: Context, iris: list[str]) -> dict[str, list[str]]:
    parts = [
        f"{{ SELECT (<{iri}> AS ?thing) ?class "
        f"WHERE {{ <{iri}> a ?class }} LIMIT {_MAX_FETCHED_CLASSES} }}"
        for iri in iris
    ]
    query = (
        f"SELECT ?thing ?class WHERE {{ {' UNION '.join(parts)} }} LIMIT "
        f"{_MAX_FETCHED_CLASSES * _MAX_DESCRIBED_IRIS}"
    )
    try:
        result = await context.graph.endpoint.select(
            query, timeout=context.limits.timeout, limit=_MAX_FETCHED_CLASSES * _MAX_DESCRIBED_IRIS
        )
    except errors.QueryError:
        return {}  # an endpoint that cannot run this query gives no classes
    types_by_iri: dict[str, list[str]] = {}
    for instance, cls in result.rows:
        if isinstance(instance, NamedNode) and isinstance(cls, NamedNode):
            types_by_iri.setdefault(instance.value, []).append(cls.value)
    return types_by_iri
