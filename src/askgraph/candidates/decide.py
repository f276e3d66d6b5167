"""How sure the best candidate is, and whether to answer, ask back or refuse."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from askgraph.candidates.propose import Proposal
from askgraph.candidates.vote import Cluster

__all__ = ["CONFIDENCE", "Decision", "confidence_of", "decided"]

CONFIDENCE = {"bias": -5.0, "score": 2.0, "margin": 1.5, "covered": 2.0, "unknown": -0.5}

Decision = Literal["answer", "ask", "refuse"]


@dataclass(frozen=True)
class Thresholds:
    """Confidence below which askgraph asks back, and below which it refuses."""

    answer: float = 0.35
    ask: float = 0.2


def confidence_of(proposal: Proposal, found: Sequence[Cluster]) -> float:
    """Estimate the chance (0–1) that the best cluster is right.

    From its score, its lead over the next different result, the share of the question's words that
    it uses, and the predicates that no word names.
    """
    if not found:
        return 0.0
    best = found[0].best
    margin = found[0].score - found[1].score if len(found) > 1 else 0.5
    weights = proposal.linked.weights
    total = sum(weights) or 1.0
    covered = sum(weight for at, weight in enumerate(weights) if best.used >> at & 1) / total
    linear = (
        CONFIDENCE["bias"]
        + CONFIDENCE["score"] * best.score
        + CONFIDENCE["margin"] * min(1.0, margin)
        + CONFIDENCE["covered"] * covered
        + CONFIDENCE["unknown"] * best.unknown
    )
    return 1 / (1 + math.exp(-linear))


def decided(confidence: float, thresholds: Thresholds | None = None) -> Decision:
    """Decide by confidence."""
    limits = thresholds or Thresholds()
    if confidence >= limits.answer:
        return "answer"
    return "ask" if confidence >= limits.ask else "refuse"
