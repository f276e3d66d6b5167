"""Queries: run, validated, formatted, with evidence; their parts swapped, rows arranged."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from itertools import chain, count, repeat
from typing import Annotated
from typing import Literal as Choice

from fastapi import APIRouter
from pydantic import BaseModel, Field
from pyoxigraph import Literal, NamedNode

from askgraph.answers import AnswerBuilder, list_resources
from askgraph.answers.alternatives import Alternative, find_alternatives
from askgraph.answers.changed_query import add_pattern
from askgraph.answers.evidence import fetch_evidence
from askgraph.answers.query_parts import (
    QuestionPiece,
    ReplaceableTerm,
    describe_query,
    split_question,
)
from askgraph.answers.validation import MIN_WRONG_CERTAINTY, FaultKind, Finding, ServiceKnowledge
from askgraph.answers.validation.graph_knowledge import load_graph_knowledge
from askgraph.answers.validation.validate import MIN_REPAIR_CERTAINTY, validate_query
from askgraph.answers.verbalize import fetch_term_labels
from askgraph.answers.verbalize.labels import list_name_predicates
from askgraph.errors import QueryError
from askgraph.search.link import find_alternative_targets
from askgraph.search.pipeline import link_to_graph
from askgraph.search.tokenize import tokenize
from askgraph.server import runs
from askgraph.server.hub import Asker, HubDep
from askgraph.server.problems import NotFound
from askgraph.server.rest import GraphName, OpenGraph, QueryableGraph, QueryTextBody, label_query
from askgraph.server.runs.replies import answer_query
from askgraph.sparql import Pattern, Query
from askgraph.sparql.federation.service import list_services
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.sparql.rewrite import lay_out_query
from askgraph.sparql.rewrite.swapped import (
    ColumnCondition,
    Comparison,
    add_condition,
    count_by,
    create_literal,
    get_arrangement,
    remove_condition,
    replace_term,
    select_query_columns,
    set_limit,
    sort_by,
    sort_by_name,
)
from askgraph.sparql.serializer import format_tree, to_tree
from askgraph.sparql.vocabulary import XSD_STRING
from askgraph.trace import Evidence

router = APIRouter(prefix="/api/v1", tags=["queries"])

_MAX_PROPOSALS = 3  # terms that a finding names
# Characters of a query that is checked: it is parsed, more than once.
_MAX_VALIDATED_CHARACTERS = 10_000


class QueryBody(QueryTextBody):
    """A query to run."""

    timeout: float | None = Field(None, gt=0, le=3600, description="Seconds; at most the server's.")
    limit: int | None = Field(None, ge=1, description="Rows to send; at most the server's.")


class AnswerBody(QueryBody):
    """A query to use as the answer, instead of a method's."""

    columns: list[str] = Field(
        [], max_length=100, description="The columns that answer; all if the result has none."
    )


class EvidenceBody(QueryTextBody):
    """A row of a query's result."""

    row: int = Field(ge=0, le=1_000_000, description="Its position, from 0.")


class FindingView(BaseModel):
    """A fault of a query, and its place."""

    check: str = Field(description="The kind of fault.")
    message: str
    severity: Choice["error", "warning", "info"] = Field(
        description="error: surely wrong; warning: likely; info: less so."
    )
    certainty: float = Field(description="How sure, 0 to 1.")
    line: int | None = Field(description="From 1, in `query` of the validation.")
    column: int | None = Field(description="From 1.")
    start: int | None = Field(description="Where it starts, in characters from 0.")
    end: int | None = Field(description="Where it ends, in characters.")
    repair: str | None = Field(description="Possible replacements.")


class ValidationView(BaseModel):
    """The faults of a query, and the query with its safe repairs."""

    query: str = Field(description="The text that the positions refer to.")
    findings: list[FindingView]
    words: str = Field(description="The query in words.")
    repaired: str | None = Field(description="The repaired query, if anything was repaired.")
    repairs: list[str] = Field(description="What was repaired, in words.")


class FormattedView(BaseModel):
    """A formatted query."""

    query: str


