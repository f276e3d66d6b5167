"""A line of a run: how one question went."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields

from askgraph.evaluation import Score
from askgraph.trace import Usage

__all__ = ["GOLD_LINKS", "REJECTED", "Record", "record_key"]

Json = dict[str, object]

GOLD_LINKS = "[gold links]"
"""Marks a method that was told what only gold knows; see `Record.system`."""

REJECTED = ("refusal", "clarification")
"""The statuses that hold an answer back."""

NO_SCORE = Score(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Record:
    """How one question went with one method.

    `status` is `answer`, `clarification`, `refusal` or `error`; `confidence` is the best attempt's.
    `scores` has the score of each metric by name; for an unanswerable question all are 1 if it
    was refused or asked back. `seconds` and `usage` are summed over all `attempts`. `executed` says
    whether the answer's query ran. `drafts` are the F1 (best column) that the method's candidates
    would have given, best candidate first, if that was asked for. `form` and `patterns` are the
    gold query's. `error` and `gold_error` say what failed; both score 0, unless there is stored
    gold. `gold_links` says that the method was told the entities and relations of the gold query,
    so that its scores compare with no other's. `failure` is the class of what went wrong, None
    if nothing did. `rows` is how many rows the answer's query gave, None if it is not known.
    `fingerprint` stands for question, gold and settings together.
    """

    id: str
    question: str
    status: str
    confidence: float
    scores: Mapping[str, Score]
    seconds: float
    sparql: str | None
    gold_sparql: str | None
    benchmark: str = ""
    graph: str = ""
    method: str = ""
    repeat: int = 0
    language: str | None = None
    tags: tuple[str, ...] = ()
    form: str | None = None
    patterns: int | None = None
    unanswerable: bool = False
    executed: bool = False
    rows: int | None = None
    drafts: tuple[float, ...] = ()
    attempts: int = 1
    gold_links: bool = False
    usage: Usage = field(default_factory=Usage)
    failure: str | None = None
    error: str | None = None
    gold_error: str | None = None
    fingerprint: str = ""

    @property
    def key(self) -> str:
        """What tells this line apart from all others of its run."""
        return record_key(self.benchmark, self.id, self.method, self.repeat)

    @property
    def system(self) -> str:
        """The method as reports name it: marked if it was told gold's links."""
        return f"{self.method} {GOLD_LINKS}" if self.gold_links else self.method

    def score(self, metric: str) -> Score:
        """Return the score of one metric; 0 if it was not computed."""
        return self.scores.get(metric, NO_SCORE)

    @property
    def f1(self) -> float:
        """Set F1 of the best column."""
        return self.score("best_column").f1

    @property
    def f1_flattened(self) -> float:
        """Set F1 over all columns flattened."""
        return self.score("flattened").f1

    @property
    def em(self) -> float:
        """1 for an exact match, else 0."""
        return self.score("exact_match").f1

    @classmethod
    def of_json(cls, line: Mapping[str, object]) -> "Record":
        """Return the record that a line holds; TypeError if it is not one of this form.

        What a later version may have added is passed over.
        """
        values = {field.name: line[field.name] for field in fields(cls) if field.name in line}
        scores, tags, drafts = values.get("scores"), values.get("tags", ()), values.get("drafts")
        usage = values.get("usage") or {}
        if not isinstance(scores, Mapping) or not isinstance(usage, Mapping):
            raise TypeError("'scores' and 'usage' must be objects")
        if not isinstance(tags, list | tuple) or not isinstance(drafts, list | tuple | None):
            raise TypeError("'tags' and 'drafts' must be lists")
        for name in ("id", "question", "status"):
            if not isinstance(values.get(name), str):
                raise TypeError(f"{name!r} must be text")
        costs = {part.name: usage[part.name] for part in fields(Usage) if part.name in usage}
        values["scores"] = {name: Score(*map(_number, three)) for name, three in scores.items()}
        values["usage"] = Usage(**{name: _number(cost) for name, cost in costs.items()})  # type: ignore[arg-type]
        values |= {"tags": tuple(tags), "drafts": tuple(map(_number, drafts or ()))}
        values |= {name: _number(values.get(name)) for name in ("confidence", "seconds")}
        return cls(**values)  # type: ignore[arg-type]

    def json(self) -> Json:
        """Return the record as JSON, with its `key`; a score is [precision, recall, F1]."""
        scores = {
            name: [score.precision, score.recall, score.f1] for name, score in self.scores.items()
        }
        lists = {"tags": list(self.tags), "drafts": list(self.drafts)}
        return {"key": self.key, **asdict(self), "scores": scores, **lists}


def record_key(benchmark: str, identity: str, method: str, repeat: int) -> str:
    """Return what tells a question of a run apart: benchmark, id, method and repetition."""
    return "\t".join((benchmark, identity, method, str(repeat)))


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"expected a number, not {value!r}")
    return value
