"""Runs: tasks, records and details of questions, and the folder that stores them.

RUN/run.json         benchmarks, methods, graphs, options: written first
RUN/records.jsonl    one `Record` per line, written as soon as the question is done
RUN/traces.jsonl     one `QuestionDetail` per line, written before the record with the same key
RUN/examples/        training questions for methods, if the questions were split
"""

import math
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from askgraph.errors import SetupError
from askgraph.evaluation import Score
from askgraph.evaluation.files import parse_object
from askgraph.evaluation.questions import GoldQuestion
from askgraph.trace import Usage

Json = dict[str, object]

GOLD_LINKS_MARK = "[gold links]"
"""Marks a method that was given the links of gold; see `Record.system`."""

REJECTED_STATUSES = ("refusal", "clarification")
"""The statuses that withhold an answer."""

ZERO_SCORE = Score.from_value(0.0)


@dataclass(frozen=True)
class Record:
    """The outcome of one question with one method.

    Attributes:
        scores: Scores by metric. For an unanswerable question all are 1 if it was refused or asked
            back. A failure scores 0, unless gold failed and a gold answer is stored.
    """

    id: str
    question: str
    status: str  # `answer`, `clarification`, `refusal` or `error`
    confidence: float  # confidence of the best attempt, 0 to 1
    scores: Mapping[str, Score]
    seconds: float  # seconds over all attempts
    sparql: str | None  # query of the best attempt
    gold_sparql: str | None
    benchmark: str = ""
    graph: str = ""
    method: str = ""
    repeat: int = 0  # number of the repetition, from 0
    language: str | None = None
    tags: tuple[str, ...] = ()
    form: str | None = None  # form of the gold query (`SELECT`, `ASK`, …)
    patterns: int | None = None  # number of triple patterns in the gold query
    unanswerable: bool = False  # whether the graph holds no answer
    executed: bool = False  # whether the answer's query ran
    rows: int | None = None  # rows of the answer's query; None if unknown
    drafts: tuple[float, ...] = ()  # F1 (best column) of candidates, best first, if requested
    attempts: int = 1  # number of attempts
    gold_links: bool = False  # whether gold's terms were given; compare with no other run
    usage: Usage = field(default_factory=Usage)  # cost over all attempts
    failure: str | None = None  # class of the failure, or None
    error: str | None = None  # error of the method or of the answer's query
    gold_error: str | None = None  # error of the gold query
    fingerprint: str = ""  # hash of question, gold and settings

    @property
    def key(self) -> str:
        """Identifies this record within its run."""
        return build_record_key(self.benchmark, self.id, self.method, self.repeat)

    @property
    def system(self) -> str:
        """Name of the method in reports, marked if it was given gold's links."""
        return f"{self.method} {GOLD_LINKS_MARK}" if self.gold_links else self.method

    def get_score(self, metric: str) -> Score:
        """Return the score of one metric; 0 if it was not computed."""
        return self.scores.get(metric, ZERO_SCORE)

    @property
    def f1(self) -> float:
        """Set F1 of the best column."""
        return self.get_score("best_column").f1

    @property
    def f1_flattened(self) -> float:
        """Set F1 over all columns flattened."""
        return self.get_score("flattened").f1

    @property
    def em(self) -> float:
        """1 for an exact match, else 0."""
        return self.get_score("exact_match").f1

    @classmethod
    def from_json(cls, line: Mapping[str, object]) -> "Record":
        """Build a record from a JSON object without unknown fields; raise `TypeError` if wrong."""
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
        costs = {item.name: usage[item.name] for item in fields(Usage) if item.name in usage}
        values["scores"] = {
            name: Score(*map(_check_number, numbers)) for name, numbers in scores.items()
        }
        values["usage"] = Usage(**{name: _check_number(cost) for name, cost in costs.items()})  # type: ignore[arg-type]
        values |= {"tags": tuple(tags), "drafts": tuple(map(_check_number, drafts or ()))}
        values |= {name: _check_number(values.get(name)) for name in ("confidence", "seconds")}
        return cls(**values)  # type: ignore[arg-type]

    def to_json(self) -> Json:
        """Return the record as JSON, with its `key`; a score is [precision, recall, F1]."""
        scores = {
            name: [score.precision, score.recall, score.f1] for name, score in self.scores.items()
        }
        list_fields = {"tags": list(self.tags), "drafts": list(self.drafts)}
        return {"key": self.key, **asdict(self), "scores": scores, **list_fields}


@dataclass(frozen=True)
class QuestionDetail:
    """The trace and results of one question, to find out why it failed.

    Attributes:
        predicted: Head of the predicted result: `columns`, `rows` (at most 20, plain values) and
            `n`, the number of all rows; None without a result.
    """

    key: str
    steps: tuple[Json, ...] = ()  # steps of the method as JSON objects; `step` names their kind
    predicted: Json | None = None
    gold: Json | None = None  # head of the gold result, likewise
    missing: tuple[tuple[object, ...], ...] = ()  # at most 20 rows that only gold has
    extra: tuple[tuple[object, ...], ...] = ()  # at most 20 rows that only the answer has

    def to_json(self) -> Json:
        """Return the detail as a JSON object."""
        lists = {"steps": list(self.steps)}
        rows = {name: [list(row) for row in getattr(self, name)] for name in ("missing", "extra")}
        return {**vars(self), **lists, **rows}

    @classmethod
    def from_json(cls, line: Mapping[str, object]) -> "QuestionDetail":
        """Build a detail from the JSON object of a line; raise `TypeError` if it is none."""
        values = {name: line.get(name) for name in ("key", "predicted", "gold")}
        missing, extra = (tuple(map(tuple, _get_list(line, name))) for name in ("missing", "extra"))
        return cls(**values, steps=tuple(_get_list(line, "steps")), missing=missing, extra=extra)  # type: ignore[arg-type]