class RowEvidenceView(runs.EvidenceView):
    """The triples behind a row, with labels for their IRIs."""

    labels: dict[str, str]


@router.post("/graphs/{graph}/query")
async def run_query(opened: QueryableGraph, body: QueryBody, hub: HubDep) -> runs.TableView:
    """Run a read-only query; prefixes of the graph need not be declared."""
    max_rows = hub.settings.page_rows if body.limit is None else body.limit
    checked_query = await asyncio.to_thread(hub.queries.check, body.query, opened)
    result = await hub.queries.run(checked_query, opened, timeout=body.timeout)
    limit = min(max_rows, hub.settings.max_rows)
    builder = AnswerBuilder(opened, [body.language], hub.settings.query_timeout)
    table = result.table if isinstance(result, GraphResult) else result
    rows = () if isinstance(table, bool) else table.rows[:limit]
    labels = await builder.load_labels(list_resources(rows))
    return await asyncio.to_thread(runs.to_table_view, result, labels, limit=limit)


@router.post("/graphs/{graph}/answer")
async def answer_with_query(
    opened: QueryableGraph, body: AnswerBody, hub: HubDep
) -> runs.AnswerView:
    """Run a query of the caller and return its answer as that of a question.

    The answer has the query in words and the triples behind its first rows, or why it is empty.
    """
    languages, columns, timeout = [body.language], body.columns, body.timeout
    query_answer = await answer_query(
        hub, body.query, opened, languages=languages, columns=columns, timeout=timeout
    )
    limit = min(hub.settings.page_rows if body.limit is None else body.limit, hub.settings.max_rows)
    view = await asyncio.to_thread(runs.to_answer_view, query_answer, limit=limit)
    return view.model_copy(update={"status": "edited"})


@router.post("/graphs/{graph}/evidence")
async def get_row_evidence(
    opened: QueryableGraph, body: EvidenceBody, hub: HubDep
) -> RowEvidenceView:
    """Return the triples behind one row of a SELECT query's result, with labels."""
    checked_query = await asyncio.to_thread(hub.queries.check, body.query, opened)
    result = await hub.queries.run(checked_query, opened, limit=body.row + 1)
    if not isinstance(result, SelectResult) or len(result.rows) <= body.row:
        raise NotFound(f"the result has no row {body.row}; rows count from 0")
    single_row = SelectResult(result.variables, result.rows[body.row :])
    async with hub.queries.wait_turn(opened.name):
        row_triples = await fetch_evidence(checked_query.text, single_row, opened.endpoint, rows=1)
        labels = await fetch_term_labels(row_triples.iris, opened, [body.language])
    evidence = next(iter(row_triples.describe(labels)), Evidence(body.row, ()))
    triples, words = list(evidence.triples), list(evidence.words)
    return RowEvidenceView(row=body.row, triples=triples, words=words, labels=labels)


@router.post("/graphs/{graph}/validate")
async def check_query_text(
    graph: GraphName, body: QueryTextBody, hub: HubDep, caller: Asker
) -> ValidationView:
    """Check a query against the profile of the graph, without running it."""
    if len(body.query) > _MAX_VALIDATED_CHARACTERS:
        raise QueryError(
            f"queries are checked up to {_MAX_VALIDATED_CHARACTERS:,} characters; this one is "
            "longer"
        )
    async with AsyncExitStack() as stack:
        open_graph = await stack.enter_async_context(hub.graphs.lease(graph, caller))
        names = {f"askgraph:{name}": name for name in hub.graphs.list_names(caller)}
        graphs = {
            target: await stack.enter_async_context(hub.graphs.lease(names[target], caller))
            for target in list_services(body.query)
            if target in names
        }
        services = await asyncio.to_thread(
            lambda: ServiceKnowledge(
                load_graph_knowledge(open_graph),
                {target: load_graph_knowledge(other) for target, other in graphs.items()},
            )
        )
        validation = await asyncio.to_thread(
            validate_query, body.query, services, language=body.language
        )
        labeled = await label_query(validation.query, open_graph, body.language)
        return ValidationView(
            query=validation.query,
            # Ignore undeclared prefixes of the graph: the server declares them.
            findings=[
                _to_finding_view(finding)
                for finding in validation.findings
                if finding.kind is not FaultKind.PREFIX or not finding.proposals
            ],
            words=await labeled.verbalize(),
            repaired=validation.repaired if validation.repairs else None,
            repairs=[repair.note for repair in validation.repairs],
        )


