"""Figures over records other than mean scores: what failed, what was held back, what it cost."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from askgraph.evaluation.reports.confidence import Calibration, calibration
from askgraph.evaluation.reports.failures import failure_of
from askgraph.evaluation.runs.record import REJECTED, Record
from askgraph.trace import Usage


@dataclass(frozen=True)
class Executable:
    """Counts of questions, of those with a query, and of those whose query ran."""

    questions: int
    queries: int
    ran: int

    @property
    def share(self) -> float | None:
        """The share of all questions whose query ran; `None` without questions."""
        return self.ran / self.questions if self.questions else None


def executable(outcomes: Iterable[tuple[str | None, bool]]) -> Executable:
    """Count questions, each given as (its query or `None`, whether that ran)."""
    pairs = list(outcomes)
    queries = [ran for query, ran in pairs if query is not None]
    return Executable(len(pairs), len(queries), sum(queries))


@dataclass(frozen=True)
class Rejection:
    """Counts of wrong and right answers, and of those among them that were rejected."""

    wrong: int
    wrong_rejected: int
    right: int
    right_rejected: int

    @property
    def caught(self) -> float | None:
        """The share of the wrong answers that was rejected; `None` if none was wrong."""
        return self.wrong_rejected / self.wrong if self.wrong else None

    @property
    def lost(self) -> float | None:
        """The share of the right answers that was rejected; `None` if none was right."""
        return self.right_rejected / self.right if self.right else None


def rejection(answers: Iterable[tuple[bool, bool]]) -> Rejection:
    """Count answers, each given as (was it rejected, would it have been right)."""
    pairs = list(answers)
    wrong = [rejected for rejected, was_right in pairs if not was_right]
    right = [rejected for rejected, was_right in pairs if was_right]
    return Rejection(len(wrong), sum(wrong), len(right), sum(right))


RIGHT = 1 - 1e-9
DRAFTS = (1, 3, 5, 10, 20, 50)


def is_right(record: Record, metric: str) -> bool:
    """Return whether nothing of the answer is wrong or missing, by this metric."""
    return record.score(metric).f1 >= RIGHT


def has_failed(record: Record) -> bool:
    """Return whether the method, the answer's query or gold's query failed."""
    return record.status == "error" or bool(record.error or record.gold_error)


def failure_class(record: Record, metric: str) -> str | None:
    """Return the class of what went wrong by this metric, None if nothing did."""
    if is_right(record, metric):
        return None
    return record.failure or failure_of(
        record.sparql,
        record.gold_sparql,
        status=record.status,
        error=record.error,
        scores=record.scores,
        rows=None,
        gold_rows=None,
        executed=record.executed,
        metric=metric,
        unanswerable=record.unanswerable,
        gold_error=record.gold_error,
    )


def failure_counts(records: Sequence[Record], metric: str) -> dict[str, int]:
    """Count the records of each class of failure, the most frequent first."""
    classes = Counter(kind for r in records if (kind := failure_class(r, metric)) is not None)
    return dict(sorted(classes.items(), key=lambda item: (-item[1], item[0])))


def errors_of(records: Sequence[Record]) -> dict[str, tuple[str, ...]]:
    """Return each error with the ids that it came up on, of gold's queries too; both sorted."""
    found: dict[str, set[str]] = {}
    for record in records:
        if record.error:
            found.setdefault(record.error, set()).add(record.id)
        if record.gold_error:
            found.setdefault(f"gold: {record.gold_error}", set()).add(record.id)
    return {error: tuple(sorted(found[error])) for error in sorted(found)}


def calibration_of(records: Sequence[Record], metric: str) -> Calibration:
    """Return how far confidence and score are apart, over the records with a query.

    A query for a question that has no answer scores 0, whether it was held back or not.
    """
    return calibration(
        [
            (record.confidence, 0.0 if record.unanswerable else record.score(metric).f1)
            for record in records
            if record.sparql is not None
        ]
    )


def rejection_of(records: Sequence[Record], metric: str) -> Rejection:
    """Return what refusing and asking back caught of the wrong answers, and lost of the right ones.

    Right is a score of 1. Any answer to a question that has none is wrong. Errors are left out:
    there was nothing to reject.
    """
    return rejection(
        (record.status in REJECTED, not record.unanswerable and is_right(record, metric))
        for record in records
        if record.status != "error"
    )


def executable_of(records: Sequence[Record]) -> Executable:
    """Return how many questions that have an answer got a query, and how many one that ran."""
    return executable((r.sparql, r.executed) for r in records if not r.unanswerable)


def usage_of(records: Sequence[Record]) -> Usage:
    """Return what all records cost together; the seconds are those from question to answer."""
    total = sum((record.usage for record in records), Usage())
    return replace(
        total,
        seconds=math.fsum(record.seconds for record in records),
        money=math.fsum(record.usage.money for record in records),
    )


def drafts_oracle(records: Sequence[Record]) -> dict[int, float]:
    """Return, for several k, the mean F1 (best column) of the best of the first k candidates.

    It is an oracle, not a system: it looks at gold to choose. A record without candidates counts 0.
    Empty if no candidates were scored; no k is larger than needed to reach all of them.
    """
    drafts = [record.drafts for record in records if not record.unanswerable]
    longest = max(map(len, drafts), default=0)
    counts = [k for k, before in zip(DRAFTS, (0, *DRAFTS), strict=False) if before < longest]
    return {k: fmean(max(found[:k], default=0.0) for found in drafts) for k in counts}
