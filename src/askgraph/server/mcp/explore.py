"""Tools that look into a graph: list, search, describe, suggest queries, and run a query.

All of them only read, and return text: names and values of the graph are in quotes, on one line.
"""

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any, Literal

from mcp_types import CallToolResult
from pydantic import Field
from pyoxigraph import NamedNode

from askgraph.answers.validation import MIN_WRONG_CERTAINTY, ServiceKnowledge
from askgraph.answers.validation.graph_knowledge import load_graph_knowledge
from askgraph.answers.validation.validate import validate_query
from askgraph.answers.verbalize import fetch_term_labels
from askgraph.errors import QueryError
from askgraph.graph.boundaries import classify_resource
from askgraph.methods.tools import Context
from askgraph.methods.tools.describe import describe as describe_term
from askgraph.methods.tools.execute import render_execution
from askgraph.methods.tools.hits import (
    format_entities,
    format_properties,
    search_index,
    to_search_hit,
)
from askgraph.methods.tools.overview import find_similar_examples, shape_of
from askgraph.methods.tools.propose_queries import propose_queries
from askgraph.methods.tools.query_run import QueryRun, execute_query
from askgraph.server.auth import Scope
from askgraph.server.mcp import access as mcp_access
from askgraph.sparql.lexer import declare_prefixes
from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.trace import Observation

NameKind = Literal["entity", "class", "property", "value"]
_INDEX_KEYS = {"property": "properties", "value": "literals"}
_MAX_LISTED_CLASSES = 10  # classes of a graph in the list of graphs
_MAX_SHOWN_CLASSES = 50  # classes that `describe` lists
_MAX_FETCHED_ROWS = 1_000  # rows that are fetched
_MAX_FINDINGS = 20


async def list_graphs() -> str:
    """List the graphs with their main classes and what their owners note, and the methods."""
    access = mcp_access.get_current_access()
    lines = []
    with mcp_access.convert_errors():
        access.require_scope("ask")
        for name in access.list_graphs():
            metadata = await access.get_metadata(name)
            profile = metadata.profile
            languages = ", ".join(tag for tag, _ in profile.languages[:_MAX_LISTED_CLASSES])
            lines.append(
                f"{name}: {profile.triples:,} triples{', remote' * metadata.remote}"
                f"{f'; languages: {languages}' if languages else ''}"
            )
            lines += mcp_access.format_classes(metadata, "en", limit=_MAX_LISTED_CLASSES)
            lines += await mcp_access.list_owner_notes(access, name)
    methods = ", ".join(access.list_methods())
    return "\n".join([*(lines or ["there is no graph yet"]), f"methods: {methods}"])


async def search(
    query: Annotated[str, Field(description="A name or keywords.", max_length=500)],
    kind: NameKind = "entity",
    graph: mcp_access.GraphNameParameter = None,
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
    language: mcp_access.LanguageParameter = None,
) -> str:
    """Find the IRIs of entities, classes, properties or values by name."""
    async with mcp_access.open_graph_context(graph, text=query, language=language) as context:
        within = [item.iri for item in context.graph.profile.classes] if kind == "class" else None
        words = " ".join(query.encode(errors="replace").decode().split())
        key = _INDEX_KEYS.get(kind, "entities")
        hits = await asyncio.to_thread(search_index, context.graph, key, words, limit, within)
        render = format_properties if kind == "property" else format_entities
        return "\n".join((await render(context, [to_search_hit(hit) for hit in hits])).lines) or (
            f"nothing is named {query!r}; try other or fewer words"
        )


async def describe(
    iri: Annotated[
        str | None, Field(description="prefix:name or <http://…>; leave out to list the classes.")
    ] = None,
    graph: mcp_access.GraphNameParameter = None,
    language: mcp_access.LanguageParameter = None,
) -> str:
    """Show what the graph has on an entity, property or class: values, links, typical properties.

    For a class, this includes what its instances have, and how many of them.
    """
    async with mcp_access.open_graph_context(graph, language=language) as context:
        if iri is None:
            return "\n".join(
                mcp_access.format_classes(context.graph, context.language, limit=_MAX_SHOWN_CLASSES)
            )
        description = await describe_term(context, iri)
        texts = [description.text]
        # A description begins with the IRI, shortened.
        short_iri, _, _ = description.text.partition("\n")[0].partition(" ")
        shorten = context.graph.prefixes.shorten
        full_iri = next(iri for iri in description.seen if shorten(iri) == short_iri)
        if classify_resource(full_iri, (), context.graph.profile) == "class":
            with suppress(QueryError):  # a class may have no instances
                shape = await shape_of(context, f"<{full_iri}>")
                # The shape has these lines too, with shares and examples.
                repeated = ("instances have: ", "lead to instances: ")
                lines = [
                    line
                    for line in description.text.split("\n")
                    if not line.startswith(repeated) and not line.endswith(" instances")
                ]
                texts = ["\n".join(lines), shape.text]
        return "\n\n".join(texts)


