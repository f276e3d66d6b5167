"""Intervals of a mean and of the difference of two means, with questions as the unit.

Repetitions of a question are no further questions: average them first, then come here. Everything
is drawn with a fixed seed from sorted values, so that the same values in another order give the
same numbers.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from statistics import fmean

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

SAMPLES = 10_000
FLIPS = 20_000
MOST_EXACT = 20  # differences with 2^20 signs at most; more are sampled
BLOCK = 1_000_000  # values drawn at once
DIGITS = 12  # behind the point; values that differ less are equal
TINY = 1e-9


@dataclass(frozen=True)
class Interval:
    """A mean and the ends of its interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Difference:
    """What `b` has over `a` on the same questions: the mean of b − a, its interval, and p.

    `p` is of the sign-flip test; `better`, `worse` and `equal` count questions by the sign of
    b − a.
    """

    n: int
    a: float
    b: float
    difference: Interval
    p: float
    better: int
    worse: int
    equal: int


def bootstrap_interval(
    values: Sequence[float], *, level: float = 0.95, samples: int = SAMPLES
) -> Interval:
    """Return the mean and its bootstrap interval, bias-corrected and accelerated (BCa).

    Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), section 14.3. One value, or
    only equal ones, give an interval without width: nothing can be said of others. No values are 0.
    """
    if not 0 < level < 1 or samples < 1:
        raise ValueError("the level must be between 0 and 1, and there must be samples")
    mean = fmean(values) if values else 0.0
    rounded = np.sort(np.round(np.array(values, float), DIGITS))
    if not values or rounded[0] == rounded[-1]:
        return Interval(mean, mean, mean)
    from scipy.stats import bootstrap  # of an extra: commands load without it

    interval = bootstrap(
        (rounded,),
        np.mean,
        n_resamples=samples,
        batch=max(1, BLOCK // len(rounded)),
        confidence_level=level,
        method="BCa",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return Interval(mean, float(min(interval.low, mean)), float(max(interval.high, mean)))


def paired_difference(a: Mapping[str, float], b: Mapping[str, float]) -> Difference:
    """Compare two systems on the questions that both have, by question; none in common are 0."""
    common = sorted(a.keys() & b.keys())
    gains = [b[key] - a[key] for key in common]
    better, worse = sum(gain > TINY for gain in gains), sum(gain < -TINY for gain in gains)
    return Difference(
        n=len(common),
        a=fmean(a[key] for key in common) if common else 0.0,
        b=fmean(b[key] for key in common) if common else 0.0,
        difference=bootstrap_interval(gains),
        p=permutation_p(gains),
        better=better,
        worse=worse,
        equal=len(common) - better - worse,
    )


def permutation_p(differences: Sequence[float], *, flips: int = FLIPS) -> float:
    """Return the two-sided p of the paired permutation test on the mean: signs flipped at random.

    The share of all choices of signs whose mean is at least as far from 0 as the one seen. Exact
    for up to 20 differences other than 0; of more, `flips` choices are drawn, and p is at least
    1 / (flips + 1). No differences give 1.
    """
    sizes = np.array(sorted(abs(float(gap)) for gap in differences if abs(gap) > TINY))
    n = len(sizes)
    least = abs(fsum(differences)) - TINY * n
    if n <= MOST_EXACT:
        sums = np.zeros(1)
        for size in sizes:
            sums = np.concatenate([sums + size, sums - size])
        return float(np.mean(np.abs(sums) >= least))
    # scipy.stats.permutation_test draws these signs value by value: 24 s for 3,000 questions.
    random = np.random.default_rng(0)
    reached = 0
    for start in range(0, flips, block := max(1, BLOCK // n)):
        drawn = random.integers(0, 256, (min(block, flips - start), -(-n // 8)), dtype=np.uint8)
        sums = 2 * (np.unpackbits(drawn, axis=1, count=n) @ sizes) - sizes.sum()
        reached += int(np.sum(np.abs(sums) >= least))
    return (reached + 1) / (flips + 1)


def kappa(pairs: Sequence[tuple[bool, bool]]) -> Interval:
    """Return Cohen's kappa (1960) of two judges of the same questions, with its 95 % interval.

    How much more often they agree than by chance: 1 always, 0 as by chance. If both say the same of
    all, nothing tells chance from agreement, and it is 1. The interval is of the bootstrap over
    questions (percentiles). No pairs give 0.
    """
    if not pairs:
        return Interval(0.0, 0.0, 0.0)
    cells = Counter(pairs)
    seen = np.array([cells[one, other] for one in (True, False) for other in (True, False)])
    drawn = np.random.default_rng(0).multinomial(len(pairs), seen / len(pairs), size=SAMPLES)
    low, high = np.quantile(_kappas(drawn), (0.025, 0.975))
    return Interval(float(_kappas(seen[None])[0]), float(low), float(high))


def _kappas(counts: npt.NDArray[np.int64]) -> Numbers:
    """The kappa of each row: how many both, the first, the other, and none call right."""
    both, first, other, none = (counts / counts.sum(axis=1, keepdims=True)).T
    agreed = both + none
    chance = (both + first) * (both + other) + (other + none) * (first + none)
    apart = np.maximum(1 - chance, TINY)
    return np.where(chance > 1 - TINY, 1.0, (agreed - chance) / apart)


def holm(values: Sequence[float]) -> tuple[float, ...]:
    """Return p values corrected for being many, in their order: Holm's step-down method (1979)."""
    order = sorted(range(len(values)), key=lambda at: (values[at], at))
    corrected, reached = [0.0] * len(values), 0.0
    for rank, at in enumerate(order):
        reached = max(reached, min(1.0, (len(values) - rank) * values[at]))
        corrected[at] = reached
    return tuple(corrected)
