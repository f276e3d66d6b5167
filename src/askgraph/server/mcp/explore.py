"""Tools that explore a graph, and tools for queries: propose, validate, execute.

All of them only read.
"""

import asyncio
from contextlib import suppress
from typing import Annotated, Literal

from pydantic import Field
from pyoxigraph import Literal as RdfLiteral
from pyoxigraph import NamedNode

from askgraph.answers.validation import MIN_WRONG_CERTAINTY, ServiceKnowledge
from askgraph.answers.validation.graph_knowledge import load_graph_knowledge
from askgraph.answers.validation.validate import validate_query
from askgraph.answers.verbalize import fetch_term_labels, list_query_iris, verbalize_query_for_graph
from askgraph.errors import QueryError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import rank_examples, sample_examples
from askgraph.graph.literals import parse_resource_term
from askgraph.graph.shapes import Shape, ShapeLine, load_shape
from askgraph.index import Hit as IndexHit
from askgraph.index import Resource
from askgraph.methods.tools import Context
from askgraph.methods.tools.candidates import find_best_candidates
from askgraph.methods.tools.describe import describe as describe_in
from askgraph.methods.tools.hits import SearchHit, format_entities, format_properties
from askgraph.methods.tools.overview import shape_of
from askgraph.methods.tools.query_run import execute_query
from askgraph.methods.tools.rendering import TermWriter, clip_text, fetch_labels
from askgraph.search.decide import find_omitted_words
from askgraph.server.mcp import access as mcp_access
from askgraph.server.mcp import results as mcp_results
from askgraph.sparql.lexer import declare_prefixes
from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.trace import Observation

NameKind = Literal["entity", "class", "property", "value"]
_MAX_LISTED_CLASSES = 10  # classes of a graph in the list of graphs
_MAX_NAME_CHARACTERS = 200  # characters
_MAX_QUERY_CHARACTERS = 4_000
_MAX_SHAPE_LINES = 40
ClassesParameter = Annotated[
    list[str] | None,
    Field(
        description="IRIs of classes, as prefix:name; leave out to list the classes.", max_length=5
    ),
]


async def list_graphs() -> mcp_results.GraphsResult:
    """List the available graphs with their main classes, and the methods that answer questions."""
    access = mcp_access.get_current_access()
    with mcp_access.convert_errors():
        access.require_scope("ask")
    graphs = []
    for name in access.list_graphs():
        with mcp_access.convert_errors():
            metadata = await access.get_metadata(name)
            graphs.append(
                mcp_results.GraphInfo(
                    name=name,
                    triples=metadata.profile.triples,
                    classes=mcp_access.format_classes(metadata, "en", limit=_MAX_LISTED_CLASSES),
                    languages=[
                        language for language, _ in metadata.profile.languages[:_MAX_LISTED_CLASSES]
                    ],
                    remote=metadata.remote,
                )
            )
    return mcp_results.GraphsResult(graphs=graphs, methods=list(access.list_methods()))


async def search(
    query: Annotated[str, Field(description="A name or keywords.", max_length=500)],
    kind: Annotated[NameKind, Field(description="The kind of item to search for.")] = "entity",
    graph: mcp_access.GraphNameParameter = None,
    limit: Annotated[int, Field(description="Maximum number of results.", ge=1, le=50)] = 10,
    language: mcp_access.LanguageParameter = None,
) -> mcp_results.SearchToolResult:
    """Find entities, classes, properties or values by name, with a description of each."""
    async with mcp_access.open_graph_context(graph, text=query, language=language) as context:
        hits = await asyncio.to_thread(_search_index, context.graph, query, kind, limit)
        resources = [
            SearchHit(parse_resource_term(hit.item.iri), hit.item, hit.name) for hit in hits
        ]
        rendered = await (format_properties if kind == "property" else format_entities)(
            context, resources
        )
        return mcp_results.SearchToolResult(
            graph=context.graph.name,
            hits=[_build_match(hit, context.graph) for hit in hits],
            text="\n".join(rendered.lines)
            or f"nothing is named {query!r}; try other or fewer words",
        )


async def describe(
    iri: Annotated[str, Field(description="Its IRI, as prefix:name or <http://…>.")],
    graph: mcp_access.GraphNameParameter = None,
    language: mcp_access.LanguageParameter = None,
) -> mcp_results.DescribeResult:
    """Describe one entity, class or property: types, values, links in both directions."""
    async with mcp_access.open_graph_context(graph, language=language) as context:
        description = await describe_in(context, iri)
        # The description begins with the IRI, shortened.
        short_iri, _, _ = description.text.partition("\n")[0].partition(" ")
        full_iri = next(
            iri for iri in description.seen if context.graph.prefixes.shorten(iri) == short_iri
        )
        labels = await fetch_labels(context, [full_iri])
        return mcp_results.DescribeResult(
            graph=context.graph.name,
            iri=full_iri,
            label=labels.get(full_iri),
            text=description.text,
        )


