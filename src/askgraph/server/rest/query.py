"""Queries that callers write: run, checked, laid out; and evidence for a row."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from itertools import islice
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field
from pyoxigraph import NamedNode

from askgraph.answers.evidence import evidence
from askgraph.answers.validation import WRONG, Finding, Kind, Knowledge, Services
from askgraph.answers.validation.graph_knowledge import graph_knowledge
from askgraph.answers.validation.validate import SURE, validated
from askgraph.answers.verbalize import labels_of
from askgraph.errors import QueryError
from askgraph.server.hub import Asker, HubDep, Querier
from askgraph.server.problems import Missing
from askgraph.server.rest import GraphName, QueryText, named_query
from askgraph.server.runs.replies import written_answer
from askgraph.server.runs.views import AnswerView, EvidenceView, TableView, answer_view, table_of
from askgraph.sparql.federation.service import called_services
from askgraph.sparql.layout import formatted
from askgraph.sparql.results import GraphResult, Result, SelectResult

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
    severity: Literal["error", "warning", "info"] = Field(
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
async def query(graph: GraphName, body: QueryBody, hub: HubDep, caller: Querier) -> TableView:
    """Run a query, which may only read; prefixes of the graph need not be declared."""
    most = hub.settings.page_rows if body.limit is None else body.limit
    async with hub.graphs.lease(graph, caller) as opened:
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
async def answer(graph: GraphName, body: AnswerBody, hub: HubDep, caller: Querier) -> AnswerView:
    """Run a query of the caller's and return its answer as that of a question.

    It is read back in words, with the triples behind its first rows, or why there are none.
    """
    settings = hub.settings
    most = settings.page_rows if body.limit is None else body.limit
    async with hub.graphs.lease(graph, caller) as opened:
        told = await written_answer(
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
async def row_evidence(
    graph: GraphName, body: EvidenceBody, hub: HubDep, caller: Querier
) -> RowEvidenceView:
    """Return the triples behind one row of a SELECT query's result, with names."""
    async with hub.graphs.lease(graph, caller) as opened:
        ready = await asyncio.to_thread(hub.queries.read, body.query, opened)
        result = await hub.queries.run(ready, opened, limit=body.row + 1)
        rows = result.rows[body.row :] if isinstance(result, SelectResult) else ()
        if not isinstance(result, SelectResult) or not rows:
            raise Missing(f"the result has no row {body.row}; rows count from 0")
        one = SelectResult(result.variables, rows[:1])
        async with hub.queries.turn(graph):
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
        asked = await named_query(found.query, opened, body.language)
        words = await asked.words()
        return ValidationView(
            query=found.query,
            findings=[_finding(one) for one in found.findings if not _is_known_prefix(one)],
            words=words,
            repaired=found.repaired if found.repairs else None,
            repairs=[repair.note for repair in found.repairs],
        )


@router.post("/graphs/{graph}/format")
async def format_query(
    graph: GraphName, body: QueryText, hub: HubDep, caller: Asker
) -> FormattedView:
    """Lay a query out, with short names and with labels as comments; it means the same."""
    async with hub.graphs.lease(graph, caller) as opened:
        asked = await named_query(body.query, opened, body.language)
        text = await asyncio.to_thread(formatted, body.query, opened.prefixes, asked.labels)
    return FormattedView(query=text)


def _is_known_prefix(finding: Finding) -> bool:
    """Whether it is about a prefix of the graph, which need not be declared to be run here."""
    return finding.kind is Kind.PREFIX and bool(finding.proposals)


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
