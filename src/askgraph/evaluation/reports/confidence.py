"""Quality of a confidence: risk and coverage, calibration, and rejection by threshold.

Answers of equal confidence are indistinguishable, so each of them counts in part wherever a
boundary runs through them: the order of the pairs does not matter.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

import numpy as np

from askgraph.evaluation.reports import Interval, compute_bootstrap_interval
from askgraph.evaluation.runs import REJECTED_STATUSES, Record

Pairs = Sequence[tuple[float, float]]
"""The confidence of each answer, and its score."""

REPORTED_RISK_RATIOS = (0.05, 0.1)
"""The risks at which reports show the coverage."""


@dataclass(frozen=True)
class CalibrationBin:
    """The answers with a confidence between two bounds; the means are 0 if there are none."""

    low: float
    high: float
    n: int
    confidence: float
    score: float


@dataclass(frozen=True)
class Calibration:
    """The distance between confidence and score, over `n` answers.

    Attributes:
        ece: Expected calibration error: the distance of the two means of each bin, weighted by its
            answers (Naeini et al., AAAI 2015).
    """

    n: int
    brier: float  # mean squared distance (Brier, 1950); 0 is best
    ece: float
    bins: tuple[CalibrationBin, ...]


def compute_mean_at_coverage(pairs: Pairs, coverage: float) -> float:
    """Return the mean score of the most confident share of answers, at least one; 0 without any."""
    count = min(len(pairs), max(1, math.ceil(coverage * len(pairs) - 1e-9)))
    total, remaining = 0.0, count
    for _, scores in _group_by_confidence(pairs):
        used = min(remaining, len(scores))
        total += used * fmean(scores)
        remaining -= used
        if not remaining:
            break
    return min(1.0, total / count) if count else 0.0


def compute_aurc(pairs: Pairs) -> float:
    """Return the area under the risk-coverage curve: the mean risk over all coverages k / n.

    Geifman et al., "Bias-reduced uncertainty estimation" (ICLR 2019), section 2. No pairs give 0.
    """
    risks: list[float] = []
    total, count = 0.0, 0
    for _, scores in _group_by_confidence(pairs):
        mean = fmean(scores)
        risks += [
            1 - (total + position * mean) / (count + position)
            for position in range(1, len(scores) + 1)
        ]
        total, count = total + math.fsum(scores), count + len(scores)
    return max(0.0, fmean(risks)) if risks else 0.0


def compute_coverage_at_risk(pairs: Pairs, risk: float) -> float:
    """Return the largest share of most confident answers whose mean risk is at most `risk`.

    El-Yaniv and Wiener, "On the foundations of noise-free selective classification", 2010; Geifman
    and El-Yaniv, "Selective classification for deep neural networks", 2017. Answers of equal
    confidence are included together or not at all. 0 if even the first exceed the risk.
    """
    total, count, coverage = 0.0, 0, 0.0
    for _, scores in _group_by_confidence(pairs):
        total, count = total + math.fsum(scores), count + len(scores)
        if 1 - total / count <= risk + 1e-9:
            coverage = count / len(pairs)
    return coverage


def compute_excess_aurc(pairs: Pairs) -> float:
    """Return the area that a perfect order of the same answers would save."""
    return max(0.0, compute_aurc(pairs) - compute_aurc([(score, score) for _, score in pairs]))


def compute_calibration(pairs: Pairs, *, bin_count: int = 10) -> Calibration:
    """Return the calibration with bins of equal width; no pairs give 0."""
    filled: list[list[tuple[float, float]]] = [[] for _ in range(bin_count)]
    for confidence, score in pairs:
        index = math.floor(confidence * bin_count + 1e-9)
        filled[min(bin_count - 1, max(0, index))].append((confidence, score))
    calibration_bins = tuple(
        _build_bin(index / bin_count, (index + 1) / bin_count, pairs_in_bin)
        for index, pairs_in_bin in enumerate(filled)
    )
    n = len(pairs)
    return Calibration(
        n=n,
        brier=fmean((confidence - score) ** 2 for confidence, score in pairs) if n else 0.0,
        ece=math.fsum(bin_.n * abs(bin_.confidence - bin_.score) for bin_ in calibration_bins) / n
        if n
        else 0.0,
        bins=calibration_bins,
    )


def _group_by_confidence(pairs: Pairs) -> Iterator[tuple[float, list[float]]]:
    ranked = sorted(pairs, key=lambda pair: -pair[0])
    for confidence, group in groupby(ranked, key=lambda pair: pair[0]):
        yield confidence, [score for _, score in group]


def _build_bin(low: float, high: float, pairs: Pairs) -> CalibrationBin:
    if not pairs:
        return CalibrationBin(low, high, 0, 0.0, 0.0)
    return CalibrationBin(
        low,
        high,
        len(pairs),
        fmean(confidence for confidence, _ in pairs),
        fmean(score for _, score in pairs),
    )


MAX_LOST_SHARE = 0.1
"""The share of right answers that a confidence threshold may reject."""

RIGHT_SCORE_THRESHOLDS = (1.0, 0.5)
"""Alternative scores from which an answer counts as right."""

_SCORE_TOLERANCE = 1e-9
_SAMPLE_COUNT = 1000

JudgedAnswers = Sequence[tuple[float, bool]]
"""The confidence of each answer, and whether it is right."""


@dataclass(frozen=True)
class PolicyResult:
    """The effect of a rejection policy on `wrong` wrong and `right` right answers.

    `caught` and `lost` are the rejected shares of each, with 95 % bootstrap intervals over
    questions; None if there are no such answers.
    """

    name: str
    wrong: int
    right: int
    caught: Interval | None
    lost: Interval | None


def compute_auc(answers: JudgedAnswers) -> float | None:
    """Return the chance that a right answer has more confidence than a wrong one, ties half.

    The area under the ROC curve (Hanley and McNeil, 1982); None if all are right or all wrong.
    """
    right = np.sort([confidence for confidence, is_right in answers if is_right])
    wrong = np.array([confidence for confidence, is_right in answers if not is_right])
    if not len(right) or not len(wrong):
        return None
    below = np.searchsorted(right, wrong, side="left")
    ties = np.searchsorted(right, wrong, side="right") - below
    return float(((len(right) - below - ties) + ties / 2).sum() / (len(right) * len(wrong)))


def compute_auc_interval(answers: JudgedAnswers) -> Interval | None:
    """Return the AUC with its 95 % bootstrap interval over answers (1,000 samples, percentiles)."""
    auc = compute_auc(answers)
    if auc is None:
        return None
    ordered = sorted(answers)
    rng = np.random.default_rng(0)
    areas = [
        area
        for sample in (rng.integers(0, len(ordered), len(ordered)) for _ in range(_SAMPLE_COUNT))
        if (area := compute_auc([ordered[index] for index in sample])) is not None
    ]
    low, high = np.quantile([*areas, auc], (0.025, 0.975))
    return Interval(auc, min(auc, float(low)), max(auc, float(high)))


def find_threshold(
    answers: JudgedAnswers, *, max_lost_share: float = MAX_LOST_SHARE, lost_count: int = 0
) -> float:
    """Return the highest threshold that rejects at most a share of the right answers.

    0 if no answer is right or no more may be lost.

    Args:
        answers: Confidence and correctness of each answer.
        max_lost_share: The share of right answers that may be rejected.
        lost_count: Right answers that are lost already, and are not among `answers`.
    """
    right = sorted(confidence for confidence, is_right in answers if is_right)
    remaining = int(max_lost_share * (len(right) + lost_count) + _SCORE_TOLERANCE) - lost_count
    return right[min(len(right) - 1, remaining)] if right and remaining >= 0 else 0.0


def evaluate_policies(
    records: Sequence[Record], metric: str, *, min_right_score: float = 1.0
) -> tuple[PolicyResult, ...]:
    """Return the effect of each rejection policy on the answers of one method.

    The policies are those of Alekseev et al. (NLDB 2025, section 7), which reports caught answers
    only, and confidence thresholds. All is computed from the records, without new questions.

    An answer is right from a score of `min_right_score` on; a failure is wrong, and so is any
    answer to an unanswerable question. If a run scores withheld answers as 0, lost right answers
    are invisible.
    """
    right = [
        not record.unanswerable
        and record.get_score(metric).f1 >= min_right_score - _SCORE_TOLERANCE
        for record in records
    ]
    results = []
    for name, rejected in _apply_policies(records, right):
        shares: dict[bool, list[float]] = {False: [], True: []}
        for is_rejected, is_right in zip(rejected, right, strict=True):
            shares[is_right].append(float(is_rejected))
        caught, lost = (
            compute_bootstrap_interval(values) if values else None for values in shares.values()
        )
        results.append(PolicyResult(name, len(shares[False]), len(shares[True]), caught, lost))
    return tuple(results)


def _apply_policies(
    records: Sequence[Record], right: Sequence[bool]
) -> Iterator[tuple[str, list[bool]]]:
    yield "as answered", [record.status in (*REJECTED_STATUSES, "error") for record in records]
    # A query is missing, does not run, or has no rows.
    failing = [
        record.sparql is None or not record.executed or record.rows == 0 for record in records
    ]
    yield "execution", failing
    unwritten = [record.sparql is None or record.status == "refusal" for record in records]
    yield (
        "refusal and execution",
        [first or second for first, second in zip(unwritten, failing, strict=True)],
    )
    judged = [
        (record.confidence, is_right) for record, is_right in zip(records, right, strict=True)
    ]
    graphs = [record.graph for record in records]
    if len(set(graphs)) > 1:
        thresholds = {
            graph: find_threshold(
                [answer for answer, name in zip(judged, graphs, strict=True) if name != graph]
            )
            for graph in set(graphs)
        }
        below_threshold = [record.confidence < thresholds[record.graph] for record in records]
        yield "confidence, limit of other graphs", below_threshold
        yield (
            "execution and confidence, limit of other graphs",
            [first or second for first, second in zip(failing, below_threshold, strict=True)],
        )
    threshold = find_threshold(judged)
    yield "confidence, limit in hindsight", [record.confidence < threshold for record in records]
