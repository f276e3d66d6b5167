"""How sure the best candidate is, and whether to answer, ask back or refuse."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from askgraph.candidates.calibration import calibrated
from askgraph.candidates.propose import Proposal
from askgraph.candidates.vote import Cluster
from askgraph.candidates.work import Candidate
from askgraph.linking.text import Reading

__all__ = [
    "CONFIDENCE",
    "Decision",
    "Thresholds",
    "confidence_of",
    "decided",
    "evidence_for",
    "weighed",
]

CONFIDENCE = {
    "bias": -1.3,
    "score": 0.8,
    "margin": 3.3,
    "covered": 1.6,
    "unused": -0.4,
    "unused_names": -1.0,
    "mismatch": -4.0,
    "weakest": -1.5,
    "guess": -2.0,
}
"""Weights of a logistic model; `tools/calibrate.py` fits them and prints how well they hold."""

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


def weighed(evidence: Mapping[str, float]) -> float:
    """Return what the logistic model gives (0–1) for the evidence of `evidence_for`."""
    linear = CONFIDENCE["bias"] + sum(CONFIDENCE[name] * value for name, value in evidence.items())
    return 1 / (1 + math.exp(-linear))


def evidence_for(proposal: Proposal, found: Sequence[Cluster]) -> dict[str, float]:
    """What speaks for and against the best cluster.

    Its score; its lead over the next different result; the share of the question's words that it
    uses; how many it leaves, and how many names among them; whether a question word asks for
    another sort of answer than it gives; whether a thing was named and nothing asked of it; and how
    far the loosest match of a thing's name is off.
    """
    best, weights = found[0].best, proposal.linked.weights
    tokens = proposal.reading.tokens
    unused = [at for at, weight in enumerate(weights) if weight and not best.used >> at & 1]
    total = sum(weights) or 1.0
    valued = proposal.frame.asks in ("number", "date", "year")
    links = [part.link for part in best.state.node.walk() if part.link is not None]
    cut = 20.0 if proposal.reading.cut else 0.0
    return {
        "score": best.score,
        "margin": min(1.0, found[0].score - found[1].score) if len(found) > 1 else 0.5,
        "covered": 1.0 - sum(weights[at] for at in unused) / total,
        "unused": float(len(unused)) + cut,
        "unused_names": float(sum(at > 0 and tokens[at].capital for at in unused)),
        "mismatch": float(valued and not best.features["asks"]),
        "guess": float(_is_guess(best, proposal.reading)),
        "weakest": 1.0 - min((link.score * link.quality for link in links), default=1.0),
    }


def _is_guess(best: Candidate, reading: Reading) -> bool:
    """Whether the words name one thing, and the answer is a link of it that no word names."""
    edges = best.state.node.edges
    if len(edges) != 1 or best.shown_words or best.notes:
        return False
    edge, child = edges[0]
    if child.link is None or child.edges or edge.link is not None:
        return False
    words = [reading.tokens[at] for at in child.link.positions]
    several = any(word.stem != word.folded for word in words)  # "chip fabs": what is one
    return best.state.node.cls_link is None and (edge.inverse or not several)


def decided(confidence: float, thresholds: Thresholds | None = None) -> Decision:
    """Decide by confidence."""
    limits = thresholds or Thresholds()
    if confidence >= limits.answer:
        return "answer"
    return "ask" if confidence >= limits.ask else "refuse"
