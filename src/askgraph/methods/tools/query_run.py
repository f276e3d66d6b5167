"""Run the queries of a language model: unchanged, for exploration, or as an answer."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

from askgraph.answers import AnswerBuilder, is_ordered
from askgraph.endpoint import execute_sparql as run_on
from askgraph.errors import ForbiddenQuery, QueryError, QuerySyntaxError, ServiceError
from askgraph.methods.tools import Context
from askgraph.methods.tools.rendering import RenderedText
from askgraph.search.pipeline import link_text
from askgraph.search.rank.expected_answer_type import derive_expected_answer
from askgraph.sparql.judge import get_query_form, list_datasets
from askgraph.sparql.lexer import declare_prefixes, tokenize
from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.sparql.rewrite import RepairedQuery, repair_query
from askgraph.trace import Answer, Observation

MAX_ROWS = 10_000


@dataclass(frozen=True)
class QueryRun:
    """A query that was run, and its result: solutions, a boolean, or triples."""

    query: str
    result: SelectResult | bool | GraphResult


def prepare_query(context: Context, query: str) -> RepairedQuery:
    """Repair a model's query, and declare the prefixes of the graph that it uses."""
    prefixes = context.graph.prefixes.namespaces
    if context.limits.plain:
        return RepairedQuery(declare_prefixes(query, prefixes), ())
    repair = repair_query(query, language=context.language)
    return RepairedQuery(declare_prefixes(repair.query, prefixes), repair.notes)


async def run_query(context: Context, query: str, *, rows: int) -> QueryRun:
    """Run a prepared query, for at most `rows` rows or triples.

    Raises:
        QueryError: the query is invalid or fails.
        ServiceError: the endpoint fails.
    """
    if not query.strip():
        raise QuerySyntaxError("the query is empty: write a SELECT or an ASK query")
    for iri in list_datasets(query):  # a server may fetch what FROM names
        if not any(f"<{iri}>" in example.query for example in context.graph.examples):
            raise ForbiddenQuery(f"FROM <{iri}> is not allowed: leave FROM out of the query")
    endpoint, timeout = context.graph.endpoint, context.limits.timeout
    return QueryRun(
        query, await run_on(endpoint, get_query_form(query), query, timeout=timeout, limit=rows)
    )


@dataclass(frozen=True)
class QueryExecution:
    """A result, the repairs of the query, and a remark.

    The remark is the reason for an empty result, or describes IRIs that no tool has shown before.
    """

    query_run: QueryRun
    notes: tuple[str, ...]
    remark: RenderedText


async def execute_query(context: Context, query: str, *, rows: int) -> QueryExecution | Observation:
    """Repair and run a query, for at most `rows` rows.

    Returns:
        The execution. If the query fails, an observation with the position of the fault and the
        nearest valid names, or with the failure of the service.
    """
    faults = _import_query_faults()
    prepared_query = prepare_query(context, query)
    try:
        query_run = await run_query(context, prepared_query.query, rows=rows)
    except (QueryError, ServiceError) as problem:
        if context.limits.plain:
            return Observation(problem.reply or f"the query failed: {problem}", failed=True)
        if isinstance(problem, ServiceError):
            failure_text = faults.explain_failure(problem)
            return Observation(f"the query failed: {failure_text}", failed=True)
        fault = await faults.explain_fault(context, prepared_query.query, problem)
        return Observation(f"the query failed: {fault.text}", fault.iris, failed=True)
    remark = RenderedText("") if context.limits.plain else await _build_remark(context, query_run)
    return QueryExecution(query_run, tuple(prepared_query.notes), remark)


def mark_as_read(context: Context, query: str, result: SelectResult | bool | GraphResult) -> None:
    """Record that the model has read the result of a query."""
    context.shown_results.add(get_query_key(query))
    if isinstance(result, SelectResult):
        context.shown_results.update(collect_column_values(result, result.variables))


def has_been_read(context: Context, query_run: QueryRun, columns: Sequence[str]) -> bool:
    """Return whether the model has read these columns (default: all), from any query."""
    if get_query_key(query_run.query) in context.shown_results:
        return True
    if not isinstance(query_run.result, SelectResult):
        return False
    return (
        collect_column_values(query_run.result, columns or query_run.result.variables)
        <= context.shown_results
    )


def get_query_key(query: str) -> str:
    """Return the tokens of a query as one text, whatever its layout."""
    return " ".join(token.text for token in tokenize(query).tokens)


def collect_column_values(result: SelectResult, columns: Sequence[str]) -> set[object]:
    """Return one set of values for each column."""
    return {frozenset(result.get_column(name)) for name in columns}


