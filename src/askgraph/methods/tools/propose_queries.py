"""`propose_queries`: the best queries that graph search finds, and what each of them gives."""

from dataclasses import replace
from typing import Annotated

from askgraph.answers import bare_answer
from askgraph.answers.verbalize import iris_of, read_for_graph
from askgraph.methods.tools import Context
from askgraph.methods.tools.candidates import (
    RunCandidate,
    best_candidates,
    preview,
    shown_iris,
)
from askgraph.methods.tools.query_run import showed
from askgraph.methods.tools.rendering import Writer, body_lines, quoted
from askgraph.search.decide import left_out
from askgraph.trace import Observation

__all__ = ["propose_queries"]

_PREVIEW = 3  # rows shown of more than _WHOLE
_WHOLE = 6
_LONGEST = 300  # characters of a query in words
_LEFT = 8  # words named that a candidate leaves out


async def propose_queries(
    context: Context, question: Annotated[str, "a question, in the words of the graph"]
) -> Observation:
    """Get candidate queries for a question or a part of it, with their results.

    They are graph search's: one for each different result, those without any left out. The
    observation's answer is the first of them, with graph search's confidence, its first 1,000 rows
    and without evidence.
    """
    found = await best_candidates(context, question)
    if not found.candidates:
        return Observation("no candidate with a result; try other words of the graph", rows=0)
    proposal, candidates = found.proposal, found.candidates
    iris = [iri for one in candidates for iri in shown_iris(one, _rows(one))]
    writer = await Writer.knowing(context, iris)
    lines = []
    for number, one in enumerate(candidates, 1):
        showed(context, one.query, one.given)
        words = quoted(
            read_for_graph(one.query, writer.labels, context.graph, context.language), _LONGEST
        )
        left = left_out(proposal, one.cluster.best, read=True)
        more = ", …" if len(left) > _LEFT else ""
        note = f" (not used: {', '.join(left[:_LEFT])}{more})" if left else ""
        lines.append(f"{number}. {words}{note} → {preview(one, writer, _rows(one))}")
        lines += body_lines(one.query)
    names = dict.fromkeys(writer.iri(iri) for one in candidates for iri in iris_of(one.query))
    opaque = [name for name in names if name.endswith('"')]
    if opaque:
        lines.append(f"names: {', '.join(opaque)}")
    best = candidates[0]
    answer = bare_answer(
        best.query,
        context.graph.name,
        best.given,
        columns=best.columns,
        words=read_for_graph(best.query, writer.labels, context.graph, context.language),
        confidence=round(found.confidence, 4),
        labels=writer.labels,
    )
    answer = replace(answer, unused_words=left_out(found.proposal, best.cluster.best, read=True))
    return Observation("\n".join(lines), tuple(writer.seen), rows=len(candidates), answer=answer)


def _rows(one: RunCandidate) -> int:
    """How many rows are shown: all of few."""
    return _WHOLE if len(one.result.rows) <= _WHOLE else _PREVIEW
