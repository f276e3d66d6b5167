"""The ends of a run: its final query, once that stands up to a check, or why there is none."""

import math
from typing import Annotated

from askgraph.errors import QueryError, ServiceError
from askgraph.methods.tools import Context
from askgraph.methods.tools.query_faults import (
    said_empty,
    said_failure,
    said_fault,
    said_unknown,
    said_unseen,
    unknown_in,
    unseen_in,
)
from askgraph.methods.tools.query_run import (
    MOST_ROWS,
    Ran,
    answered,
    built_answer,
    key_of,
    ready,
    run,
    was_shown,
)
from askgraph.methods.tools.rendering import Shown, clipped, quoted, table
from askgraph.methods.tools.term_text import STANDARD
from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.trace import Answer, Observation

__all__ = ["answer", "cancel"]

_ALL = "*"  # what a method says for a model that could not name any
_CERTAINTY = 0.7
_SURE = 0.95  # what a model says of a result that it need not see
_EMPTY = 0.5
_LONGEST = 300
_LOOK = "If that is what was asked for, answer with the same query again; else mend it."


async def answer(
    context: Context,
    query: Annotated[str, "final SPARQL"],
    columns: Annotated[list[str], "variables that answer, without context; [] for ASK"],
    certainty: Annotated[float, "0 to 1, how likely it is right"] = _CERTAINTY,
) -> Observation:
    """Answer with the result of a query; ends the run.

    Refused, with what to do, if the query fails, if a column is not in the result, if the
    result is empty and, if the context is guarded, if IRIs in the query have not been shown before,
    or if the result has not (its first rows are, then) and the certainty is below 0.95. An empty
    result, one that was not shown and IRIs that the graph does hold are taken when the same query
    comes again: all may be right.
    """
    repaired = ready(context, query)
    try:
        if context.guarded and (doubt := await _strange(context, repaired.query)):
            return _refused(doubt)
        ran = await run(context, repaired.query, rows=MOST_ROWS)
        names = _columns(columns, ran)
        empty = isinstance(ran.result, SelectResult) and not ran.result.rows
        if empty and not context.limits.plain and _first_time(context, "empty", repaired.query):
            said = await said_empty(context, ran.query)
            text = f"it has no rows. {said.text}\nMend it, or end with the same query again."
            return _refused(Shown(text, said.seen))
        insisted = _key("unseen", repaired.query) in context.refused
        is_new = context.guarded and not (empty or insisted) and certainty < _SURE
        if is_new and (unseen := await _unseen(context, ran, columns)):
            return unseen
        sure = _share(certainty) * (_EMPTY if empty else 1.0)
        found = await built_answer(context, ran, names, confidence=sure)
    except QueryError as problem:
        if context.limits.plain:
            return _refused(Shown(str(problem)))
        return _refused(await said_fault(context, repaired.query, problem))
    except ServiceError as problem:
        return _refused(Shown(said_failure(problem)))
    return await _accepted(context, ran, found)


async def _accepted(context: Context, ran: Ran, found: Answer) -> Observation:
    """The end of the run, with the result as a second look at it will want to see it."""
    words = quoted(found.words, _LONGEST)
    if found.boolean is not None:
        text = f"answered: {words}\n{str(found.boolean).lower()}"
        return Observation(text, query=ran.query, rows=1, ends="answer", answer=found)
    shown, rows = await table(context, found.result), len(found.result.rows)
    text = f"answered: {words}\n{shown.text}"
    return Observation(text, shown.seen, query=ran.query, rows=rows, ends="answer", answer=found)


def _refused(why: Shown) -> Observation:
    return Observation(f"not taken as the answer: {why.text}", why.seen, failed=True)


def _first_time(context: Context, why: str, query: str) -> bool:
    """Whether a query was not refused before for this reason; from now on it was."""
    key = _key(why, query)
    is_new = key not in context.refused
    context.refused.add(key)
    return is_new


def _key(why: str, query: str) -> str:
    return f"{why}: {key_of(query)}"


async def _strange(context: Context, query: str) -> Shown | None:
    """What is wrong with IRIs that were never shown; None if nothing is."""
    unseen = unseen_in(context, query)
    if not unseen:
        return None
    unknown = [
        iri
        for iri in await unknown_in(context, query)
        if iri in unseen and not iri.startswith(STANDARD)
    ]
    if unknown:
        return await said_unknown(context, query, unknown)
    if not _first_time(context, "unseen", query):
        return None
    said = await said_unseen(context, unseen)
    text = f"nothing has shown these IRIs so far: {said.text}. If they are meant, answer again."
    return Shown(text, said.seen)


async def _unseen(context: Context, ran: Ran, columns: list[str]) -> Observation | None:
    """What a query gives, if nobody has seen it; a method knows what it ends with."""
    if columns == [_ALL] or isinstance(ran.result, GraphResult):
        return None
    named = _columns(columns, ran)
    if isinstance(ran.result, SelectResult) and not set(named) <= set(ran.result.variables):
        return None  # which is told when the answer is built
    if was_shown(context, ran, named) or not _first_time(context, "result", ran.query):
        return None
    if isinstance(ran.result, bool):
        shown = Shown(str(ran.result).lower())
    else:
        shown = await table(context, ran.result)
    text = f"not taken yet, as you have not seen what it gives: {shown.text}\n{_LOOK}"
    return Observation(text, shown.seen, failed=True)


def _columns(columns: list[str], ran: Ran) -> list[str]:
    """The names of the answer columns; `QueryError` if they have to be told and are not."""
    if not isinstance(ran.result, SelectResult) or columns == [_ALL]:
        return []
    names = list(dict.fromkeys(name.strip().lstrip("?$") for name in columns if name.strip()))
    if not names and len(ran.result.variables) > 1:
        there = ", ".join(f"?{name}" for name in ran.result.variables)
        raise QueryError(f"name in `columns` which of {there} answer the question")
    return names


def _share(certainty: float) -> float:
    return min(1.0, max(0.0, certainty)) if math.isfinite(certainty) else _CERTAINTY


_CONFIDENCE = 0.1
_REASON = 2_000


async def cancel(
    context: Context,
    reason: Annotated[str, "why, for the asker"],
    query: Annotated[str | None, "best attempt, SPARQL"] = None,
) -> Observation:
    """Give up, where the graph cannot answer; ends the run.

    The observation has the best attempt as its answer if the query runs.
    """
    text = clipped(reason.strip(), _REASON) or "The graph does not answer the question."
    if not query or not query.strip():
        return Observation(text, ends="cancel")
    try:
        best = await answered(context, query, confidence=_CONFIDENCE)
    except (QueryError, ServiceError) as problem:
        why = clipped(str(problem), _REASON)
        return Observation(f"{text}\n(The best attempt failed: {why})", ends="cancel")
    rows = 1 if best.boolean is not None else len(best.result.rows)
    return Observation(text, query=best.query, rows=rows, ends="cancel", answer=best)