def build_record_key(benchmark: str, identity: str, method: str, repeat: int) -> str:
    """Return the key of a question in a run: benchmark, id, method and repetition."""
    return "\t".join((benchmark, identity, method, str(repeat)))


def _check_number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"expected a number, not {value!r}")
    return value


def _get_list(line: Mapping[str, object], name: str) -> list[Any]:
    value = line.get(name) or []
    if not isinstance(value, list):
        raise TypeError(f"{name!r} must be a list")
    return value


@dataclass(frozen=True)
class EvaluationOptions:
    """Options of asking and scoring; part of a record's fingerprint."""

    timeout: float | None = None  # limit in seconds per attempt
    gold_timeout: float = 60.0  # limit in seconds per gold query
    retries: int = 0  # repeated attempts after the method or endpoint failed
    abstain: bool = False  # score given answers only; otherwise the best attempt counts
    stored_gold: bool = False  # use stored gold answers and run no gold queries
    drafts: int = 0  # number of candidates of the method to score too
    language: str | None = None  # language code of questions without one


@dataclass(frozen=True)
class Task:
    """One question for one method."""

    question: GoldQuestion
    benchmark: str
    graph: str | Path  # name or path by which a workspace finds the graph
    method: str
    repeat: int = 0  # number of the repetition, from 0
    examples: Path | None = None  # file of questions with queries that the method may learn from
    gold_links: bool = False  # whether the method is given the terms of the gold query
    prefixes: tuple[tuple[str, str], ...] = ()  # that queries may leave undeclared
    options: EvaluationOptions = field(default_factory=EvaluationOptions)
    snapshot: str = ""  # state of the graph when the run was planned
    fingerprint: str = ""  # hash of question, gold, method, graph and options

    @property
    def key(self) -> str:
        """Key of the record of this task."""
        return build_record_key(self.benchmark, self.question.id, self.method, self.repeat)


@dataclass(frozen=True)
class Done:
    """The result of a task: its record and detail."""

    record: Record
    detail: QuestionDetail


Worker = Callable[[Task], Awaitable[Done]]
"""Does one task; raises only errors that the operator must fix."""

SETTINGS_FILE, RECORDS_FILE, TRACES_FILE = "run.json", "records.jsonl", "traces.jsonl"
EXAMPLES_FOLDER = "examples"


@dataclass(frozen=True)
class EvaluationRun:
    """A run read from its folder.

    Attributes:
        settings: Content of `run.json`: `askgraph` (version), `created`, `planned` (number of
            records of the complete run), `benchmarks` (each with `name`, `format`, `path`,
            `sha256`, `questions`, `unreadable`), `methods` (`name`, `settings`), `graphs`
            (`name`, `snapshot`) and `options`.
    """

    name: str
    records: tuple[Record, ...]  # records in the order of the questions
    settings: Mapping[str, object] = field(default_factory=dict)
    folder: Path | None = None  # folder of the run; None for a run in memory

    @property
    def planned_count(self) -> int:
        """Number of records of the complete run."""
        count = self.settings.get("planned")
        return count if isinstance(count, int) else len(self.records)

    @property
    def is_complete(self) -> bool:
        """Whether every question was asked."""
        return len(self.records) >= self.planned_count

    def iterate_details(self) -> Iterator[QuestionDetail]:
        """Read the traces lazily, in file order; the later of two traces with one key counts."""
        if self.folder is not None and (self.folder / TRACES_FILE).is_file():
            for line in _iterate_complete_lines(self.folder / TRACES_FILE):
                try:
                    yield QuestionDetail.from_json(line)
                except TypeError as error:
                    raise SetupError(
                        f"{self.folder / TRACES_FILE} contains no traces of a run: {error}"
                    ) from error


def read_run(folder: Path) -> EvaluationRun:
    """Read a run, complete or not, from its folder; raise `SetupError` if it holds none."""
    settings = read_settings(folder)
    records: dict[str, Record] = {}
    for line in (
        _iterate_complete_lines(folder / RECORDS_FILE) if (folder / RECORDS_FILE).is_file() else ()
    ):
        try:
            record = Record.from_json(line)
        except TypeError as error:
            raise SetupError(
                f"{folder / RECORDS_FILE} contains no records of a run: {error}"
            ) from error
        records[record.key] = record
    return EvaluationRun(folder.name, tuple(records.values()), settings, folder)


def read_settings(folder: Path) -> Mapping[str, object]:
    """Read the settings of a run from its folder; raise `SetupError` if it holds no run."""
    try:
        text = (folder / SETTINGS_FILE).read_text(encoding="utf-8")
    except OSError as error:
        raise SetupError(
            f"{folder} is not a run of askgraph evaluate: cannot read {SETTINGS_FILE}: "
            f"{error.strerror}. Create one with: askgraph evaluate BENCHMARK --out {folder}"
        ) from error
    return parse_object(text, str(folder / SETTINGS_FILE))


def _iterate_complete_lines(path: Path) -> Iterator[Mapping[str, object]]:
    """Yield the complete lines of a file; skip a last line that is still being written."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            yield parse_object(line, f"{path}, line {number}")