@router.post("/graphs/{graph}/format")
async def format_query(opened: OpenGraph, body: QueryTextBody) -> FormattedView:
    """Format a query, with prefixed names and with labels as comments; its meaning is unchanged."""
    labeled = await label_query(body.query, opened, body.language)
    text = await asyncio.to_thread(lay_out_query, body.query, opened.prefixes, labeled.labels)
    return FormattedView(query=text)


def _to_finding_view(finding: Finding) -> FindingView:
    location, certainty = finding.place, finding.certainty
    is_likely, is_sure = certainty >= MIN_WRONG_CERTAINTY, certainty >= MIN_REPAIR_CERTAINTY
    proposals = " or ".join(proposal.text for proposal in finding.proposals[:_MAX_PROPOSALS])
    return FindingView(
        check=finding.kind.value,
        message=f"{finding.message}: {proposals}?" if proposals else finding.message,
        severity="info" if not is_likely else "error" if is_sure else "warning",
        certainty=certainty,
        line=location.line if location else None,
        column=location.column if location else None,
        start=location.start if location else None,
        end=location.end if location else None,
        repair=finding.proposals[0].text if finding.proposals else None,
    )


_MAX_PARTS = 40  # parts that have alternatives
_ALTERNATIVES_TIMEOUT_SECONDS = 3.0  # for each query that looks for alternatives


class PartsBody(QueryTextBody):
    """A query to split into its parts."""

    question: str | None = Field(None, max_length=4000, description="The question that it answers.")
    alternatives: bool = Field(True, description="Whether to return alternatives.")


class SwapBody(QueryTextBody):
    """Another term for a part of a query."""

    part: int | Annotated[str, Field(max_length=10_000)] = Field(
        description="The part: its `id`, its IRI, or its value."
    )
    to: str = Field(max_length=10_000, description="An IRI for an IRI; for a value its text.")


class ConditionBody(runs.RequestBody):
    """A condition: a column compared with a value."""

    column: str = Field(max_length=200)
    comparison: Comparison
    value: str = Field(max_length=10_000)
    datatype: str | None = Field(None, max_length=1000, description="Of the value: an IRI.")


class RefineBody(QueryTextBody):
    """A new arrangement of a query's rows; omitted fields stay unchanged."""

    sort_by: str | None = Field(None, max_length=200, description="A column; empty: unsorted.")
    by_name: bool = Field(False, description="Whether to sort by the names of things.")
    descending: bool = False
    limit: int | None = Field(None, ge=0, le=1_000_000, description="Rows at most; 0: all.")
    columns: list[str] | None = Field(None, max_length=100, description="Those that are kept.")
    condition: ConditionBody | None = Field(None, description="One more condition.")
    pattern: str | None = Field(
        None,
        max_length=10_000,
        description="One more triple pattern; a variable that is new becomes a column.",
    )
    without: int | None = Field(None, ge=0, description="A condition to remove, by its position.")
    count_by: str | None = Field(None, max_length=200, description="A column to count rows by.")


class SortView(BaseModel):
    """A column by which rows are sorted."""

    column: str
    descending: bool


class ConditionView(BaseModel):
    """A condition on a column of a query."""

    column: str
    comparison: Comparison
    value: str


class ArrangementView(BaseModel):
    """How a query arranges its rows."""

    columns: list[str]
    order: list[SortView]
    limit: int | None
    conditions: list[ConditionView]
    hidden: list[str] = Field(description="Variables that could be columns.")
    counts: bool = Field(description="Whether it counts, or computes another aggregate of groups.")


class RefinedView(BaseModel):
    """The query with its rows arranged anew."""

    query: str


