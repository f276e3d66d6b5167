"""What a confidence is worth: risk and coverage, and calibration, over (confidence, score) pairs.

Answers of equal confidence cannot be told apart by it, so each of them counts in part wherever a
border runs through them: the order of the pairs does not matter.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

__all__ = [
    "RISKS",
    "Bin",
    "Calibration",
    "Pairs",
    "Point",
    "aurc",
    "calibration",
    "coverage_at",
    "excess_aurc",
    "mean_at",
    "risk_coverage",
]

Pairs = Sequence[tuple[float, float]]
"""The confidence of each answer, and its score."""

RISKS = (0.05, 0.1)
"""The risks at which reports tell how many questions could be answered."""


@dataclass(frozen=True)
class Point:
    """If only answers with at least this confidence are given: their share, and 1 - mean score."""

    confidence: float
    coverage: float
    risk: float


@dataclass(frozen=True)
class Bin:
    """The answers with a confidence between two bounds; the means are 0 where there are none."""

    low: float
    high: float
    n: int
    confidence: float
    score: float


@dataclass(frozen=True)
class Calibration:
    """How far confidence and score are apart, over `n` answers.

    `brier` is the mean of their squared distance (Brier, 1950), 0 at best. `ece` is the expected
    calibration error: the distance of the two means of each bin, weighted by its answers (Naeini et
    al., AAAI 2015).
    """

    n: int
    brier: float
    ece: float
    bins: tuple[Bin, ...]


def mean_at(pairs: Pairs, coverage: float) -> float:
    """Return the mean score of the most confident share, at least one; 0 where there are none."""
    wanted = min(len(pairs), max(1, math.ceil(coverage * len(pairs) - 1e-9)))
    total, left = 0.0, wanted
    for _, scores in _ranked(pairs):
        taken = min(left, len(scores))
        total += taken * fmean(scores)
        left -= taken
        if not left:
            break
    return min(1.0, total / wanted) if wanted else 0.0


def risk_coverage(pairs: Pairs) -> tuple[Point, ...]:
    """Return a point for each confidence that occurs, the highest first.

    El-Yaniv and Wiener, "On the foundations of noise-free selective classification" (2010).
    """
    points: list[Point] = []
    total, count = 0.0, 0
    for confidence, scores in _ranked(pairs):
        total, count = total + math.fsum(scores), count + len(scores)
        points.append(Point(confidence, count / len(pairs), max(0.0, 1 - total / count)))
    return tuple(points)


def aurc(pairs: Pairs) -> float:
    """Return the area under the risk-coverage curve: the mean risk over all coverages k / n.

    Geifman et al., "Bias-reduced uncertainty estimation" (ICLR 2019), section 2. No pairs give 0.
    """
    risks: list[float] = []
    total, count = 0.0, 0
    for _, scores in _ranked(pairs):
        mean = fmean(scores)
        risks += [1 - (total + k * mean) / (count + k) for k in range(1, len(scores) + 1)]
        total, count = total + math.fsum(scores), count + len(scores)
    return max(0.0, fmean(risks)) if risks else 0.0


def coverage_at(pairs: Pairs, risk: float) -> float:
    """Return the largest share of answers, the most confident ones, at a mean risk of at most this.

    What could be answered if so many wrong answers were borne (Geifman and El-Yaniv, "Selective
    classification for deep neural networks", 2017). Answers of equal confidence are given together
    or not at all. 0 where even the first are worse.
    """
    kept = [point.coverage for point in risk_coverage(pairs) if point.risk <= risk + 1e-9]
    return max(kept, default=0.0)


def excess_aurc(pairs: Pairs) -> float:
    """Return how much of the area a perfect order of the same answers would save."""
    return max(0.0, aurc(pairs) - aurc([(score, score) for _, score in pairs]))


def calibration(pairs: Pairs, *, bins: int = 10) -> Calibration:
    """Return the distance of confidence and score, with bins of equal width; no pairs give 0."""
    filled: list[list[tuple[float, float]]] = [[] for _ in range(bins)]
    for confidence, score in pairs:
        at = math.floor(confidence * bins + 1e-9)
        filled[min(bins - 1, max(0, at))].append((confidence, score))
    made = tuple(_bin(at / bins, (at + 1) / bins, held) for at, held in enumerate(filled))
    n = len(pairs)
    return Calibration(
        n=n,
        brier=fmean((confidence - score) ** 2 for confidence, score in pairs) if n else 0.0,
        ece=math.fsum(b.n * abs(b.confidence - b.score) for b in made) / n if n else 0.0,
        bins=made,
    )


def _ranked(pairs: Pairs) -> Iterator[tuple[float, list[float]]]:
    """The scores of each confidence, the highest first."""
    ranked = sorted(pairs, key=lambda pair: -pair[0])
    for confidence, group in groupby(ranked, key=lambda pair: pair[0]):
        yield confidence, [score for _, score in group]


def _bin(low: float, high: float, held: Pairs) -> Bin:
    if not held:
        return Bin(low, high, 0, 0.0, 0.0)
    return Bin(low, high, len(held), fmean(c for c, _ in held), fmean(s for _, s in held))
