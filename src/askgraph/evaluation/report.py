"""What an evaluation found: one record a question, and the figures over them."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import groupby
from statistics import fmean

__all__ = ["Record", "Report", "coverage_mean", "percentile"]

Json = dict[str, object]


@dataclass(frozen=True)
class Record:
    """How one question went.

    `status` is `answer`, `clarification`, `refusal` or `error`; `confidence` is the best attempt's.
    `f1` is the best column's. For an unanswerable question the three scores are 1 where it was
    refused or asked back. `error` and `gold_error` say what failed; both score 0, unless there is
    stored gold. `key` stands for question, gold and settings together.
    """

    id: str
    question: str
    status: str
    confidence: float
    f1: float
    f1_flattened: float
    em: float
    seconds: float
    sparql: str | None
    gold_sparql: str | None
    tags: tuple[str, ...] = ()
    unanswerable: bool = False
    error: str | None = None
    gold_error: str | None = None
    key: str = ""

    @classmethod
    def of_json(cls, line: Mapping[str, object]) -> "Record":
        """Return the record that a line holds; TypeError where it is not one of this form."""
        known = {field.name for field in fields(cls)}
        values = {name: value for name, value in line.items() if name in known}
        tags = values.get("tags", ())
        if not isinstance(tags, list | tuple):
            raise TypeError("'tags' is not a list")
        return cls(**{**values, "tags": tuple(tags)})  # type: ignore[arg-type]

    def json(self) -> Json:
        """Return the record as a JSON object."""
        return {**asdict(self), "tags": list(self.tags)}


@dataclass(frozen=True)
class Report:
    """Records in the order of the questions, and what they add up to.

    All means are over the answerable questions, failures included as 0.
    """

    records: tuple[Record, ...]

    @property
    def answerable(self) -> tuple[Record, ...]:
        """The questions that the graph holds an answer to."""
        return tuple(record for record in self.records if not record.unanswerable)

    @property
    def unanswerable(self) -> tuple[Record, ...]:
        """The questions that the graph holds no answer to."""
        return tuple(record for record in self.records if record.unanswerable)

    @property
    def refused_rightly(self) -> int:
        """How many of the unanswerable questions were refused or asked back."""
        return _count(self.unanswerable, lambda r: r.status in ("refusal", "clarification"))

    @property
    def f1(self) -> float:
        """Mean set F1 of the best column."""
        return _mean(record.f1 for record in self.answerable)

    @property
    def f1_flattened(self) -> float:
        """Mean set F1 over all columns flattened."""
        return _mean(record.f1_flattened for record in self.answerable)

    @property
    def em(self) -> float:
        """Share of exact matches."""
        return _mean(record.em for record in self.answerable)

    @property
    def top_half_f1(self) -> float:
        """Mean F1 (best column) of the half of the questions answered with most confidence."""
        return coverage_mean(self.answerable, 0.5)

    def json(self) -> Json:
        """Return the report as a JSON object; scores are shares of 1, times are seconds.

        `n` counts all questions, `answered` those of them with status `answer`.
        """
        seconds = [record.seconds for record in self.records]
        return {
            "n": len(self.records),
            "f1": round(self.f1, 6),
            "f1_flattened": round(self.f1_flattened, 6),
            "em": round(self.em, 6),
            "answered": _count(self.records, lambda record: record.status == "answer"),
            "asked_back": _count(self.records, lambda record: record.status == "clarification"),
            "refused": _count(self.records, lambda record: record.status == "refusal"),
            "answerable": len(self.answerable),
            "top_half_f1": round(self.top_half_f1, 6),
            "risk_coverage": [
                {"coverage": tenth / 10, "f1": round(coverage_mean(self.answerable, tenth / 10), 6)}
                for tenth in range(1, 11)
            ],
            "unanswerable": {"n": len(self.unanswerable), "refused": self.refused_rightly},
            "seconds": {"p50": percentile(seconds, 0.5), "p95": percentile(seconds, 0.95)},
            "by_tag": {tag: _summary(records) for tag, records in self.by_tag().items()},
            "errors": [{"id": r.id, "error": r.error} for r in self.records if r.error],
            "gold_errors": [
                {"id": r.id, "error": r.gold_error} for r in self.records if r.gold_error
            ],
        }

    def by_tag(self) -> dict[str, tuple[Record, ...]]:
        """Return the answerable questions of each tag, tags sorted."""
        tags = sorted({tag for record in self.answerable for tag in record.tags})
        return {tag: tuple(r for r in self.answerable if tag in r.tags) for tag in tags}


def coverage_mean(records: Sequence[Record], coverage: float) -> float:
    """Return the mean F1 of the most confident share of the records, at least one of them.

    Of records with equal confidence at the border, each counts in part, so that their order does
    not matter. No records give 0.
    """
    wanted = min(len(records), max(1, math.ceil(coverage * len(records) - 1e-9)))
    ranked = sorted(records, key=lambda record: -record.confidence)
    total, left = 0.0, wanted
    for _, group in groupby(ranked, key=lambda record: record.confidence):
        scores = [record.f1 for record in group]
        taken = min(left, len(scores))
        total += taken * fmean(scores)
        left -= taken
        if not left:
            break
    return min(1.0, total / wanted) if wanted else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of the values does not exceed; or 0."""
    if not values:
        return 0.0
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return fmean(listed) if listed else 0.0


def _count(records: Iterable[Record], holds: Callable[[Record], bool]) -> int:
    return sum(1 for record in records if holds(record))


def _summary(records: Sequence[Record]) -> Json:
    return {
        "n": len(records),
        "f1": round(_mean(record.f1 for record in records), 6),
        "f1_flattened": round(_mean(record.f1_flattened for record in records), 6),
        "em": round(_mean(record.em for record in records), 6),
        "answered": _count(records, lambda record: record.status == "answer"),
    }
