"""Queries: run, checked, laid out, with evidence; their parts swapped, rows arranged."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from itertools import islice
from typing import Annotated
from typing import Literal as Choice

from fastapi import APIRouter
from pydantic import BaseModel, Field
from pyoxigraph import Literal, NamedNode

from askgraph.answers.alternatives import Alternative, alternatives
from askgraph.answers.evidence import evidence
from askgraph.answers.query_parts import Part, ReadBack, read_back
from askgraph.answers.validation import WRONG, Finding, Kind, Knowledge, Services
from askgraph.answers.validation.graph_knowledge import graph_knowledge
from askgraph.answers.validation.validate import SURE, validated
from askgraph.answers.verbalize import labels_of
from askgraph.errors import QueryError
from askgraph.search.link import find_alternative_targets
from askgraph.search.pipeline import link_to_graph
from askgraph.search.tokenize import tokenize
from askgraph.server.hub import Asker, HubDep
from askgraph.server.problems import Missing
from askgraph.server.rest import (
    GraphName,
    NamedQuery,
    OpenGraph,
    QueriedGraph,
    QueryText,
    name_terms,
)
from askgraph.server.runs import AnswerView, Body, EvidenceView, TableView, answer_view, table_of
from askgraph.server.runs.replies import answer_query
from askgraph.sparql import Query
from askgraph.sparql.federation.service import called_services
from askgraph.sparql.prefixes import words_of_local_name
from askgraph.sparql.results import GraphResult, Result, SelectResult
from askgraph.sparql.rewrite import formatted
from askgraph.sparql.rewrite.refined import (
    Comparison,
    Condition,
    arrangement,
    counted_by,
    limited,
    literal_of,
    sorted_by,
    with_columns,
    with_condition,
    without_condition,
)
from askgraph.sparql.rewrite.swapped import swapped
from askgraph.sparql.serializer import laid_out, tree_of
from askgraph.sparql.vocabulary import XSD_STRING

router = APIRouter(prefix="/api/v1", tags=["queries"])

_LABELLED = 500  # things of a result that are named
_CHECKED = 10_000  # characters of a query that is checked: it is parsed, more than once


class QueryBody(QueryText):
    """A query to run."""

    timeout: float | None = Field(None, gt=0, le=3600, description="Seconds; at most the server's.")
    limit: int | None = Field(None, ge=1, description="Rows to send; at most the server's.")


class AnswerBody(QueryBody):
    """A query to answer with, in the place of a method's."""

    columns: list[str] = Field(
        [], max_length=100, description="The columns that answer; all if the result has none."
    )


class EvidenceBody(QueryText):
    """A row of a query's result."""

    row: int = Field(ge=0, le=1_000_000, description="Its place, from 0.")


class FindingView(BaseModel):
    """One thing that is wrong with a query, and where."""

    check: str = Field(description="What kind of fault it is.")
    message: str
    severity: Choice["error", "warning", "info"] = Field(
        description="error: surely wrong; warning: likely; info: less so."
    )
    certainty: float = Field(description="How sure, 0 to 1.")
    line: int | None = Field(description="From 1, in `query` of the validation.")
    column: int | None = Field(description="From 1.")
    start: int | None = Field(description="Where it starts, in characters from 0.")
    end: int | None = Field(description="Where it ends, in characters.")
    repair: str | None = Field(description="What could stand there instead.")


class ValidationView(BaseModel):
    """What is wrong with a query, and the query with what can safely be repaired."""

    query: str = Field(description="The text that places count in.")
    findings: list[FindingView]
    words: str = Field(description="The query read back.")
    repaired: str | None = Field(description="The repaired query, if anything was repaired.")
    repairs: list[str] = Field(description="What was repaired, in words.")


class FormattedView(BaseModel):
    """A query as a careful person writes it."""

    query: str


class RowEvidenceView(EvidenceView):
    """The triples behind a row, with names for their IRIs."""

    labels: dict[str, str]


