"""Reports on runs: scores with confidence intervals, comparisons, tables and an HTML page.

This module has the intervals of means and of differences of means, with questions as the unit.
Average the repetitions of a question first. All samples are drawn with a fixed seed from sorted
values, so that the same values in another order give the same numbers.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from statistics import fmean

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

SAMPLE_COUNT = 10_000
FLIP_COUNT = 20_000
MAX_EXACT_COUNT = 20  # differences with 2^20 signs at most; more are sampled
BLOCK_SIZE = 1_000_000  # values drawn at once
DECIMAL_DIGITS = 12  # behind the point; values that differ less are equal
TOLERANCE_SIZE = 1e-9


@dataclass(frozen=True)
class Interval:
    """A mean and the ends of its interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Difference:
    """The means of `a` and `b` on `n` questions, their difference, and p of the sign-flip test."""

    n: int
    a: float
    b: float
    difference: Interval
    p: float
    better: int
    worse: int
    equal: int


def compute_bootstrap_interval(
    values: Sequence[float], *, confidence_level: float = 0.95, sample_count: int = SAMPLE_COUNT
) -> Interval:
    """Return the mean and its bootstrap interval, bias-corrected and accelerated (BCa).

    Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), section 14.3. A single value,
    or equal values, give an interval of width 0. No values give 0.
    """
    if not 0 < confidence_level < 1 or sample_count < 1:
        raise ValueError("the level must be between 0 and 1, and there must be samples")
    mean = fmean(values) if values else 0.0
    rounded = np.sort(np.round(np.array(values, float), DECIMAL_DIGITS))
    if not values or rounded[0] == rounded[-1]:
        return Interval(mean, mean, mean)
    from scipy.stats import bootstrap  # of an extra: commands load without it

    interval = bootstrap(
        (rounded,),
        np.mean,
        n_resamples=sample_count,
        batch=max(1, BLOCK_SIZE // len(rounded)),
        confidence_level=confidence_level,
        method="BCa",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return Interval(mean, float(min(interval.low, mean)), float(max(interval.high, mean)))


def compare_paired(a: Mapping[str, float], b: Mapping[str, float]) -> Difference:
    """Compare two systems on the questions that both have, by question; 0 if they share none."""
    common = sorted(a.keys() & b.keys())
    gains = [b[key] - a[key] for key in common]
    better = sum(gain > TOLERANCE_SIZE for gain in gains)
    worse = sum(gain < -TOLERANCE_SIZE for gain in gains)
    return Difference(
        n=len(common),
        a=fmean(a[key] for key in common) if common else 0.0,
        b=fmean(b[key] for key in common) if common else 0.0,
        difference=compute_bootstrap_interval(gains),
        p=compute_permutation_p(gains),
        better=better,
        worse=worse,
        equal=len(common) - better - worse,
    )


def compute_permutation_p(differences: Sequence[float], *, flip_count: int = FLIP_COUNT) -> float:
    """Return the two-sided p of the paired permutation test on the mean, with random sign flips.

    p is the share of sign choices whose mean is at least as far from 0 as the observed one. Exact
    for up to 20 differences other than 0; beyond, `flip_count` choices are drawn, and p is at least
    1 / (flip_count + 1). No differences give 1.
    """
    sizes = np.array(
        sorted(
            abs(float(difference)) for difference in differences if abs(difference) > TOLERANCE_SIZE
        )
    )
    n = len(sizes)
    min_sum = abs(fsum(differences)) - TOLERANCE_SIZE * n
    if n <= MAX_EXACT_COUNT:
        sums = np.zeros(1)
        for size in sizes:
            sums = np.concatenate([sums + size, sums - size])
        return float(np.mean(np.abs(sums) >= min_sum))
    # scipy.stats.permutation_test draws these signs value by value: 24 s for 3,000 questions.
    rng = np.random.default_rng(0)
    extreme_count = 0
    for start in range(0, flip_count, block := max(1, BLOCK_SIZE // n)):
        bits = rng.integers(0, 256, (min(block, flip_count - start), -(-n // 8)), dtype=np.uint8)
        sums = 2 * (np.unpackbits(bits, axis=1, count=n) @ sizes) - sizes.sum()
        extreme_count += int(np.sum(np.abs(sums) >= min_sum))
    return (extreme_count + 1) / (flip_count + 1)


def compute_kappa(pairs: Sequence[tuple[bool, bool]]) -> Interval:
    """Return Cohen's kappa (1960) of two judges of the same questions, with its 95 % interval.

    Kappa is the agreement beyond chance: 1 for full agreement, 0 for chance. If both judges give
    one verdict on all questions, it is 1. The interval is a percentile bootstrap over questions.
    No pairs give 0.
    """
    if not pairs:
        return Interval(0.0, 0.0, 0.0)
    cells = Counter(pairs)
    counts = np.array([cells[first, second] for first in (True, False) for second in (True, False)])
    samples = np.random.default_rng(0).multinomial(
        len(pairs), counts / len(pairs), size=SAMPLE_COUNT
    )
    low, high = np.quantile(_compute_kappas(samples), (0.025, 0.975))
    return Interval(float(_compute_kappas(counts[None])[0]), float(low), float(high))


def _compute_kappas(counts: npt.NDArray[np.int64]) -> Numbers:
    """Return the kappa of each row of counts: both, only the first, only the second, neither."""
    both_right, first_only, second_only, neither = (counts / counts.sum(axis=1, keepdims=True)).T
    agreement = both_right + neither
    chance = (both_right + first_only) * (both_right + second_only) + (second_only + neither) * (
        first_only + neither
    )
    beyond_chance = np.maximum(1 - chance, TOLERANCE_SIZE)
    return np.where(chance > 1 - TOLERANCE_SIZE, 1.0, (agreement - chance) / beyond_chance)


def correct_holm(values: Sequence[float]) -> tuple[float, ...]:
    """Return p values corrected by Holm's step-down method (1979), in their order."""
    order = sorted(range(len(values)), key=lambda index: (values[index], index))
    corrected, maximum = [0.0] * len(values), 0.0
    for rank, index in enumerate(order):
        maximum = max(maximum, min(1.0, (len(values) - rank) * values[index]))
        corrected[index] = maximum
    return tuple(corrected)
