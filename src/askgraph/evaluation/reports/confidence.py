"""Worth of a confidence: risk and coverage, calibration, and the answers that a limit rejects.

Answers of equal confidence cannot be told apart by it, so each of them counts in part wherever a
border runs through them: the order of the pairs does not matter.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

import numpy as np

from askgraph.evaluation.reports.statistics import Interval, bootstrap_interval
from askgraph.evaluation.runs import REJECTED, Record

Pairs = Sequence[tuple[float, float]]
"""The confidence of each answer, and its score."""

RISKS = (0.05, 0.1)
"""The risks at which reports tell how many questions could be answered."""


@dataclass(frozen=True)
class Bin:
    """The answers with a confidence between two bounds; the means are 0 if there are none."""

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
    """Return the mean score of the most confident share, at least one; 0 if there are none."""
    wanted = min(len(pairs), max(1, math.ceil(coverage * len(pairs) - 1e-9)))
    total, left = 0.0, wanted
    for _, scores in _ranked(pairs):
        taken = min(left, len(scores))
        total += taken * fmean(scores)
        left -= taken
        if not left:
            break
    return min(1.0, total / wanted) if wanted else 0.0


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

    What could be answered if so many wrong answers were borne (El-Yaniv and Wiener, "On the
    foundations of noise-free selective classification", 2010; Geifman and El-Yaniv, "Selective
    classification for deep neural networks", 2017). Answers of equal confidence are given together
    or not at all. 0 if even the first are worse.
    """
    total, count, coverage = 0.0, 0, 0.0
    for _, scores in _ranked(pairs):
        total, count = total + math.fsum(scores), count + len(scores)
        if 1 - total / count <= risk + 1e-9:
            coverage = count / len(pairs)
    return coverage


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
    """Yield the scores of each confidence, the highest first."""
    ranked = sorted(pairs, key=lambda pair: -pair[0])
    for confidence, group in groupby(ranked, key=lambda pair: pair[0]):
        yield confidence, [score for _, score in group]


def _bin(low: float, high: float, held: Pairs) -> Bin:
    if not held:
        return Bin(low, high, 0, 0.0, 0.0)
    return Bin(low, high, len(held), fmean(c for c, _ in held), fmean(s for _, s in held))


LOST = 0.1
"""The share of right answers that a limit of confidence may lose."""

RIGHT_FROM = (1.0, 0.5)
"""The scores from which on an answer counts as right, one after the other."""

_TINY = 1e-9
_SAMPLES = 1000

Judged = Sequence[tuple[float, bool]]
"""The confidence of each answer, and whether it is right."""


@dataclass(frozen=True)
class Policy:
    """A way of rejecting, over `wrong` wrong and `right` right answers.

    `caught` and `lost` are the shares rejected of each, with 95 % bootstrap intervals over
    questions; None if there is nothing to reject.
    """

    name: str
    wrong: int
    right: int
    caught: Interval | None
    lost: Interval | None


def auc(answers: Judged) -> float | None:
    """Return the chance that a right answer has more confidence than a wrong one, ties half.

    The area under the ROC curve (Hanley and McNeil, 1982); None if all are right or all wrong.
    """
    right = np.sort([confidence for confidence, fine in answers if fine])
    wrong = np.array([confidence for confidence, fine in answers if not fine])
    if not len(right) or not len(wrong):
        return None
    below = np.searchsorted(right, wrong, side="left")
    ties = np.searchsorted(right, wrong, side="right") - below
    above = len(right) - below - ties
    return float((above + ties / 2).sum() / (len(right) * len(wrong)))


def auc_interval(answers: Judged) -> Interval | None:
    """Return `auc` with its 95 % bootstrap interval over answers (percentiles of 1,000 samples)."""
    whole = auc(answers)
    if whole is None:
        return None
    ordered = sorted(answers)
    chance = np.random.default_rng(0)
    drawn = (chance.integers(0, len(ordered), len(ordered)) for _ in range(_SAMPLES))
    areas = [area for at in drawn if (area := auc([ordered[place] for place in at])) is not None]
    low, high = np.quantile([*areas, whole], (0.025, 0.975))
    return Interval(whole, min(whole, float(low)), max(whole, float(high)))


def limit_for(answers: Judged, *, lost: float = LOST, gone: int = 0) -> float:
    """Return the highest confidence below which at most this share of the right answers lies.

    `gone` right answers are lost already, and are not among the `answers`. 0 if none is right or
    no more may be lost: nothing says what to reject.
    """
    right = sorted(confidence for confidence, fine in answers if fine)
    spare = int(lost * (len(right) + gone) + _TINY) - gone
    return right[min(len(right) - 1, spare)] if right and spare >= 0 else 0.0


def policies(
    records: Sequence[Record], metric: str, *, right_from: float = 1.0
) -> tuple[Policy, ...]:
    """Return what each way of rejecting does to the answers of one method.

    The ways are those of Alekseev et al. (NLDB 2025, section 7), which gives the share caught
    alone, and limits of confidence. Nothing is asked again: all comes from the records.

    An answer is right from a score of `right_from` on; a failure is a wrong answer, and so is any
    answer to a question that has none. In a run that scores what was held back as 0, no right
    answer can be seen lost.
    """
    right = [
        not record.unanswerable and record.score(metric).f1 >= right_from - _TINY
        for record in records
    ]
    return tuple(_policy(name, rejected, right) for name, rejected in _rejected(records, right))


def _rejected(records: Sequence[Record], right: Sequence[bool]) -> Iterator[tuple[str, list[bool]]]:
    """Yield each way of rejecting by name, with what it rejects."""
    yield "as answered", [record.status in (*REJECTED, "error") for record in records]
    failing = [_fails(record) for record in records]
    yield "execution", failing
    unwritten = [record.sparql is None or record.status == "refusal" for record in records]
    yield "refusal and execution", [a or b for a, b in zip(unwritten, failing, strict=True)]
    judged = [(record.confidence, fine) for record, fine in zip(records, right, strict=True)]
    graphs = [record.graph for record in records]
    if len(set(graphs)) > 1:
        limits = {
            graph: limit_for(
                [one for one, place in zip(judged, graphs, strict=True) if place != graph]
            )
            for graph in set(graphs)
        }
        low = [r.confidence < limits[r.graph] for r in records]
        yield "confidence, limit of other graphs", low
        yield (
            "execution and confidence, limit of other graphs",
            [a or b for a, b in zip(failing, low, strict=True)],
        )
    limit = limit_for(judged)
    yield "confidence, limit in hindsight", [r.confidence < limit for r in records]


def _fails(record: Record) -> bool:
    """Return whether a query is missing, does not run, or has no rows."""
    return record.sparql is None or not record.executed or record.rows == 0


def _policy(name: str, rejected: Sequence[bool], right: Sequence[bool]) -> Policy:
    pairs = list(zip(rejected, right, strict=True))
    caught = [float(held) for held, fine in pairs if not fine]
    lost = [float(held) for held, fine in pairs if fine]
    return Policy(name, len(caught), len(lost), _share(caught), _share(lost))


def _share(held: Sequence[float]) -> Interval | None:
    return bootstrap_interval(held) if held else None