async def suggest_queries(
    question: Annotated[
        str, Field(description="A question or a part of one.", min_length=1, max_length=2_000)
    ],
    graph: mcp_access.GraphNameParameter = None,
    language: mcp_access.LanguageParameter = None,
) -> str:
    """Get SPARQL queries that may answer a question, with first rows, and similar examples."""
    async with mcp_access.open_graph_context(graph, text=question, language=language) as context:
        limits = replace(context.limits, rows=5, clip=80)
        candidates = await propose_queries(replace(context, limits=limits), question)
        texts = [candidates.text]
        if candidates.answer:
            texts.append(f"confidence in 1: {candidates.answer.confidence}")
        if context.graph.examples:
            examples = await find_similar_examples(context, question)
            texts.append(f"similar questions with their queries:\n{examples.text}")
        return "\n".join(texts)


async def query(
    query: Annotated[
        str, Field(description="Known prefixes need no PREFIX line.", max_length=100_000)
    ],
    graph: mcp_access.GraphNameParameter = None,
    limit: mcp_access.LimitParameter = mcp_access.DEFAULT_ROWS,
    check: Annotated[bool, Field(description="Only find mistakes, do not run.")] = False,
    detail: mcp_access.DetailParameter = False,
    language: mcp_access.LanguageParameter = None,
) -> CallToolResult:
    """Run a SPARQL query that reads; faults come with nearest names, no rows with the reason."""
    scope: Scope = "ask" if check else "query"
    async with mcp_access.open_graph_context(graph, language=language, scope=scope) as context:
        if check:
            return mcp_access.to_tool_result(await _check_query(context, query))
        context.limits = replace(context.limits, rows=limit)
        execution = await execute_query(context, query, rows=_MAX_FETCHED_ROWS)
        if isinstance(execution, Observation):
            raise QueryError(execution.text)
        text = (await render_execution(context, execution)).text
        content = await _build_content(context, execution.query_run, limit) if detail else None
        return mcp_access.to_tool_result(text, content)


async def _build_content(context: Context, query_run: QueryRun, limit: int) -> dict[str, Any]:
    result = query_run.result
    table = result.table if isinstance(result, GraphResult) else result
    boolean = table if isinstance(table, bool) else None
    table = SelectResult((), ()) if isinstance(table, bool) else table
    rows = mcp_access.format_rows(table.rows, limit)
    iris = [term.value for row in table.rows[:limit] for term in row if isinstance(term, NamedNode)]
    return {
        "query": query_run.query,
        "columns": list(table.variables),
        "rows": rows,
        "total": len(table.rows),
        "boolean": boolean,
        "labels": await fetch_term_labels(iris, context.graph, [context.language, "en"]),
    }


async def _check_query(context: Context, query: str) -> str:
    services = ServiceKnowledge(load_graph_knowledge(context.graph), {})
    full_query = query
    with suppress(QueryError):  # the checks report syntax errors
        namespaces = context.graph.prefixes.namespaces
        full_query = await asyncio.to_thread(declare_prefixes, query, namespaces)
    validation = await asyncio.to_thread(
        validate_query, full_query, services, language=context.language
    )
    prefix_lines = full_query.count("\n") - query.count("\n")
    findings = sorted(validation.findings, key=lambda item: item.certainty < MIN_WRONG_CERTAINTY)
    lines = ["wrong" if validation.is_wrong else "no mistake found"]
    for finding in findings[:_MAX_FINDINGS]:
        place = finding.place
        position = f"line {place.line - prefix_lines}, column {place.column}: " if place else ""
        proposals = ", ".join(
            f"{item.text} ({item.label})" if item.label else item.text for item in finding.proposals
        )
        line = f"{position}{finding.kind.value}, certainty {finding.certainty:.2f}: "
        lines.append(f"{line}{finding.message}{f'; instead: {proposals}' * bool(proposals)}")
    if validation.repairs:
        lines += [*(finding.note for finding in validation.repairs), "repaired query:"]
        lines.append(validation.repaired)
    return "\n".join(lines)
