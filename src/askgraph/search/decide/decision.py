"""How sure the best candidate is, and whether to answer, ask back or refuse."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from askgraph.search.decide.calibration import calibrated
from askgraph.search.decide.confidence import weighed
from askgraph.search.decide.evidence import evidence_for
from askgraph.search.propose import Proposal
from askgraph.search.rank.clusters import Cluster

__all__ = ["EMPTY", "Decision", "Thresholds", "confidence_of", "decided"]

EMPTY = 0.6
"""What is left of a confidence where the result is empty.

What is grown has a result, so that a condition took all away: mostly a wrong one. No more is taken,
since benchmarks leave out the questions to which nothing is the right answer.
"""

Decision = Literal["answer", "ask", "refuse"]


@dataclass(frozen=True)
class Thresholds:
    """Confidence below which askgraph asks back, and below which it refuses."""

    answer: float = 0.5
    ask: float = 0.25


def confidence_of(proposal: Proposal, found: Sequence[Cluster]) -> float:
    """Estimate the chance (0–1) that the best cluster is right: its evidence weighed, calibrated.

    0 where there is no cluster; else neither 0 nor 1.
    """
    return calibrated(weighed(evidence_for(proposal, found))) if found else 0.0


def decided(confidence: float, thresholds: Thresholds | None = None) -> Decision:
    """Decide by confidence."""
    limits = thresholds or Thresholds()
    if confidence >= limits.answer:
        return "answer"
    return "ask" if confidence >= limits.ask else "refuse"
