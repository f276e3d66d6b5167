"""Tools that look around in a graph, and those for queries: propose, validate, execute.

Nothing writes.
"""

import asyncio
from contextlib import suppress
from typing import Annotated, Literal

from pydantic import Field
from pyoxigraph import Literal as RdfLiteral
from pyoxigraph import NamedNode

from askgraph.answers.validation import WRONG, Services
from askgraph.answers.validation.graph_knowledge import graph_knowledge
from askgraph.answers.validation.validate import validated
from askgraph.answers.verbalize import iris_of, labels_of, read_for_graph
from askgraph.errors import QueryError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import rank_examples, sample_examples
from askgraph.graph.literals import parse_resource_term
from askgraph.graph.shapes import Shape, ShapeLine, load_shape
from askgraph.index import Hit as IndexHit
from askgraph.index import Resource
from askgraph.methods.tools import Context
from askgraph.methods.tools.candidates import BestCandidates, CandidateResult, find_best_candidates
from askgraph.methods.tools.describe import describe as describe_in
from askgraph.methods.tools.hits import SearchHit, format_entities, format_properties
from askgraph.methods.tools.overview import shape_of
from askgraph.methods.tools.query_run import execute_query
from askgraph.methods.tools.rendering import TermWriter, clip_text, fetch_labels
from askgraph.search.decide import find_omitted_words
from askgraph.server.mcp.access import (
    GraphName,
    Language,
    class_lines,
    current,
    graph_context,
    tool_errors,
)
from askgraph.server.mcp.results import (
    ROWS,
    Candidate,
    Candidates,
    Checked,
    Described,
    Example,
    Examples,
    Finding,
    Graph,
    Graphs,
    Hit,
    Hits,
    Property,
    ShapeOfClass,
    Shapes,
    Table,
    cells,
    cut_words,
    iris_in,
    labels_shown,
)
from askgraph.sparql.lexer import with_declared
from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.trace import Observation

Kind = Literal["entity", "class", "property", "value"]
_TOLD = 10  # classes of a graph in the list of graphs
_NAME = 200  # characters
_QUERY = 4_000
_LINES = 40
Classes = Annotated[
    list[str] | None,
    Field(description="IRIs of classes, as prefix:name; without, they are listed.", max_length=5),
]


async def list_graphs() -> Graphs:
    """List the graphs that can be asked, with their main classes, and the methods that answer."""
    access = current()
    with tool_errors():
        access.check("ask")
    found = []
    for name in access.graph_names():
        with tool_errors():
            known = await access.known(name)
            found.append(
                Graph(
                    name=name,
                    triples=known.profile.triples,
                    classes=class_lines(known, "en", most=_TOLD),
                    languages=[language for language, _ in known.profile.languages[:_TOLD]],
                    remote=known.remote,
                )
            )
    return Graphs(graphs=found, methods=list(access.method_names()))


async def search(
    query: Annotated[str, Field(description="A name or keywords.", max_length=500)],
    kind: Annotated[Kind, Field(description="What is looked for.")] = "entity",
    graph: GraphName = None,
    limit: Annotated[int, Field(description="Hits at most.", ge=1, le=50)] = 10,
    language: Language = None,
) -> Hits:
    """Find things, classes, properties or values by name, with what the graph says of each."""
    async with graph_context(graph, text=query, language=language) as context:
        found = await asyncio.to_thread(_found, context.graph, query, kind, limit)
        known = [SearchHit(parse_resource_term(one.item.iri), one.item, one.name) for one in found]
        told = await (format_properties if kind == "property" else format_entities)(context, known)
        return Hits(
            graph=context.graph.name,
            hits=[_hit(one, context.graph) for one in found],
            text="\n".join(told.lines) or f"nothing goes by {query!r}; try other or fewer words",
        )


async def describe(
    iri: Annotated[str, Field(description="Its IRI, as prefix:name or <http://…>.")],
    graph: GraphName = None,
    language: Language = None,
) -> Described:
    """Get what the graph says of one entity, class or property: types, values, links both ways."""
    async with graph_context(graph, language=language) as context:
        told = await describe_in(context, iri)
        # The description begins with the IRI, shortened.
        short, _, _ = told.text.partition("\n")[0].partition(" ")
        full = next(iri for iri in told.seen if context.graph.prefixes.shorten(iri) == short)
        labels = await fetch_labels(context, [full])
        return Described(graph=context.graph.name, iri=full, label=labels.get(full), text=told.text)