@router.post("/graphs/{graph}/query")
async def query(opened: QueriedGraph, body: QueryBody, hub: HubDep) -> TableView:
    """Run a query, which may only read; prefixes of the graph need not be declared."""
    most = hub.settings.page_rows if body.limit is None else body.limit
    ready = await asyncio.to_thread(hub.queries.read, body.query, opened)
    result = await hub.queries.run(ready, opened, timeout=body.timeout)
    labels = await labels_of(
        islice(_iris(result), _LABELLED),
        opened,
        [body.language],
        timeout=hub.settings.query_timeout,
    )
    return await asyncio.to_thread(table_of, result, labels, limit=min(most, hub.settings.max_rows))


@router.post("/graphs/{graph}/answer")
async def answer(opened: QueriedGraph, body: AnswerBody, hub: HubDep) -> AnswerView:
    """Run a query of the caller's and return its answer as that of a question.

    It is read back in words, with the triples behind its first rows, or why there are none.
    """
    settings = hub.settings
    most = settings.page_rows if body.limit is None else body.limit
    told = await answer_query(
        hub,
        body.query,
        opened,
        languages=[body.language],
        columns=body.columns,
        timeout=body.timeout,
    )
    view = await asyncio.to_thread(answer_view, told, limit=min(most, settings.max_rows))
    return view.model_copy(update={"status": "edited"})


@router.post("/graphs/{graph}/evidence")
async def row_evidence(opened: QueriedGraph, body: EvidenceBody, hub: HubDep) -> RowEvidenceView:
    """Return the triples behind one row of a SELECT query's result, with names."""
    ready = await asyncio.to_thread(hub.queries.read, body.query, opened)
    result = await hub.queries.run(ready, opened, limit=body.row + 1)
    rows = result.rows[body.row :] if isinstance(result, SelectResult) else ()
    if not isinstance(result, SelectResult) or not rows:
        raise Missing(f"the result has no row {body.row}; rows count from 0")
    one = SelectResult(result.variables, rows[:1])
    async with hub.queries.turn(opened.name):
        behind = await evidence(ready.text, one, opened.endpoint, rows=1)
        labels = await labels_of(behind.iris, opened, [body.language])
    told = behind.told(labels)
    return RowEvidenceView(
        row=body.row,
        triples=list(told[0].triples) if told else [],
        words=list(told[0].words) if told else [],
        labels=labels,
    )


@router.post("/graphs/{graph}/validate")
async def validate(graph: GraphName, body: QueryText, hub: HubDep, caller: Asker) -> ValidationView:
    """Check a query against what the graph is known to hold; nothing is run."""
    if len(body.query) > _CHECKED:
        raise QueryError(f"queries are checked up to {_CHECKED:,} characters; this one is longer")
    async with AsyncExitStack() as stack:
        opened = await stack.enter_async_context(hub.graphs.lease(graph, caller))
        query = body.query
        names = {f"askgraph:{name}": name for name in hub.graphs.names(caller)}
        others: dict[str, Knowledge] = {}
        for target in called_services(query):
            if target in names:
                other = await stack.enter_async_context(hub.graphs.lease(names[target], caller))
                others[target] = await asyncio.to_thread(graph_knowledge, other)
        services = Services(await asyncio.to_thread(graph_knowledge, opened), others)
        found = await asyncio.to_thread(validated, body.query, services, language=body.language)
        asked = await name_terms(found.query, opened, body.language)
        words = await asked.words()
        return ValidationView(
            query=found.query,
            # A prefix of the graph need not be declared to be run here.
            findings=[
                _finding(one)
                for one in found.findings
                if one.kind is not Kind.PREFIX or not one.proposals
            ],
            words=words,
            repaired=found.repaired if found.repairs else None,
            repairs=[repair.note for repair in found.repairs],
        )


@router.post("/graphs/{graph}/format")
async def format_query(opened: OpenGraph, body: QueryText) -> FormattedView:
    """Lay a query out, with short names and with labels as comments; it means the same."""
    asked = await name_terms(body.query, opened, body.language)
    text = await asyncio.to_thread(formatted, body.query, opened.prefixes, asked.labels)
    return FormattedView(query=text)


def _finding(finding: Finding) -> FindingView:
    place, sure = finding.place, finding.certainty
    return FindingView(
        check=finding.kind.value,
        message=finding.message,
        severity="info" if sure < WRONG else "error" if sure >= SURE else "warning",
        certainty=sure,
        line=place.line if place else None,
        column=place.column if place else None,
        start=place.start if place else None,
        end=place.end if place else None,
        repair=finding.proposals[0].text if finding.proposals else None,
    )


