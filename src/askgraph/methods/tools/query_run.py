"""Queries of a language model, run: as they are, for a run that explores, or as an answer."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

from askgraph.answers import AnswerBuilder, is_ordered
from askgraph.endpoint import run as run_on
from askgraph.errors import QueryError, QuerySyntaxError, ServiceError
from askgraph.methods.tools import Context
from askgraph.methods.tools.rendering import Shown
from askgraph.search.pipeline import link_text
from askgraph.search.rank.expected_answer_type import expect_answer
from askgraph.sparql.judge import form_of
from askgraph.sparql.lexer import lexed, with_declared
from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.sparql.rewrite import Repaired, repaired
from askgraph.trace import Answer, Observation

MOST_ROWS = 10_000


@dataclass(frozen=True)
class Ran:
    """A query as it was run, and what it gave: solutions, true or false, or triples."""

    query: str
    result: SelectResult | bool | GraphResult


def ready(context: Context, query: str) -> Repaired:
    """Return a model's query repaired, with the prefixes of the graph that it needs."""
    prefixes = context.graph.prefixes.namespaces
    if context.limits.plain:
        return Repaired(with_declared(query, prefixes), ())
    found = repaired(query, language=context.language)
    return Repaired(with_declared(found.query, prefixes), found.notes)


async def run(context: Context, query: str, *, rows: int) -> Ran:
    """Run a query that is ready; at most `rows` rows or triples are taken.

    Raises `QueryError` and `ServiceError` as the endpoint does.
    """
    if not query.strip():
        raise QuerySyntaxError("the query is empty: write a SELECT or an ASK query")
    endpoint, timeout = context.graph.endpoint, context.limits.timeout
    return Ran(query, await run_on(endpoint, form_of(query), query, timeout=timeout, limit=rows))


@dataclass(frozen=True)
class Executed:
    """What a query gave, what was repaired in it first, and what there is to say of it.

    The remark is the reason for an empty result, or what the IRIs are that nothing showed before.
    """

    ran: Ran
    notes: tuple[str, ...]
    remark: Shown


async def executed(context: Context, query: str, *, rows: int) -> Executed | Observation:
    """Run a query, repaired if it can be; at most so many rows are taken.

    One that fails gives the observation that says so: with the place and the nearest valid names,
    or what failed beyond the query's text.
    """
    from askgraph.methods.tools.query_faults import (  # for a model's eyes alone
        said_failure,
        said_fault,
    )

    repaired = ready(context, query)
    try:
        ran = await run(context, repaired.query, rows=rows)
    except QueryError as problem:
        if context.limits.plain:
            return Observation(f"the query failed: {problem}", failed=True)
        fault = await said_fault(context, repaired.query, problem)
        return Observation(f"the query failed: {fault.text}", fault.seen, failed=True)
    except ServiceError as problem:
        return Observation(f"the query failed: {said_failure(problem)}", failed=True)
    remark = Shown("") if context.limits.plain else await _remark(context, ran)
    return Executed(ran, tuple(repaired.notes), remark)


def showed(context: Context, query: str, result: SelectResult | bool | GraphResult) -> None:
    """Note that the model has read what a query gives."""
    context.shown.add(key_of(query))
    if isinstance(result, SelectResult):
        context.shown.update(result_values(result, result.variables))


def was_shown(context: Context, ran: Ran, columns: Sequence[str]) -> bool:
    """Whether the model has read what these columns, or all, give: by this query or another."""
    if key_of(ran.query) in context.shown:
        return True
    if not isinstance(ran.result, SelectResult):
        return False
    return result_values(ran.result, columns or ran.result.variables) <= context.shown


def key_of(query: str) -> str:
    """Return the words of a query, however it is laid out."""
    return " ".join(token.text for token in lexed(query).given)


def result_values(result: SelectResult, columns: Sequence[str]) -> set[object]:
    """Return the values of each column, as one thing each."""
    return {frozenset(result.column(name)) for name in columns}


def row_count(ran: Ran) -> int:
    """Return how many rows or triples a query gave; a yes or no is one."""
    match ran.result:
        case bool():
            return 1
        case SelectResult():
            return len(ran.result.rows)
        case GraphResult():
            return len(ran.result.triples)


