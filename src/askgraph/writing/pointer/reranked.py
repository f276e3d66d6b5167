"""Graph search's candidates in the order that a trained writer's judgement gives them."""

from dataclasses import replace

from askgraph.graph import KnowledgeGraph
from askgraph.search.propose import Proposal
from askgraph.writing.pointer.writer import PointerWriter

__all__ = ["CONSIDERED", "TRUST", "reranked"]

CONSIDERED = 40
"""How many candidates are judged."""

TRUST = 0.4
"""How much of the writer's judgement is added to a score."""

_WORST = 0.6


def reranked(
    proposal: Proposal, writer: PointerWriter, graph: KnowledgeGraph, *, trust: float = TRUST
) -> Proposal:
    """Return the candidates with scores less what the writer holds against them, best first.

    The one that it likes best keeps its score; no other loses more than a bound, and those that
    come after the first `CONSIDERED` lose as much as the least liked. What it cannot read loses as
    much as the best that it can read.
    """
    head = proposal.candidates[:CONSIDERED]
    judged = writer.judgements(proposal.linked, [one.form for one in head], graph)
    known = [value for value in judged if value is not None]
    if not known:
        return proposal
    best, most = max(known), min(_WORST, trust * (max(known) - min(known)))
    first = next(value for value in judged if value is not None)
    losses = [min(_WORST, trust * (best - (first if v is None else v))) for v in judged]
    losses += [most] * (len(proposal.candidates) - len(head))
    scored = [
        replace(one, score=one.score - loss)
        for one, loss in zip(proposal.candidates, losses, strict=True)
    ]
    return replace(proposal, candidates=tuple(sorted(scored, key=lambda one: -one.score)))
