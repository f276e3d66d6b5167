"""`propose_queries`: the best queries of graph search, each with its result."""

from dataclasses import replace
from typing import Annotated

from askgraph.answers import build_plain_answer
from askgraph.answers.verbalize import list_query_iris, verbalize_query_for_graph
from askgraph.methods.tools import Context
from askgraph.methods.tools.candidates import (
    CandidateResult,
    find_best_candidates,
    list_shown_iris,
    preview_result,
)
from askgraph.methods.tools.query_run import mark_as_read
from askgraph.methods.tools.rendering import TermWriter, list_body_lines, quote
from askgraph.search.decide import find_omitted_words
from askgraph.trace import Observation

__all__ = ["propose_queries"]

_PREVIEW_ROWS = 3  # rows shown of more than _WHOLE
_MAX_FULL_ROWS = 6
_MAX_WORDS_CHARACTERS = 300  # characters of a query in words
_MAX_UNUSED_WORDS = 8  # words named that a candidate leaves out


async def propose_queries(
    context: Context, question: Annotated[str, "a question, in the words of the graph"]
) -> Observation:
    """Get candidate queries for a question or a part of it, with their results.

    They come from graph search: one for each different result, without empty results. The
    observation's answer is the first of them, with graph search's confidence, its first 1,000 rows
    and no evidence.
    """
    result = await find_best_candidates(context, question)
    if not result.candidates:
        return Observation("no candidate with a result; try other words of the graph", rows=0)
    proposal, candidates = result.proposal, result.candidates
    iris = [
        iri
        for candidate in candidates
        for iri in list_shown_iris(candidate, _count_shown_rows(candidate))
    ]
    writer = await TermWriter.from_iris(context, iris)
    lines = []
    for number, candidate in enumerate(candidates, 1):
        mark_as_read(context, candidate.query, candidate.rows_or_boolean)
        words = quote(
            verbalize_query_for_graph(
                candidate.query, writer.labels, context.graph, context.language
            ),
            _MAX_WORDS_CHARACTERS,
        )
        unused_words = find_omitted_words(proposal, candidate.cluster.best, is_query_shown=True)
        ellipsis = ", …" if len(unused_words) > _MAX_UNUSED_WORDS else ""
        note = (
            f" (not used: {', '.join(unused_words[:_MAX_UNUSED_WORDS])}{ellipsis})"
            if unused_words
            else ""
        )
        lines.append(
            f"{number}. {words}{note} → "
            f"{preview_result(candidate, writer, _count_shown_rows(candidate))}"
        )
        lines += list_body_lines(candidate.query)
    names = dict.fromkeys(
        writer.write_iri(iri)
        for candidate in candidates
        for iri in list_query_iris(candidate.query)
    )
    opaque = [name for name in names if name.endswith('"')]
    if opaque:
        lines.append(f"names: {', '.join(opaque)}")
    best = candidates[0]
    answer = build_plain_answer(
        best.query,
        context.graph.name,
        best.rows_or_boolean,
        columns=best.columns,
        words=verbalize_query_for_graph(best.query, writer.labels, context.graph, context.language),
        confidence=round(result.confidence, 4),
        labels=writer.labels,
    )
    answer = replace(
        answer,
        unused_words=find_omitted_words(result.proposal, best.cluster.best, is_query_shown=True),
    )
    return Observation(
        "\n".join(lines), tuple(writer.written_iris), rows=len(candidates), answer=answer
    )


def _count_shown_rows(candidate: CandidateResult) -> int:
    """Return how many rows are shown: all if they are few."""
    return _MAX_FULL_ROWS if len(candidate.result.rows) <= _MAX_FULL_ROWS else _PREVIEW_ROWS