async def examples(
    question: Annotated[
        str | None, Field(description="A question to find similar examples for; leave out for any.")
    ] = None,
    graph: mcp_access.GraphNameParameter = None,
    limit: Annotated[int, Field(description="Maximum number of examples.", ge=1, le=20)] = 3,
) -> mcp_results.ExamplesResult:
    """Get example questions over the graph, with the SPARQL queries that answer them."""
    async with mcp_access.open_graph_context(graph, text=question or "") as context:
        all_examples = context.graph.examples
        if question:
            scored_examples = await asyncio.to_thread(
                rank_examples, question, all_examples, limit=limit
            )
        else:
            scored_examples = [
                (example, -1.0) for example in sample_examples("", all_examples, limit=limit)
            ]
        results = [
            mcp_results.ExampleQuestion(
                question=clip_text(example.question, 500),
                query=clip_text(example.query, _MAX_QUERY_CHARACTERS),
                origin=example.origin,
                similarity=round(score, 3) if score >= 0 else None,
            )
            for example, score in scored_examples
        ]
        return mcp_results.ExamplesResult(
            graph=context.graph.name, examples=results, total=len(all_examples)
        )


def _search_index(
    graph: KnowledgeGraph, text: str, kind: NameKind, limit: int
) -> list[IndexHit[Resource]]:
    """Return the hits of an index for a name; unpaired surrogates are removed."""
    keys = {"property": "properties", "value": "literals"}
    index = graph.indices.get(keys.get(kind, "entities"))
    within = (
        [profile_class.iri for profile_class in graph.profile.classes] if kind == "class" else None
    )
    words = " ".join(text.encode(errors="replace").decode().split())
    return [] if index is None else list(index.search(words, limit=limit, within=within))


def _build_match(hit: IndexHit[Resource], graph: KnowledgeGraph) -> mcp_results.NameMatch:
    iri = hit.item.iri
    return mcp_results.NameMatch(
        iri=clip_text(iri, 2 * _MAX_NAME_CHARACTERS) if iri.startswith('"') else iri,
        name=clip_text(iri, _MAX_NAME_CHARACTERS)
        if iri.startswith('"')
        else graph.prefixes.shorten(iri),
        label=clip_text(hit.item.label, _MAX_NAME_CHARACTERS),
        matched=clip_text(hit.name or hit.item.label, _MAX_NAME_CHARACTERS),
    )


async def shapes(
    classes: ClassesParameter = None,
    graph: mcp_access.GraphNameParameter = None,
    language: mcp_access.LanguageParameter = None,
) -> mcp_results.ShapesResult:
    """Get the properties of the instances of classes, their values, and how many have them.

    Without classes, list the classes of the graph with their numbers of instances.
    """
    async with mcp_access.open_graph_context(graph, language=language) as context:
        shapes = [await _build_class_shape(context, name) for name in classes or ()]
        class_names = [] if shapes else mcp_access.format_classes(context.graph, context.language)
        return mcp_results.ShapesResult(
            graph=context.graph.name, shapes=shapes, classes=class_names
        )


async def _build_class_shape(context: Context, name: str) -> mcp_results.ClassShape:
    graph = context.graph
    iri = (await shape_of(context, name)).seen[0]  # raises if the name is invalid
    shape = await load_shape(
        iri, graph.profile, graph.endpoint, arrays=graph.arrays, timeout=context.limits.timeout
    )
    lines = shape.lines[:_MAX_SHAPE_LINES]
    predicates = [line.predicate for line in lines]
    examples = [line.example.value for line in lines if isinstance(line.example, NamedNode)]
    writer = await TermWriter.from_iris(context, [iri, *predicates, *examples])
    return mcp_results.ClassShape(
        cls=writer.write_short(iri),
        label=writer.labels.get(iri),
        instances=shape.instances,
        properties=[_build_property(line, shape, writer) for line in lines],
    )


def _build_property(line: ShapeLine, shape: Shape, writer: TermWriter) -> mcp_results.ShapeProperty:
    share = shape.get_share(line)
    has_example = isinstance(line.example, NamedNode | RdfLiteral)
    return mcp_results.ShapeProperty(
        predicate=writer.write_short(line.predicate),
        label=writer.labels.get(line.predicate),
        inverse=line.inverse,
        share=None if share is None else round(share, 3),
        triples=line.triples,
        kinds=[writer.write_short(kind) for kind in line.kinds],
        example=writer.write_term(line.example) if has_example else None,
    )


_MAX_FETCHED_ROWS = 1_000  # rows that are fetched
_PREVIEW_ROWS = 5
_MAX_FINDINGS = 20
QueryParameter = Annotated[
    str,
    Field(
        description="A read-only SPARQL query; known prefixes need no PREFIX line.",
        max_length=100_000,
    ),
]


