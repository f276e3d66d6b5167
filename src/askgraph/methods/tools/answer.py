"""Tools that end a run, `answer` and `cancel`; `note` keeps a sentence for later runs."""

import asyncio
import math
from typing import Annotated

from askgraph.errors import QueryError, ServiceError
from askgraph.graph.glossary import add_note
from askgraph.methods.tools import Context, query_faults
from askgraph.methods.tools import query_run as query_runs
from askgraph.methods.tools.rendering import RenderedText, clip_text, quote, render_table
from askgraph.methods.tools.term_text import STANDARD_NAMESPACES
from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.trace import Answer, Observation

__all__ = ["answer", "cancel", "note"]

_ALL_COLUMNS = "*"  # default of a method if the model names none
_DEFAULT_CERTAINTY = 0.7
_MIN_SURE_CERTAINTY = 0.95  # comment of a model on a result it need not see
_EMPTY_RESULT_WEIGHT = 0.5
_MAX_ANSWER_CHARACTERS = 300
_REVIEW_HINT = "If that is what was asked for, answer with the same query again; else mend it."


async def answer(
    context: Context,
    query: Annotated[str, "final SPARQL"],
    columns: Annotated[list[str], "variables that answer, without context; [] for ASK"],
    certainty: Annotated[float, "0 to 1, how likely it is right"] = _DEFAULT_CERTAINTY,
) -> Observation:
    """Answer with the result of a query; ends the run.

    The tool refuses, and explains what to do, if the query fails, if a column is missing, if the
    result is empty, and in a guarded context if IRIs in the query have not been shown or if the
    result has not been shown (then its first rows are) and the certainty is below 0.95. It accepts
    an empty result, an unseen result and unseen IRIs of the graph when the same query comes again,
    since all of these may be right.
    """
    prepared_query = query_runs.prepare_query(context, query)
    try:
        if context.guarded and (doubt := await _check_iris(context, prepared_query.query)):
            return _refuse(doubt)
        query_run = await query_runs.run_query(
            context, prepared_query.query, rows=query_runs.MAX_ROWS
        )
        names = _parse_columns(columns, query_run)
        is_empty = isinstance(query_run.result, SelectResult) and not query_run.result.rows
        if (
            is_empty
            and not context.limits.plain
            and _record_refusal(context, "empty", prepared_query.query)
        ):
            explanation = await query_faults.explain_empty_result(context, query_run.query)
            text = f"it has no rows. {explanation.text}\nMend it, or end with the same query again."
            return _refuse(RenderedText(text, explanation.iris))
        is_repeated = _build_refusal_key("unseen", prepared_query.query) in context.refused_queries
        is_new = (
            context.guarded and not (is_empty or is_repeated) and certainty < _MIN_SURE_CERTAINTY
        )
        if is_new and (preview := await _show_unread_result(context, query_run, columns)):
            return preview
        confidence = (
            min(1.0, max(0.0, certainty)) if math.isfinite(certainty) else _DEFAULT_CERTAINTY
        ) * (_EMPTY_RESULT_WEIGHT if is_empty else 1.0)
        final_answer = await query_runs.build_answer(
            context, query_run, names, confidence=confidence
        )
    except (QueryError, ServiceError) as problem:
        if context.limits.plain:
            return _refuse(RenderedText(problem.reply or str(problem)))
        if isinstance(problem, ServiceError):
            return _refuse(RenderedText(query_faults.explain_failure(problem)))
        return _refuse(await query_faults.explain_fault(context, prepared_query.query, problem))
    return await _accept(context, query_run, final_answer)


async def _accept(
    context: Context, query_run: query_runs.QueryRun, final_answer: Answer
) -> Observation:
    """Return the observation that ends the run, with the result for a later review."""
    if context.limits.plain:
        rows = len(final_answer.result.rows)
        query = query_run.query
        return Observation("answered", query=query, rows=rows, ends="answer", answer=final_answer)
    head = f"answered: {quote(final_answer.words, _MAX_ANSWER_CHARACTERS)}"
    if final_answer.boolean is not None:
        text = f"{head}\n{str(final_answer.boolean).lower()}"
        return Observation(text, query=query_run.query, rows=1, ends="answer", answer=final_answer)
    result_table = await render_table(context, final_answer.result)
    rows = len(final_answer.result.rows)
    text = f"{head}\n{result_table.text}"
    return Observation(
        text,
        result_table.iris,
        query=query_run.query,
        rows=rows,
        ends="answer",
        answer=final_answer,
    )