async def examples(
    question: Annotated[
        str | None, Field(description="Those most like this one; without it, any.")
    ] = None,
    graph: GraphName = None,
    limit: Annotated[int, Field(description="Examples at most.", ge=1, le=20)] = 3,
) -> Examples:
    """Get questions that were asked of the graph, with the SPARQL queries that answer them."""
    async with graph_context(graph, text=question or "") as context:
        every = context.graph.examples
        if question:
            near = await asyncio.to_thread(rank_examples, question, every, limit=limit)
        else:
            near = [(one, -1.0) for one in sample_examples("", every, limit=limit)]
        told = [
            Example(
                question=clip_text(one.question, 500),
                query=clip_text(one.query, _QUERY),
                origin=one.origin,
                similarity=round(score, 3) if score >= 0 else None,
            )
            for one, score in near
        ]
        return Examples(graph=context.graph.name, examples=told, total=len(every))


def _found(graph: KnowledgeGraph, text: str, kind: Kind, limit: int) -> list[IndexHit[Resource]]:
    """The hits of an index for a name, without lone halves of characters."""
    keys = {"property": "properties", "value": "literals"}
    index = graph.indices.get(keys.get(kind, "entities"))
    within = [one.iri for one in graph.profile.classes] if kind == "class" else None
    words = " ".join(text.encode(errors="replace").decode().split())
    return [] if index is None else list(index.search(words, limit=limit, within=within))


def _hit(hit: IndexHit[Resource], graph: KnowledgeGraph) -> Hit:
    iri = hit.item.iri
    return Hit(
        iri=clip_text(iri, 2 * _NAME) if iri.startswith('"') else iri,
        name=clip_text(iri, _NAME) if iri.startswith('"') else graph.prefixes.shorten(iri),
        label=clip_text(hit.item.label, _NAME),
        matched=clip_text(hit.name or hit.item.label, _NAME),
    )


async def shapes(
    classes: Classes = None, graph: GraphName = None, language: Language = None
) -> Shapes:
    """Get what the instances of classes have: properties, what these lead to, how many have them.

    Without classes, the classes of the graph are listed with their numbers of instances.
    """
    async with graph_context(graph, language=language) as context:
        told = [await _shape(context, name) for name in classes or ()]
        listed = [] if told else class_lines(context.graph, context.language)
        return Shapes(graph=context.graph.name, shapes=told, classes=listed)


async def _shape(context: Context, name: str) -> ShapeOfClass:
    graph = context.graph
    iri = (await shape_of(context, name)).seen[0]  # says what is wrong with a name
    shape = await load_shape(
        iri, graph.profile, graph.endpoint, arrays=graph.arrays, timeout=context.limits.timeout
    )
    lines = shape.lines[:_LINES]
    predicates = [line.predicate for line in lines]
    examples = [line.example.value for line in lines if isinstance(line.example, NamedNode)]
    writer = await TermWriter.from_iris(context, [iri, *predicates, *examples])
    return ShapeOfClass(
        cls=writer.write_short(iri),
        label=writer.labels.get(iri),
        instances=shape.instances,
        properties=[_property(line, shape, writer) for line in lines],
    )


def _property(line: ShapeLine, shape: Shape, writer: TermWriter) -> Property:
    share = shape.get_share(line)
    known = isinstance(line.example, NamedNode | RdfLiteral)
    return Property(
        predicate=writer.write_short(line.predicate),
        label=writer.labels.get(line.predicate),
        inverse=line.inverse,
        share=None if share is None else round(share, 3),
        triples=line.triples,
        kinds=[writer.write_short(kind) for kind in line.kinds],
        example=writer.write_term(line.example) if known else None,
    )


_TAKEN = 1_000  # rows that are fetched
_PREVIEW = 5
_FINDINGS = 20
Query = Annotated[
    str,
    Field(description="SPARQL that reads; known prefixes need no PREFIX line.", max_length=100_000),
]


