"""Weights for a ranking from scored candidates: pairwise logistic regression, held to a prior.

Of each question every cluster of candidates is set against every one with a lower F1: the better
one should score higher. Joachims, "Optimizing search engines using clickthrough data" (KDD 2002),
has the pairs; the loss is logistic.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from tools.ranking_cases import Case, Found

from askgraph.answers.search_run import AHEAD, SearchLimits
from askgraph.search.rank import FEATURES, together

__all__ = ["PRIOR", "answered", "fitted", "held_out", "total_score"]

Floats = npt.NDArray[np.float64]
Weights = Mapping[str, float]

PRIOR = {
    "covered": 2.0,
    "patterns": -0.05,
    "unknown": -0.16,
    "spread": -0.01,
    "nameless": -0.35,
    "asks": 0.35,
    "head": 0.25,
    "trivial": -0.5,
    "akin": -0.15,
    "shortened": -0.1,
    "parted": -0.4,
    "misfit": -1.2,
    "unheld": -0.6,
    "unnamed": -0.4,
    "disagrees": -0.3,
    "ungrouped": -0.3,
    "turned": -0.5,
    "needless": -0.3,
    "unserved": -0.4,
    "faulty": -0.1,
}
"""Set by hand, before anything was fitted; what is not here was 0."""

TAU = 0.2
"""By how much a score must be ahead for odds of e."""

L2 = 0.01
NEAREST = 25
"""So many clusters of a question, best first by the prior, are set against each other."""

GENERATED = 0.25
"""What all generated questions of a graph weigh, for each 1 that people's weigh."""

_STEPS, _ENOUGH = 30, 1e-6


def fitted(cases: Sequence[Case], *, l2: float = L2) -> dict[str, float]:
    """Fit one weight for each feature, by Newton's method.

    A pair counts by the difference in F1, all pairs of a question together count 1; a graph counts
    the square root of the number of its questions. `l2` holds each weight to the prior, in units of
    the feature's own spread; a feature that never differs keeps it. As only the ratios of the
    weights tell, they are given so that `covered` weighs what it does in the prior, where that can
    be: limits in units of the score stay what they are.
    """
    prior = np.array([PRIOR.get(name, 0.0) for name in FEATURES])
    pairs = [pair for case, share in zip(cases, _shares(cases), strict=True)
             for pair in _pairs(case, share)]  # fmt: skip
    if not pairs:
        return dict(zip(FEATURES, prior.tolist(), strict=True))
    found = _newton(np.array([gap for gap, _ in pairs]), np.array([w for _, w in pairs]), prior, l2)
    weights = dict(zip(FEATURES, found.tolist(), strict=True))
    scale = PRIOR["covered"] / weights["covered"] if weights["covered"] > 0 else 1.0
    return {name: round(weight * scale, 4) for name, weight in weights.items()}


def held_out(cases: Sequence[Case], *, l2: float = L2) -> dict[str, dict[str, float]]:
    """The weights for each graph that are fitted without it, whatever its variants are called."""
    graphs = dict.fromkeys(case.graph for case in cases)
    return {
        graph: fitted([case for case in cases if case.graph != graph], l2=l2) for graph in graphs
    }


def answered(case: Case, weights: Weights) -> float:
    """The F1 of what graph search would answer by some weights, were it never to ask or refuse."""
    ranked = sorted(case.found, key=lambda found: -total_score(found, weights))
    first: Found | None = None
    for found in ranked[: SearchLimits().tried]:
        if first and total_score(found, weights) < total_score(ranked[0], weights) - AHEAD:
            break
        if not found.empty:
            return found.f1
        first = first or found
    return first.f1 if first else 0.0


def total_score(found: Found, weights: Weights) -> float:
    """The score of a cluster."""
    return together([_score(member, weights) for member in found.members])


def _score(features: Weights, weights: Weights) -> float:
    return sum(weights.get(name, 0.0) * value for name, value in features.items())


def _shares(cases: Sequence[Case]) -> list[float]:
    number = Counter((case.graph, case.generated) for case in cases)
    people = {graph: n for (graph, generated), n in number.items() if not generated}
    return [
        people.get(case.graph, number[case.graph, case.generated]) ** 0.5
        * (GENERATED if case.generated else 1.0)
        / number[case.graph, case.generated]
        for case in cases
    ]  # fmt: skip


@dataclass(frozen=True)
class _Side:
    """A cluster's best member by the prior, as a row of features, and its F1."""

    row: Floats
    score: float
    f1: float


def _pairs(case: Case, share: float) -> Iterator[tuple[Floats, float]]:
    """What the better of two clusters has over the other, and what the pair counts."""
    sides = sorted(map(_side, case.found), key=lambda side: -side.score)
    near = sides[:NEAREST]
    pairs = [(one, other) for one in near for other in near if one.f1 > other.f1]
    total = sum(one.f1 - other.f1 for one, other in pairs)
    for one, other in pairs:
        yield one.row - other.row, share * (one.f1 - other.f1) / total


def _side(found: Found) -> _Side:
    best = max(found.members, key=lambda member: _score(member, PRIOR))
    row = np.array([best.get(name, 0.0) for name in FEATURES])
    return _Side(row, _score(best, PRIOR), found.f1)


def _newton(gaps: Floats, counts: Floats, prior: Floats, l2: float) -> Floats:
    """The weights where the loss is least: it is convex, so there is one such place."""
    counts = counts / counts.sum()
    spread = np.sqrt(counts @ gaps**2)
    free = spread > 0
    rows, held = gaps[:, free] / TAU, l2 * (spread[free] / TAU) ** 2
    ahead, change = gaps @ prior / TAU, np.zeros(int(free.sum()))
    for _ in range(_STEPS):
        wrong = 1 / (1 + np.exp(np.clip(ahead + rows @ change, -60, 60)))
        slope = held * change - (counts * wrong) @ rows
        bend = (rows * (counts * wrong * (1 - wrong))[:, None]).T @ rows + np.diag(held)
        step = np.linalg.solve(bend, slope)
        change = change - step / max(1.0, float(np.abs(step).max()))
        if float(np.abs(step).max()) < _ENOUGH:
            break
    weights = prior.copy()
    weights[free] += change
    return weights
