"""Tools for queries: propose, validate, execute. Nothing writes."""

import asyncio
from typing import Annotated

from pydantic import Field

from askgraph.errors import QueryError
from askgraph.explanation import in_words, iris_of
from askgraph.explanation.labels import labels_of
from askgraph.search.decide.evidence import left_out
from askgraph.serve.protocols.mcp.access import GraphName, Language, graph_context
from askgraph.serve.protocols.mcp.results import (
    ROWS,
    Candidate,
    Candidates,
    Checked,
    Finding,
    Table,
    cells,
    cut_words,
    iris_in,
    labels_shown,
)
from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.tools import Context
from askgraph.tools.candidates import BestCandidates, RunCandidate, best_candidates
from askgraph.tools.query_run import Ran, executed
from askgraph.trace import Observation
from askgraph.validation import WRONG, Validation
from askgraph.validation.graph_knowledge import graph_knowledge
from askgraph.validation.knowledge import Services
from askgraph.validation.validate import validated

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
        found = await best_candidates(context, question)
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

    Nothing is run. Finds errors of syntax, names that the graph does not hold, wrong directions and
    datatypes, filters that never hold.
    """
    async with graph_context(graph, language=language) as context:
        services = Services(graph_knowledge(context.graph), {})
        found = await asyncio.to_thread(validated, query, services, language=context.language)
        return _checked(context.graph.name, found)


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
        found = await executed(context, query, rows=_TAKEN)
        if isinstance(found, Observation):
            raise QueryError(found.text)
        notes = [*found.notes, *([found.remark.text] if found.remark.text else [])]
        return await _table(context, found.ran, limit, notes)


def _candidate(
    one: RunCandidate, found: BestCandidates, labels: dict[str, str], context: Context
) -> Candidate:
    return Candidate(
        words=in_words(one.query, labels, language=context.language),
        query=one.query,
        columns=list(one.result.variables),
        rows=cells(one.result.rows, _PREVIEW),
        total=1 if one.boolean is not None else len(one.result.rows),
        boolean=one.boolean,
        unused_words=list(left_out(found.proposal, one.cluster.best)),
    )


def _checked(graph: str, found: Validation) -> Checked:
    return Checked(
        graph=graph,
        valid=not found.is_wrong,
        findings=[
            Finding(
                kind=one.kind.value,
                message=one.message,
                line=one.place.line if one.place else None,
                column=one.place.column if one.place else None,
                certainty=round(one.certainty, 3),
                instead=[
                    f"{new.text} ({new.label})" if new.label else new.text for new in one.proposals
                ],
            )
            for one in sorted(found.findings, key=lambda one: one.certainty < WRONG)[:_FINDINGS]
        ],
        repaired=found.repaired if found.repairs else None,
        repairs=[one.note for one in found.repairs],
    )


async def _table(context: Context, ran: Ran, limit: int, notes: list[str]) -> Table:
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