class PieceView(BaseModel):
    """A piece of the query in words."""

    text: str
    part: int | None = Field(None, description="The part that these words stand for.")


class QuestionPieceView(BaseModel):
    """A piece of the question."""

    text: str
    parts: list[int] = Field(description="The parts that these words mean.")


class AlternativeView(BaseModel):
    """A term that could replace a part."""

    iri: str | None = None
    value: str | None = None
    label: str
    description: str | None = None
    rows: int | None = Field(None, description="Solutions that the query then has, if counted.")


class PartView(BaseModel):
    """A part of a query that can be changed."""

    id: int
    kind: Choice["entity", "class", "predicate", "value"]
    iri: str | None = None
    value: str | None = None
    datatype: str | None = None
    label: str
    alternatives: list[AlternativeView]


class PartsView(BaseModel):
    """A query in words, as pieces that join to the entire text, and its parts."""

    pieces: list[PieceView]
    parts: list[PartView]
    question: list[QuestionPieceView] = Field(
        description="The question as pieces that join to its text; empty if it has no links."
    )
    arrangement: ArrangementView | None = Field(description="None if it has no rows to arrange.")


class SwappedView(BaseModel):
    """The query with another term, and in words."""

    query: str
    words: str


@router.post("/graphs/{graph}/parts")
async def list_parts(graph: GraphName, body: PartsBody, hub: HubDep, caller: Asker) -> PartsView:
    """Return a query in words, the words of each of its parts, and alternatives for the parts.

    Other meanings of the question's words come first. If the caller may run queries, the graph is
    queried for alternatives that have an answer.
    """
    async with hub.graphs.lease(graph, caller) as open_graph, hub.queries.wait_turn(graph):
        labeled = await label_query(body.query, open_graph, body.language)
        read_query = await labeled.write(describe_query)
        part_alternatives: tuple[tuple[Alternative, ...], ...] = ()
        question_pieces: tuple[QuestionPiece, ...] = ()
        other_meanings: dict[str, tuple[str, ...]] = {}
        if body.question:
            # The names of a remote graph are searched only for alternatives.
            names_graph = open_graph if body.alternatives else replace(open_graph, name_search=None)
            linked = await link_to_graph(tokenize(body.question, body.language), names_graph)
            if linked.reading.text == body.question:  # some questions are rephrased to link them
                question_pieces = split_question(linked, read_query.parts, labeled.labels)
            iris = [part.term.value for part in read_query.parts if part.kind != "value"]
            other_meanings = {iri: find_alternative_targets(linked, iri) for iri in iris}
        if body.alternatives:
            part_alternatives = await find_alternatives(
                labeled.text,
                read_query.parts[:_MAX_PARTS],
                open_graph,
                [body.language],
                timeout=min(_ALTERNATIVES_TIMEOUT_SECONDS, hub.settings.query_timeout),
                query_graph=caller.has_scope("query"),
                other_meanings=other_meanings,
            )
    return PartsView(
        pieces=[PieceView(text=piece.text, part=piece.part) for piece in read_query.pieces],
        parts=[
            _to_part_view(number, part, labeled.labels, alternatives)
            for number, part, alternatives in zip(
                count(), read_query.parts, chain(part_alternatives, repeat(())), strict=False
            )
        ],
        question=[
            QuestionPieceView(text=item.text, parts=[*item.parts]) for item in question_pieces
        ],
        arrangement=_build_arrangement_view(labeled.text),
    )


@router.post("/graphs/{graph}/refine")
async def refine_query(opened: OpenGraph, body: RefineBody) -> RefinedView:
    """Return a query with its rows sorted, limited, filtered or counted; it does not run."""
    labeled = await label_query(body.query, opened, body.language)
    naming = list_name_predicates(opened)
    language = labeled.language if labeled.nouns is None else labeled.nouns
    refined_query = await asyncio.to_thread(
        _apply_refinements, to_tree(labeled.text), body, naming, [language, ""] if language else []
    )
    return RefinedView(query=str(format_tree(refined_query, opened.prefixes, labeled.labels)))