async def _remark(context: Context, ran: Ran) -> Shown:
    """Why there is nothing, or what the IRIs are that the query was the first to name."""
    faults = _faults()
    if ran.result is False:
        why: Shown = await faults.said_empty(context, ran.query)
        return Shown(f"if true was to be expected: {why.text}" if why.text else "", why.seen)
    if not row_count(ran):
        empty: Shown = await faults.said_empty(context, ran.query)
        return empty
    unseen = faults.unseen_in(context, ran.query)
    if not unseen:
        return Shown("")
    try:
        unknown = await faults.unknown_in(context, ran.query)
        strange = await faults.said_unknown(context, ran.query, unknown)
        known = tuple(iri for iri in unseen if iri not in unknown)
        there = await faults.said_unseen(context, known) if known else Shown("")
    except ServiceError:
        return Shown("")  # the result is there; what its names mean is a courtesy
    new = f"first named here: {there.text}" if known else ""
    text = "\n".join(part for part in (strange.text, new) if part)
    return Shown(text, (*strange.seen, *there.seen))


async def answered(
    context: Context, query: str, columns: Sequence[str] = (), *, confidence: float
) -> Answer:
    """Run a query and return what it gives as an answer; repaired first, if it has to be.

    Of the `columns`, those that the result does not have are passed over. Raises `QueryError` for a
    query that gives triples, and that and `ServiceError` if the query fails.
    """
    ran = await run(context, ready(context, query).query, rows=MOST_ROWS)
    shown = ran.result.variables if isinstance(ran.result, SelectResult) else ()
    there = [name for name in columns if name in shown]
    return await built_answer(context, ran, there, confidence=confidence)


async def built_answer(
    context: Context, ran: Ran, columns: Sequence[str] = (), *, confidence: float
) -> Answer:
    """Return an answer from a query that was run; without `columns`, the question tells them.

    If it tells none, all of them answer. Rows without an order in the query come in one
    for people. The triples behind the first three rows are fetched, or the reason why there is no
    row; if that takes too long or fails, the answer does without. Raises `QueryError` for a
    query that gives triples, and for a column that the result does not have.
    """
    if isinstance(ran.result, GraphResult):
        raise QueryError("an answer is the result of a SELECT or an ASK query: write one of these")
    shown = ran.result.variables if isinstance(ran.result, SelectResult) else ()
    if missing := [name for name in columns if name not in shown]:
        there = ", ".join(f"?{name}" for name in shown) or "none"
        raise QueryError(f"the result has no column ?{missing[0]}: the columns are {there}")
    if isinstance(ran.result, SelectResult) and not columns:
        columns = await answer_columns(context, ran.query, ran.result)

    async def why_empty(query: str) -> str | None:
        why: Shown = await _faults().said_empty(context, query)
        return why.text or None

    timeout = context.limits.timeout
    builder = AnswerBuilder(
        context.graph,
        [context.language, "en"],
        timeout,
        evidence_seconds=timeout,
        reason=why_empty,
    )
    query, labels = await builder.layout(ran.query)
    return await builder.answer(
        query,
        ran.result,
        columns=columns,
        confidence=confidence,
        ordered=is_ordered(ran.query),
        labels=labels,
    )


def _faults() -> ModuleType:
    from askgraph.methods.tools import query_faults as faults

    return faults


async def answer_columns(context: Context, query: str, result: SelectResult) -> tuple[str, ...]:
    """Return the columns that the question asks for, as far as it tells; else all.

    All answer a question that goes on from an earlier one, since its own words tell only a part.
    """
    question = context.question
    if len(result.variables) < 2 or question.before:
        return result.variables
    return await asyncio.to_thread(_chosen, context, query, result)


def _chosen(context: Context, query: str, result: SelectResult) -> tuple[str, ...]:
    # most results have one column
    from askgraph.search.rank.expected_answer_type import answer_columns_of

    question, graph = context.question, context.graph
    linked = link_text(question.text, question.language, graph.names)
    return answer_columns_of(expect_answer(linked), query, result, graph.profile)