def _refuse(reason: RenderedText) -> Observation:
    return Observation(f"not taken as the answer: {reason.text}", reason.iris, failed=True)


def _record_refusal(context: Context, reason: str, query: str) -> bool:
    """Record that a query was refused for a reason; return whether it was the first time."""
    key = _build_refusal_key(reason, query)
    is_new = key not in context.refused_queries
    context.refused_queries.add(key)
    return is_new


def _build_refusal_key(reason: str, query: str) -> str:
    return f"{reason}: {query_runs.get_query_key(query)}"


async def _check_iris(context: Context, query: str) -> RenderedText | None:
    """Return the fault of IRIs that were never shown; None if there is none."""
    unseen_iris = query_faults.find_unseen_iris(context, query)
    if not unseen_iris:
        return None
    unknown = [
        iri
        for iri in await query_faults.find_unknown_iris(context, query)
        if iri in unseen_iris and not iri.startswith(STANDARD_NAMESPACES)
    ]
    if unknown:
        return await query_faults.explain_unknown_iris(context, query, unknown)
    if not _record_refusal(context, "unseen", query):
        return None
    explanation = await query_faults.explain_unseen_iris(context, unseen_iris)
    text = (
        f"nothing has shown these IRIs so far: {explanation.text}. If they are meant, answer again."
    )
    return RenderedText(text, explanation.iris)


async def _show_unread_result(
    context: Context, query_run: query_runs.QueryRun, columns: list[str]
) -> Observation | None:
    """Return the result of a query if the model has not read it; a method needs no such check."""
    if columns == [_ALL_COLUMNS] or isinstance(query_run.result, GraphResult):
        return None
    answer_columns = _parse_columns(columns, query_run)
    if isinstance(query_run.result, SelectResult) and not set(answer_columns) <= set(
        query_run.result.variables
    ):
        return None  # reported when the answer is built
    if query_runs.has_been_read(context, query_run, answer_columns) or not _record_refusal(
        context, "result", query_run.query
    ):
        return None
    if isinstance(query_run.result, bool):
        result_text = RenderedText(str(query_run.result).lower())
    else:
        result_text = await render_table(context, query_run.result)
    text = f"not taken yet, as you have not seen what it gives: {result_text.text}\n{_REVIEW_HINT}"
    return Observation(text, result_text.iris, failed=True)


def _parse_columns(columns: list[str], query_run: query_runs.QueryRun) -> list[str]:
    """Return the names of the answer columns; raise `QueryError` if needed ones are missing."""
    if not isinstance(query_run.result, SelectResult) or columns == [_ALL_COLUMNS]:
        return []
    names = list(dict.fromkeys(name.strip().lstrip("?$") for name in columns if name.strip()))
    if not names and len(query_run.result.variables) > 1:
        variables = ", ".join(f"?{name}" for name in query_run.result.variables)
        raise QueryError(f"name in `columns` which of {variables} answer the question")
    return names


_CANCEL_CONFIDENCE = 0.1
_MAX_REASON_CHARACTERS = 2_000


async def cancel(
    context: Context,
    reason: Annotated[str, "why, for the asker"],
    query: Annotated[str | None, "best attempt, SPARQL"] = None,
) -> Observation:
    """Give up, where the graph cannot answer; ends the run.

    If the query runs, the observation has the best attempt as its answer.
    """
    text = (
        clip_text(reason.strip(), _MAX_REASON_CHARACTERS)
        or "The graph does not answer the question."
    )
    if not query or not query.strip():
        return Observation(text, ends="cancel")
    try:
        attempt = await query_runs.answer_query(context, query, confidence=_CANCEL_CONFIDENCE)
    except (QueryError, ServiceError) as problem:
        failure = clip_text(str(problem), _MAX_REASON_CHARACTERS)
        return Observation(f"{text}\n(The best attempt failed: {failure})", ends="cancel")
    rows = 1 if attempt.boolean is not None else len(attempt.result.rows)
    return Observation(text, query=attempt.query, rows=rows, ends="cancel", answer=attempt)


async def note(
    context: Context, sentence: Annotated[str, "one sentence about the graph"]
) -> Observation:
    """Keep a sentence for later questions: what a predicate means, how something is modelled.

    It is stored once, with the graph in its workspace.
    """
    graph = context.graph
    if graph.notes is None:
        return Observation("no notes are kept of this graph", failed=True)
    try:
        is_new = await asyncio.to_thread(add_note, graph.notes, sentence, graph.snapshot)
    except ValueError as problem:
        return Observation(f"not noted: {problem}", failed=True)
    return Observation("noted" if is_new else "noted before")