async def propose_queries(
    question: Annotated[
        str, Field(description="A question or a part of one.", min_length=1, max_length=2_000)
    ],
    graph: GraphName = None,
    language: Language = None,
) -> Candidates:
    """Get queries that may answer a question, with their results. Asks no language model."""
    async with graph_context(graph, text=question, language=language) as context:
        found = await find_best_candidates(context, question)
        shown = [row for one in found.candidates for row in one.result.rows[:_PREVIEW]]
        iris = [*iris_in(shown), *(iri for one in found.candidates for iri in iris_of(one.query))]
        labels = await labels_of(iris, context.graph, [context.language, "en"])
        told = [_candidate(one, found, labels, context) for one in found.candidates]
        rows = [row for one in told for row in one.rows]
        return Candidates(
            graph=context.graph.name,
            candidates=told,
            confidence=round(found.confidence, 4),
            labels=labels_shown(rows, labels),
        )


async def validate(query: Query, graph: GraphName = None, language: Language = None) -> Checked:
    """Check a query against what is known of the graph, and repair it if that is safe.

    Nothing is run, and prefixes of the graph need not be declared. Finds errors of syntax, names
    that the graph does not hold, wrong directions and datatypes, filters that never hold.
    """
    async with graph_context(graph, language=language) as context:
        services = Services(graph_knowledge(context.graph), {})
        whole = query
        with suppress(QueryError):  # what cannot be read is what the checks report
            namespaces = context.graph.prefixes.namespaces
            whole = await asyncio.to_thread(with_declared, query, namespaces)
        found = await asyncio.to_thread(validated, whole, services, language=context.language)
        above = whole.count("\n") - query.count("\n")
        checked = Checked(
            graph=context.graph.name,
            valid=not found.is_wrong,
            findings=[
                Finding(
                    kind=one.kind.value,
                    message=one.message,
                    line=one.place.line - above if one.place else None,
                    column=one.place.column if one.place else None,
                    certainty=round(one.certainty, 3),
                    instead=[
                        f"{new.text} ({new.label})" if new.label else new.text
                        for new in one.proposals
                    ],
                )
                for one in sorted(found.findings, key=lambda one: one.certainty < WRONG)[:_FINDINGS]
            ],
            repaired=found.repaired if found.repairs else None,
            repairs=[one.note for one in found.repairs],
        )
    if checked.repaired is None and whole != query:  # for those who do not know the prefixes
        return checked.model_copy(update={"repaired": whole})
    return checked


async def execute(
    query: Query,
    graph: GraphName = None,
    limit: Annotated[int, Field(description="Rows to show at most.", ge=1, le=500)] = ROWS,
    language: Language = None,
) -> Table:
    """Run a SPARQL query that reads (SELECT, ASK, CONSTRUCT, DESCRIBE) and see its result.

    A query that fails comes with the place and the nearest valid names, an empty result with the
    reason for it. At most 1,000 rows are taken.
    """
    async with graph_context(graph, language=language, scope="query") as context:
        found = await execute_query(context, query, rows=_TAKEN)
        if isinstance(found, Observation):
            raise QueryError(found.text)
        notes = [*found.notes, *([found.remark.text] if found.remark.text else [])]
        ran = found.query_run
        given = ran.result.table if isinstance(ran.result, GraphResult) else ran.result
        result = SelectResult((), ()) if isinstance(given, bool) else given
        shown = cells(result.rows, limit)
        languages = [context.language, "en"]
        labels = await labels_of(iris_in(result.rows[: len(shown)]), context.graph, languages)
        return Table(
            graph=context.graph.name,
            query=ran.query,
            columns=list(result.variables),
            rows=shown,
            total=len(result.rows),
            boolean=given if isinstance(given, bool) else None,
            labels=labels_shown(shown, labels),
            cut=cut_words(result.truncated),
            notes=notes,
        )


def _candidate(
    one: CandidateResult, found: BestCandidates, labels: dict[str, str], context: Context
) -> Candidate:
    return Candidate(
        words=read_for_graph(one.query, labels, context.graph, context.language),
        query=one.query,
        columns=list(one.result.variables),
        rows=cells(one.result.rows, _PREVIEW),
        total=1 if one.boolean is not None else len(one.result.rows),
        boolean=one.boolean,
        unused_words=list(
            find_omitted_words(found.proposal, one.cluster.best, is_query_shown=True)
        ),
    )
