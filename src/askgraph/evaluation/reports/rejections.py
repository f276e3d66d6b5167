"""What ways of rejecting answers catch of the wrong ones, and lose of the right ones.

The ways are those of Alekseev et al. (NLDB 2025), section 7, which gives the share caught alone,
and limits of confidence. Nothing is asked again: all comes from the records of a run.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from askgraph.evaluation.reports.outcomes import REJECTED
from askgraph.evaluation.reports.statistics import Interval, bootstrap_interval
from askgraph.evaluation.runs.record import Record

__all__ = ["LOST", "RIGHT_FROM", "Judged", "Policy", "auc", "auc_interval", "limit_for", "policies"]

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
    questions; None where there is nothing to reject.
    """

    name: str
    wrong: int
    right: int
    caught: Interval | None
    lost: Interval | None


def auc(answers: Judged) -> float | None:
    """Return the chance that a right answer has more confidence than a wrong one, ties half.

    The area under the ROC curve (Hanley and McNeil, 1982); None where all are right or all wrong.
    """
    right = np.sort([confidence for confidence, fine in answers if fine])
    wrong = np.array([confidence for confidence, fine in answers if not fine])
    if not len(right) or not len(wrong):
        return None
    below = np.searchsorted(right, wrong, side="left")
    ties = np.searchsorted(right, wrong, side="right") - below
    above = len(right) - below - ties
    return float((above + ties / 2).sum() / (len(right) * len(wrong)))


def auc_interval(answers: Judged, *, seed: int = 0) -> Interval | None:
    """Return `auc` with its 95 % bootstrap interval over answers (percentiles of 1,000 samples)."""
    whole = auc(answers)
    if whole is None:
        return None
    ordered = sorted(answers)
    chance = np.random.default_rng(seed)
    drawn = (chance.integers(0, len(ordered), len(ordered)) for _ in range(_SAMPLES))
    areas = [area for at in drawn if (area := auc([ordered[place] for place in at])) is not None]
    low, high = np.quantile([*areas, whole], (0.025, 0.975))
    return Interval(whole, min(whole, float(low)), max(whole, float(high)))


def limit_for(answers: Judged, *, lost: float = LOST) -> float:
    """Return the highest confidence below which at most this share of the right answers lies.

    0 where none is right: nothing says what to reject.
    """
    right = sorted(confidence for confidence, fine in answers if fine)
    return right[min(len(right) - 1, int(lost * len(right) + _TINY))] if right else 0.0


def policies(
    records: Sequence[Record], metric: str, *, right_from: float = 1.0, lost: float = LOST
) -> tuple[Policy, ...]:
    """Return what each way of rejecting does to the answers of one method.

    An answer is right from a score of `right_from` on; a failure is a wrong answer, and so is any
    answer to a question that has none. In a run that scores what was held back as 0, no right
    answer can be seen lost.
    """
    right = [
        not record.unanswerable and record.score(metric).f1 >= right_from - _TINY
        for record in records
    ]
    return tuple(
        _policy(name, rejected, right) for name, rejected in _rejected(records, right, lost)
    )


def _rejected(
    records: Sequence[Record], right: Sequence[bool], lost: float
) -> Iterator[tuple[str, list[bool]]]:
    """Each way of rejecting by name, with what it rejects."""
    yield "as answered", [record.status in (*REJECTED, "error") for record in records]
    failing = [_fails(record) for record in records]
    yield "execution", failing
    unwritten = [record.sparql is None or record.status == "refusal" for record in records]
    yield "refusal and execution", [a or b for a, b in zip(unwritten, failing, strict=True)]
    judged = [(record.confidence, fine) for record, fine in zip(records, right, strict=True)]
    graphs = [record.graph for record in records]
    if len(set(graphs)) > 1:
        limits = _limits(judged, graphs, lost)
        low = [r.confidence < limits[r.graph] for r in records]
        yield "confidence, limit of other graphs", low
        yield (
            "execution and confidence, limit of other graphs",
            [a or b for a, b in zip(failing, low, strict=True)],
        )
    limit = limit_for(judged, lost=lost)
    yield "confidence, limit in hindsight", [r.confidence < limit for r in records]


def _fails(record: Record) -> bool:
    """Whether a query is missing, does not run, or has no rows."""
    return record.sparql is None or not record.executed or record.rows == 0


def _limits(judged: Judged, graphs: Sequence[str], lost: float) -> Mapping[str, float]:
    """For each graph the limit that the answers over all other graphs give."""
    return {
        graph: limit_for(
            [one for one, place in zip(judged, graphs, strict=True) if place != graph], lost=lost
        )
        for graph in set(graphs)
    }


def _policy(name: str, rejected: Sequence[bool], right: Sequence[bool]) -> Policy:
    pairs = list(zip(rejected, right, strict=True))
    caught = [float(held) for held, fine in pairs if not fine]
    lost = [float(held) for held, fine in pairs if fine]
    return Policy(name, len(caught), len(lost), _share(caught), _share(lost))


def _share(held: Sequence[float]) -> Interval | None:
    return bootstrap_interval(held) if held else None