def count_rows(query_run: QueryRun) -> int:
    """Return the number of rows or triples of a result; 1 for a boolean."""
    match query_run.result:
        case bool():
            return 1
        case SelectResult():
            return len(query_run.result.rows)
        case GraphResult():
            return len(query_run.result.triples)


async def _build_remark(context: Context, query_run: QueryRun) -> RenderedText:
    """Return the reason for an empty result, or a description of IRIs that are new in the query."""
    faults = _import_query_faults()
    if query_run.result is False:
        reason: RenderedText = await faults.explain_empty_result(context, query_run.query)
        return RenderedText(
            f"if true was to be expected: {reason.text}" if reason.text else "", reason.iris
        )
    if not count_rows(query_run):
        empty_reason: RenderedText = await faults.explain_empty_result(context, query_run.query)
        return empty_reason
    unseen_iris = faults.find_unseen_iris(context, query_run.query)
    if not unseen_iris:
        return RenderedText("")
    try:
        unknown_iris = await faults.find_unknown_iris(context, query_run.query)
        unknown_remark = await faults.explain_unknown_iris(context, query_run.query, unknown_iris)
        known_iris = tuple(iri for iri in unseen_iris if iri not in unknown_iris)
        known_remark = await faults.explain_unseen_iris(context, known_iris)
    except ServiceError:
        return RenderedText("")  # the result is complete without the meaning of its names
    known_text = f"first named here: {known_remark.text}" if known_iris else ""
    text = "\n".join(part for part in (unknown_remark.text, known_text) if part)
    return RenderedText(text, (*unknown_remark.iris, *known_remark.iris))


async def answer_query(
    context: Context, query: str, columns: Sequence[str] = (), *, confidence: float
) -> Answer:
    """Prepare and run a query, and return its result as an answer.

    Columns that the result lacks are ignored.

    Raises:
        QueryError: the query fails or returns triples.
        ServiceError: the endpoint fails.
    """
    query_run = await run_query(context, prepare_query(context, query).query, rows=MAX_ROWS)
    variables = query_run.result.variables if isinstance(query_run.result, SelectResult) else ()
    present_columns = [name for name in columns if name in variables]
    return await build_answer(context, query_run, present_columns, confidence=confidence)


async def build_answer(
    context: Context, query_run: QueryRun, columns: Sequence[str] = (), *, confidence: float
) -> Answer:
    """Return the answer of a query that was run.

    Without `columns`, the question determines the answer columns; if it does not, all are. Rows of
    an unordered query are sorted for people. The supporting triples of the first three rows, or the
    reason for an empty result, are fetched; the answer does without if that fails or takes too
    long.

    Raises:
        QueryError: the query returns triples, or the result lacks a column.
    """
    if isinstance(query_run.result, GraphResult):
        raise QueryError("an answer is the result of a SELECT or an ASK query: write one of these")
    variables = query_run.result.variables if isinstance(query_run.result, SelectResult) else ()
    if missing := [name for name in columns if name not in variables]:
        available = ", ".join(f"?{name}" for name in variables) or "none"
        raise QueryError(f"the result has no column ?{missing[0]}: the columns are {available}")
    if isinstance(query_run.result, SelectResult) and not columns:
        columns = await choose_answer_columns(context, query_run.query, query_run.result)

    async def explain_empty(query: str) -> str | None:
        reason: RenderedText = await _import_query_faults().explain_empty_result(context, query)
        return reason.text or None

    timeout = context.limits.timeout
    builder = AnswerBuilder(
        context.graph,
        [context.language, "en"],
        timeout,
        evidence_seconds=timeout,
        explain_empty=explain_empty,
    )
    query, labels = await builder.format_query(query_run.query)
    return await builder.answer(
        query,
        query_run.result,
        columns=columns,
        confidence=confidence,
        ordered=is_ordered(query_run.query),
        labels=labels,
    )


def _import_query_faults() -> ModuleType:
    from askgraph.methods.tools import query_faults as faults  # only for a language model

    return faults


async def choose_answer_columns(
    context: Context, query: str, result: SelectResult
) -> tuple[str, ...]:
    """Return the columns that the question asks for; all if that is unclear.

    For a follow-up question all columns answer, since its own words cover only a part.
    """
    if len(result.variables) < 2 or context.question.before:
        return result.variables
    return await asyncio.to_thread(_choose_columns, context, query, result)


def _choose_columns(context: Context, query: str, result: SelectResult) -> tuple[str, ...]:
    # most results have one column
    from askgraph.search.rank.expected_answer_type import choose_answer_columns

    question, graph = context.question, context.graph
    linked = link_text(question.text, question.language, graph.names)
    return choose_answer_columns(derive_expected_answer(linked), query, result, graph.profile)