def _apply_refinements(
    query: Query, body: RefineBody, naming: Sequence[str], languages: Sequence[str]
) -> Query:
    """Arrange the rows of a query: conditions first, then counting, sorting and the limit."""
    if get_arrangement(query) is None:
        raise QueryError("only the rows of a SELECT query can be sorted, filtered or counted")
    if body.without is not None:
        query = remove_condition(query, body.without)
    if body.pattern is not None:
        match to_tree(f"ASK {{ {body.pattern} }}").where.elements:
            case (Pattern() as pattern,):
                query = add_pattern(query, pattern, is_optional=body.count_by is None)
            case _:
                raise QueryError(
                    f"{body.pattern!r} is not a triple pattern: write `?moon :orbits ?x`"
                )
    if body.condition:
        value = create_literal(body.condition.value, body.condition.datatype)
        query = add_condition(
            query, ColumnCondition(body.condition.column, body.condition.comparison, value)
        )
    if body.count_by is not None:
        # What a pattern adds is counted, unless it is what the rows are grouped by.
        new = query.columns[-1][0].value if body.pattern is not None and query.columns else None
        query = count_by(query, body.count_by, new)
    if body.columns is not None:
        query = select_query_columns(query, body.columns)
    if body.sort_by and body.by_name:
        query = sort_by_name(query, body.sort_by, naming, languages, descending=body.descending)
    elif body.sort_by is not None:
        query = sort_by(query, body.sort_by or None, descending=body.descending)
    return query if body.limit is None else set_limit(query, body.limit or None)


def _build_arrangement_view(query: str) -> ArrangementView | None:
    try:
        arrangement = get_arrangement(to_tree(query))
    except QueryError:
        return None
    if arrangement is None:
        return None
    conditions = [{**vars(test), "value": test.value.value} for test in arrangement.conditions]
    order = [{"column": name, "descending": falls} for name, falls in arrangement.order]
    fields = {**vars(arrangement), "order": order, "conditions": conditions}
    return ArrangementView.model_validate({**fields, "counts": arrangement.is_aggregate})


@router.post("/graphs/{graph}/swap")
async def swap_term(opened: OpenGraph, body: SwapBody) -> SwappedView:
    """Return a query with another term in the place of one of its parts; it does not run."""
    labeled = await label_query(body.query, opened, body.language)
    read_query = await labeled.write(describe_query)
    part = next(
        (part for id, part in enumerate(read_query.parts) if body.part in (id, part.term.value)),
        None,
    )
    if part is None:
        raise QueryError(
            f"the query has no part {body.part!r}; it has {len(read_query.parts)}, listed "
            "by POST …/parts"
        )
    labels: dict[str, str] = {}
    if isinstance(part.term, NamedNode):
        labels = await fetch_term_labels([part.term.value, body.to], opened, [body.language])
    query = await asyncio.to_thread(
        replace_term, body.query, part.term, body.to, prefixes=opened.prefixes, labels=labels
    )
    labeled = await label_query(query, opened, body.language)
    return SwappedView(query=query, words=await labeled.verbalize())


def _to_part_view(
    number: int,
    part: ReplaceableTerm,
    labels: dict[str, str],
    alternatives_of_part: tuple[Alternative, ...],
) -> PartView:
    views = [
        AlternativeView(
            iri=alternative.term.value if isinstance(alternative.term, NamedNode) else None,
            value=alternative.term.value if isinstance(alternative.term, Literal) else None,
            label=alternative.label,
            description=alternative.description or None,
            rows=alternative.rows,
        )
        for alternative in alternatives_of_part
    ]
    term = part.term
    if isinstance(term, NamedNode):
        label = labels.get(term.value) or split_local_name(term.value)
        return PartView(id=number, kind=part.kind, iri=term.value, label=label, alternatives=views)
    has_datatype = not term.language and term.datatype.value != XSD_STRING
    return PartView(
        id=number,
        kind="value",
        value=term.value,
        datatype=term.datatype.value if has_datatype else None,
        label=term.value,
        alternatives=views,
    )
