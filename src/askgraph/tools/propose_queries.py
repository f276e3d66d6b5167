"""`propose_queries`: the best queries that graph search finds, and what each of them gives."""

from collections.abc import Sequence
from typing import Annotated

from pyoxigraph import NamedNode

from askgraph.answers.build import bare_answer
from askgraph.explanation.verbalise import in_words, iris_of
from askgraph.sparql.results import Row, SelectResult
from askgraph.tools import Context
from askgraph.tools.proposals import Proposals, Proposed, proposals_for, unused_words
from askgraph.tools.shown import Writer, quoted
from askgraph.trace import Observation

__all__ = ["propose_queries"]

_PREVIEW = 3  # rows shown of more than _WHOLE
_WHOLE = 6
_COUNTED = 1000  # rows that are fetched of each candidate
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
    found = await proposals_for(context, question)
    if not found.candidates:
        return Observation("no candidate with a result; try other words of the graph", rows=0)
    return await _written(context, found)


async def _written(context: Context, found: Proposals) -> Observation:
    proposal, candidates = found.proposal, found.candidates
    iris = [iri for one in candidates for iri in (*iris_of(one.query), *_shown_iris(one.result))]
    writer = await Writer.knowing(context, iris)
    lines = []
    for number, one in enumerate(candidates, 1):
        words = quoted(in_words(one.query, writer.labels, language=context.language), _LONGEST)
        left = unused_words(proposal, one.cluster.best)
        body = _body(one.query)
        if veil := context.veil:
            words = veil.explained(one.query, words)
            left, body = [veil.words(word) for word in left], veil.query(body)
        more = ", …" if len(left) > _LEFT else ""
        note = f" (not used: {', '.join(left[:_LEFT])}{more})" if left else ""
        lines.append(f"{number}. {words}{note} → {_preview(one, writer)}")
        lines.append(body)
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
        words=in_words(best.query, writer.labels, language=context.language),
        confidence=round(found.confidence, 4),
        labels=writer.labels,
    )
    return Observation("\n".join(lines), tuple(writer.seen), rows=len(candidates), answer=answer)


def _shown_iris(result: SelectResult) -> list[str]:
    return [t.value for row in _previewed(result.rows) for t in row if isinstance(t, NamedNode)]


def _preview(one: Proposed, writer: Writer) -> str:
    if one.boolean is not None:
        return "yes" if one.boolean else "no"
    rows, number = one.result.rows, len(one.result.rows)
    count = f"{number}+ rows" if number >= _COUNTED else f"{number} row{'s' * (number > 1)}"
    shown = _previewed(rows)
    first = "; ".join(_row(row, writer) for row in shown)
    return f"{count}: {first}{'; …' if number > len(shown) else ''}"


def _previewed(rows: Sequence[Row]) -> Sequence[Row]:
    return rows if len(rows) <= _WHOLE else rows[:_PREVIEW]


def _row(row: Row, writer: Writer) -> str:
    return ", ".join(writer.term(term) for term in row)


def _body(query: str) -> str:
    """A query without its PREFIX lines, which the tools declare themselves."""
    kept = [line for line in query.splitlines() if line and not line.startswith("PREFIX ")]
    return "\n".join(kept)
