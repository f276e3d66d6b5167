"""`propose_queries`: the best queries that graph search finds, and what each of them gives."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pyoxigraph import NamedNode

from askgraph.candidates.asked import proposal_of
from askgraph.candidates.decide import confidence_of
from askgraph.candidates.propose import Proposal
from askgraph.candidates.render import answer_columns, rendered
from askgraph.candidates.vote import Cluster, clusters
from askgraph.errors import QueryError, ServiceError
from askgraph.explanation.verbalise import in_words, iris_of
from askgraph.sparql.results import Row, SelectResult
from askgraph.tools import Context
from askgraph.tools.shown import Writer, quoted
from askgraph.trace import Answer, Observation

__all__ = ["propose_queries"]

_SHOWN = 5
_TRIED = 10
_WORSE = 0.4  # score below the best from which a candidate is not worth its tokens
_PARTIAL = 0.7  # of the confidence where words of the question are left over
_PREVIEW = 3  # rows shown of more than _WHOLE
_WHOLE = 6
_COUNTED = 1000  # rows that are fetched of each candidate
_LONGEST = 300  # characters of a query in words
_LEFT = 8  # words named that a candidate leaves out


@dataclass(frozen=True)
class _Candidate:
    cluster: Cluster
    query: str
    columns: tuple[str, ...]
    boolean: bool | None
    result: SelectResult

    @property
    def outcome(self) -> object:
        """What tells different results apart."""
        at = [self.result.variables.index(column) for column in self.columns if self.result.rows]
        return self.boolean, frozenset(tuple(row[n] for n in at) for row in self.result.rows)


async def propose_queries(
    context: Context, question: Annotated[str, "a question, in the words of the graph"]
) -> Observation:
    """Get candidate queries for a question or a part of it, with their results.

    They are graph search's: one for each different result, those without any left out. The
    observation's answer is the first of them, with graph search's confidence, its first 1,000 rows
    and without evidence.
    """
    asked = replace(context.question, text=question)
    proposal = await proposal_of(asked, context.graph)
    every = clusters(proposal.candidates)
    found = [one for one in every[:_TRIED] if one.score >= every[0].score - _WORSE]
    runs = [_run(context, cluster) for cluster in found]
    told = [one for one in await asyncio.gather(*runs) if one is not None]
    distinct = list({one.outcome: one for one in reversed(told)}.values())[::-1][:_SHOWN]
    if not distinct:
        return Observation("no candidate with a result; try other words of the graph", rows=0)
    return await _written(context, proposal, distinct, confidence_of(proposal, every))


async def _run(context: Context, cluster: Cluster) -> _Candidate | None:
    """Run the best query of a cluster; None where it has no result, or cannot be run."""
    form = cluster.best.form
    prefixes, timeout = context.graph.prefixes, context.limits.timeout
    query, columns = rendered(form, prefixes), answer_columns(form, prefixes)
    endpoint = context.graph.endpoint
    try:
        if form.ask:
            holds = await endpoint.ask(query, timeout=timeout)
            return _Candidate(cluster, query, (), holds, SelectResult((), ()))
        result = await endpoint.select(query, timeout=timeout, limit=_COUNTED)
    except (QueryError, ServiceError):
        return None
    return _Candidate(cluster, query, columns, None, result) if result.rows else None


async def _written(
    context: Context, proposal: Proposal, candidates: Sequence[_Candidate], confidence: float
) -> Observation:
    iris = [iri for one in candidates for iri in (*iris_of(one.query), *_shown_iris(one.result))]
    writer = await Writer.knowing(context, iris)
    lines = []
    for number, one in enumerate(candidates, 1):
        words = quoted(in_words(one.query, writer.labels, language=context.language), _LONGEST)
        left = _unused(proposal, one)
        more = ", …" if len(left) > _LEFT else ""
        note = f" (not used: {', '.join(left[:_LEFT])}{more})" if left else ""
        lines.append(f"{number}. {words}{note} → {_preview(one, writer)}")
        lines.append(_body(one.query))
    names = dict.fromkeys(writer.iri(iri) for one in candidates for iri in iris_of(one.query))
    opaque = [name for name in names if name.endswith('"')]
    if opaque:
        lines.append(f"names: {', '.join(opaque)}")
    best = candidates[0]
    confidence *= _PARTIAL if _unused(proposal, best) else 1.0
    answer = Answer(
        best.query,
        context.graph.name,
        best.result,
        best.columns,
        in_words(best.query, writer.labels, language=context.language),
        round(confidence, 4),
        best.boolean,
        labels=writer.labels,
    )
    return Observation("\n".join(lines), tuple(writer.seen), rows=len(candidates), answer=answer)


def _unused(proposal: Proposal, one: _Candidate) -> list[str]:
    """The words of the question that tell something and that a candidate leaves out."""
    used, weights = one.cluster.best.used, proposal.linked.weights
    tokens = proposal.reading.tokens
    left = [tokens[at].text for at, weight in enumerate(weights) if weight and not used >> at & 1]
    return list(dict.fromkeys(left))


def _shown_iris(result: SelectResult) -> list[str]:
    return [t.value for row in _previewed(result.rows) for t in row if isinstance(t, NamedNode)]


def _preview(one: _Candidate, writer: Writer) -> str:
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