def _iris(result: Result) -> Iterator[str]:
    """The IRIs of a result, in the order in which they are shown."""
    if isinstance(result, bool):
        return
    rows = (result.table if isinstance(result, GraphResult) else result).rows
    seen: set[str] = set()
    for row in rows:
        for term in row:
            if isinstance(term, NamedNode) and term.value not in seen:
                seen.add(term.value)
                yield term.value


_MOST = 40  # parts that have alternatives
_SECONDS = 3.0  # for each query that looks for alternatives


class PartsBody(QueryText):
    """A query to read back."""

    question: str | None = Field(
        None, max_length=4000, description="The question that it answers, if there is one."
    )
    alternatives: bool = Field(True, description="Whether to say what else could stand there.")


class SwapBody(QueryText):
    """Another term for a part of a query."""

    part: int | Annotated[str, Field(max_length=10_000)] = Field(
        description="The part: its `id`, its IRI, or its value."
    )
    to: str = Field(max_length=10_000, description="An IRI for an IRI; for a value its text.")


class ConditionBody(Body):
    """That a column compares so with a value."""

    column: str = Field(max_length=200)
    comparison: Comparison
    value: str = Field(max_length=10_000)
    datatype: str | None = Field(None, max_length=1000, description="Of the value: an IRI.")


class RefineBody(QueryText):
    """How a query's rows shall be arranged; what is left out stays as it is."""

    sort_by: str | None = Field(None, max_length=200, description="A column; empty: unsorted.")
    descending: bool = False
    limit: int | None = Field(None, ge=0, le=1_000_000, description="Rows at most; 0: all.")
    columns: list[str] | None = Field(None, max_length=100, description="Those that are kept.")
    condition: ConditionBody | None = Field(None, description="One more condition.")
    without: int | None = Field(None, ge=0, description="A condition to take away, by its place.")
    count_by: str | None = Field(None, max_length=200, description="A column to count rows by.")


class SortView(BaseModel):
    """A column that rows are sorted by."""

    column: str
    descending: bool


class ConditionView(BaseModel):
    """A condition on a column that a query has."""

    column: str
    comparison: Comparison
    value: str


class ArrangementView(BaseModel):
    """How a query arranges its rows."""

    columns: list[str]
    order: list[SortView]
    limit: int | None
    conditions: list[ConditionView]
    counts: bool = Field(description="Whether it counts, or computes else of groups.")


class RefinedView(BaseModel):
    """The query with its rows arranged otherwise."""

    query: str


class PieceView(BaseModel):
    """A piece of the read-back."""

    text: str
    part: int | None = Field(None, description="The part that these are the words of.")


class AlternativeView(BaseModel):
    """What else could stand in the place of a part."""

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
    """A query in words, in pieces that joined are the whole text, and its parts."""

    pieces: list[PieceView]
    parts: list[PartView]
    arrangement: ArrangementView | None = Field(description="None if it has no rows to arrange.")


class SwappedView(BaseModel):
    """The query with another term, and in words."""

    query: str
    words: str


@router.post("/graphs/{graph}/parts")
async def parts(graph: GraphName, body: PartsBody, hub: HubDep, caller: Asker) -> PartsView:
    """Return a query in words, which words are which of its parts, and what else could stand there.

    Other meanings of the question's words come first. The graph is asked for terms that have an
    answer in the place of a part if the caller may run queries.
    """
    async with hub.graphs.lease(graph, caller) as opened, hub.queries.turn(graph):
        asked = await name_terms(body.query, opened, body.language)
        back = await _read_back(asked)
        others: tuple[tuple[Alternative, ...], ...] = ()
        if body.alternatives:
            meant: dict[str, tuple[str, ...]] = {}
            if body.question:
                linked = await link_to_graph(tokenize(body.question, body.language), opened)
                iris = [part.term.value for part in back.parts if isinstance(part.term, NamedNode)]
                meant = {iri: find_alternative_targets(linked, iri) for iri in iris}
            others = await alternatives(
                asked.text,
                back.parts[:_MOST],
                opened,
                [body.language],
                timeout=min(_SECONDS, hub.settings.query_timeout),
                asking=caller.may("query"),
                meant=meant,
            )
    pieces = [PieceView(text=piece.text, part=piece.part) for piece in back.pieces]
    views = [
        _part(number, part, asked.labels, others[number] if number < len(others) else ())
        for number, part in enumerate(back.parts)
    ]
    return PartsView(pieces=pieces, parts=views, arrangement=_arranged(asked.text))