async def propose_queries(
    question: Annotated[
        str, Field(description="A question or a part of one.", min_length=1, max_length=2_000)
    ],
    graph: mcp_access.GraphNameParameter = None,
    language: mcp_access.LanguageParameter = None,
) -> mcp_results.ProposedQueriesResult:
    """Get queries that may answer a question, with their results. Uses no language model."""
    async with mcp_access.open_graph_context(graph, text=question, language=language) as context:
        best = await find_best_candidates(context, question)
        preview_rows = [
            row for candidate in best.candidates for row in candidate.result.rows[:_PREVIEW_ROWS]
        ]
        iris = [
            *mcp_results.collect_iris(preview_rows),
            *(iri for candidate in best.candidates for iri in list_query_iris(candidate.query)),
        ]
        labels = await fetch_term_labels(iris, context.graph, [context.language, "en"])
        proposals = [
            mcp_results.ProposedQuery(
                words=verbalize_query_for_graph(
                    candidate.query, labels, context.graph, context.language
                ),
                query=candidate.query,
                columns=list(candidate.result.variables),
                rows=mcp_results.format_rows(candidate.result.rows, _PREVIEW_ROWS),
                total=1 if candidate.boolean is not None else len(candidate.result.rows),
                boolean=candidate.boolean,
                unused_words=list(
                    find_omitted_words(best.proposal, candidate.cluster.best, is_query_shown=True)
                ),
            )
            for candidate in best.candidates
        ]
        rows = [row for candidate in proposals for row in candidate.rows]
        return mcp_results.ProposedQueriesResult(
            graph=context.graph.name,
            candidates=proposals,
            confidence=round(best.confidence, 4),
            labels=mcp_results.select_labels(rows, labels),
        )


async def validate(
    query: QueryParameter,
    graph: mcp_access.GraphNameParameter = None,
    language: mcp_access.LanguageParameter = None,
) -> mcp_results.ValidateResult:
    """Check a query against the metadata of the graph, and repair it if that is safe.

    The query is not run, and prefixes of the graph need no declaration. Finds syntax errors, names
    that the graph does not contain, wrong directions and datatypes, filters that never hold.
    """
    async with mcp_access.open_graph_context(graph, language=language) as context:
        services = ServiceKnowledge(load_graph_knowledge(context.graph), {})
        full_query = query
        with suppress(QueryError):  # the checks report syntax errors
            namespaces = context.graph.prefixes.namespaces
            full_query = await asyncio.to_thread(declare_prefixes, query, namespaces)
        validation = await asyncio.to_thread(
            validate_query, full_query, services, language=context.language
        )
        prefix_lines = full_query.count("\n") - query.count("\n")
        result = mcp_results.ValidateResult(
            graph=context.graph.name,
            valid=not validation.is_wrong,
            findings=[
                mcp_results.QueryFinding(
                    kind=finding.kind.value,
                    message=finding.message,
                    line=finding.place.line - prefix_lines if finding.place else None,
                    column=finding.place.column if finding.place else None,
                    certainty=round(finding.certainty, 3),
                    instead=[
                        f"{proposal.text} ({proposal.label})" if proposal.label else proposal.text
                        for proposal in finding.proposals
                    ],
                )
                for finding in sorted(
                    validation.findings, key=lambda finding: finding.certainty < MIN_WRONG_CERTAINTY
                )[:_MAX_FINDINGS]
            ],
            repaired=validation.repaired if validation.repairs else None,
            repairs=[finding.note for finding in validation.repairs],
        )
    if result.repaired is None and full_query != query:  # for clients that do not know the prefixes
        return result.model_copy(update={"repaired": full_query})
    return result


async def execute(
    query: QueryParameter,
    graph: mcp_access.GraphNameParameter = None,
    limit: Annotated[
        int, Field(description="Maximum number of rows to show.", ge=1, le=500)
    ] = mcp_results.DEFAULT_ROWS,
    language: mcp_access.LanguageParameter = None,
) -> mcp_results.ExecuteResult:
    """Run a SPARQL query that reads (SELECT, ASK, CONSTRUCT, DESCRIBE) and see its result.

    A failed query comes with the position of the error and the nearest valid names, an empty result
    with the reason. At most 1,000 rows are fetched.
    """
    async with mcp_access.open_graph_context(graph, language=language, scope="query") as context:
        execution = await execute_query(context, query, rows=_MAX_FETCHED_ROWS)
        if isinstance(execution, Observation):
            raise QueryError(execution.text)
        notes = [*execution.notes, *([execution.remark.text] if execution.remark.text else [])]
        query_run = execution.query_run
        table = (
            query_run.result.table
            if isinstance(query_run.result, GraphResult)
            else query_run.result
        )
        result = SelectResult((), ()) if isinstance(table, bool) else table
        shown_rows = mcp_results.format_rows(result.rows, limit)
        languages = [context.language, "en"]
        labels = await fetch_term_labels(
            mcp_results.collect_iris(result.rows[: len(shown_rows)]), context.graph, languages
        )
        return mcp_results.ExecuteResult(
            graph=context.graph.name,
            query=query_run.query,
            columns=list(result.variables),
            rows=shown_rows,
            total=len(result.rows),
            boolean=table if isinstance(table, bool) else None,
            labels=mcp_results.select_labels(shown_rows, labels),
            cut=mcp_results.describe_truncation(result.truncated),
            notes=notes,
        )