@router.post("/graphs/{graph}/refine")
async def refine(opened: OpenGraph, body: RefineBody) -> RefinedView:
    """Return a query with its rows sorted, cut off, filtered or counted; nothing is run."""
    asked = await name_terms(body.query, opened, body.language)
    changed = await asyncio.to_thread(_refined, tree_of(asked.text), body)
    return RefinedView(query=str(laid_out(changed, opened.prefixes, asked.labels)))


def _refined(query: Query, body: RefineBody) -> Query:
    """The query arranged as wanted: conditions first, then what is counted, sorted and cut off."""
    if arrangement(query) is None:
        raise QueryError("only the rows of a SELECT query can be arranged")
    if body.without is not None:
        query = without_condition(query, body.without)
    if body.condition:
        value = literal_of(body.condition.value, body.condition.datatype)
        query = with_condition(
            query, Condition(body.condition.column, body.condition.comparison, value)
        )
    if body.count_by is not None:
        query = counted_by(query, body.count_by)
    if body.columns is not None:
        query = with_columns(query, body.columns)
    if body.sort_by is not None:
        query = sorted_by(query, body.sort_by or None, descending=body.descending)
    return query if body.limit is None else limited(query, body.limit or None)


def _arranged(query: str) -> ArrangementView | None:
    try:
        found = arrangement(tree_of(query))
    except QueryError:
        return None
    if found is None:
        return None
    conditions = [{**vars(one), "value": one.value.value} for one in found.conditions]
    order = [{"column": name, "descending": falls} for name, falls in found.order]
    return ArrangementView.model_validate(
        {**vars(found), "order": order, "conditions": conditions, "counts": found.is_aggregate}
    )


@router.post("/graphs/{graph}/swap")
async def swap(opened: OpenGraph, body: SwapBody) -> SwappedView:
    """Return a query with another term in the place of one of its parts; nothing is run."""
    back = await _read_back(await name_terms(body.query, opened, body.language))
    part = _chosen(back, body.part)
    labels: dict[str, str] = {}
    if isinstance(part.term, NamedNode):
        labels = await labels_of([part.term.value, body.to], opened, [body.language])
    query = await asyncio.to_thread(
        swapped, body.query, part.term, body.to, prefixes=opened.prefixes, labels=labels
    )
    changed = await name_terms(query, opened, body.language)
    return SwappedView(query=query, words=await changed.words())


async def _read_back(query: NamedQuery) -> ReadBack:
    return await asyncio.to_thread(
        read_back,
        query.text,
        query.labels,
        language=query.language,
        nouns=query.nouns,
        facts=query.facts,
    )


def _chosen(back: ReadBack, wanted: int | str) -> Part:
    """The part of a number, or whose IRI or value it is."""
    if isinstance(wanted, int):
        found = back.parts[wanted : wanted + 1] if wanted >= 0 else ()
    else:
        found = tuple(part for part in back.parts if part.term.value == wanted)
    if not found:
        raise QueryError(
            f"the query has no part {wanted!r}; it has {len(back.parts)}, which POST …/parts lists"
        )
    return found[0]


def _part(
    number: int, part: Part, labels: dict[str, str], others: tuple[Alternative, ...]
) -> PartView:
    views = [
        AlternativeView(
            iri=one.term.value if isinstance(one.term, NamedNode) else None,
            value=one.term.value if isinstance(one.term, Literal) else None,
            label=one.label,
            description=one.description or None,
            rows=one.rows,
        )
        for one in others
    ]
    term = part.term
    if isinstance(term, NamedNode):
        label = labels.get(term.value) or words_of_local_name(term.value)
        return PartView(id=number, kind=part.kind, iri=term.value, label=label, alternatives=views)
    typed = not term.language and term.datatype.value != XSD_STRING
    return PartView(
        id=number,
        kind="value",
        value=term.value,
        datatype=term.datatype.value if typed else None,
        label=term.value,
        alternatives=views,
    )
