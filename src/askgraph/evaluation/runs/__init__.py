"""Runs: a question's task, record and detail, and the folder that keeps them as they are done.

RUN/run.json         benchmarks, methods, graphs, options: written first
RUN/records.jsonl    a `Record` a line, as soon as the question is done
RUN/traces.jsonl     a `Detail` a line, written before the record with the same key
RUN/examples/        what a method could learn from, if questions were divided for that
"""

import math
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from askgraph.errors import SetupError
from askgraph.evaluation import Score
from askgraph.evaluation.files import object_in
from askgraph.evaluation.questions import GoldQuestion
from askgraph.trace import Usage

Json = dict[str, object]

GOLD_LINKS = "[gold links]"
"""Marks a method that was told what only gold knows; see `Record.system`."""

REJECTED = ("refusal", "clarification")
"""The statuses that hold an answer back."""

NO_SCORE = Score.of(0.0)


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


@dataclass(frozen=True)
class Detail:
    """What happened to one question, for a person who wants to know why.

    `steps` are the method's, as JSON objects with a `step` that names their kind. `predicted` and
    `gold` are the heads of both results: `columns`, `rows` (at most 20, plain values), and `n`, the
    number of all rows; None if there was no result. `missing` and `extra` are rows, at most 20
    each, that only gold has, and that only the answer has.
    """

    key: str
    steps: tuple[Json, ...] = ()
    predicted: Json | None = None
    gold: Json | None = None
    missing: tuple[tuple[object, ...], ...] = ()
    extra: tuple[tuple[object, ...], ...] = ()

    def json(self) -> Json:
        """Return the line."""
        return {
            "key": self.key,
            "steps": list(self.steps),
            "predicted": self.predicted,
            "gold": self.gold,
            "missing": [list(row) for row in self.missing],
            "extra": [list(row) for row in self.extra],
        }

    @classmethod
    def of_json(cls, line: Mapping[str, object]) -> "Detail":
        """Return the detail that a line holds; TypeError if it is not one."""
        values = {name: line.get(name) for name in ("key", "predicted", "gold")}
        missing, extra = (tuple(map(tuple, _list(line, name))) for name in ("missing", "extra"))
        return cls(**values, steps=tuple(_list(line, "steps")), missing=missing, extra=extra)  # type: ignore[arg-type]


def record_key(benchmark: str, identity: str, method: str, repeat: int) -> str:
    """Return what tells a question of a run apart: benchmark, id, method and repetition."""
    return "\t".join((benchmark, identity, method, str(repeat)))


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"expected a number, not {value!r}")
    return value


def _list(line: Mapping[str, object], name: str) -> list[Any]:
    value = line.get(name) or []
    if not isinstance(value, list):
        raise TypeError(f"{name!r} must be a list")
    return value


@dataclass(frozen=True)
class Options:
    """How questions are asked and scored; part of what a record stands for.

    `timeout` is in seconds an attempt, `gold_timeout` in seconds a gold query. `retries` is how
    often a question is asked again after its method or endpoint failed. With `abstain` only what
    was given as an answer counts, else the best attempt does. With `stored_gold` gold is what the
    question holds, and no gold query is run. `drafts` is how many of the method's candidates are
    scored too. `language` is that of questions that do not say theirs.
    """

    timeout: float | None = None
    gold_timeout: float = 60.0
    retries: int = 0
    abstain: bool = False
    stored_gold: bool = False
    drafts: int = 0
    language: str | None = None


@dataclass(frozen=True)
class Task:
    """One question for one method.

    `graph` is what a workspace finds the graph by; `method` the label of the method in this run;
    `examples` a file of questions with queries that the method may learn from; `repeat` counts
    from 0. With `gold_links` the method is told which entities and relations the gold query has.
    `snapshot` is the state of the graph that the run was planned with. `fingerprint` stands
    for question, gold, method, graph and options.
    """

    question: GoldQuestion
    benchmark: str
    graph: str | Path
    method: str
    repeat: int = 0
    examples: Path | None = None
    gold_links: bool = False
    prefixes: tuple[tuple[str, str], ...] = ()
    options: Options = field(default_factory=Options)
    snapshot: str = ""
    fingerprint: str = ""

    @property
    def key(self) -> str:
        """The key of the record that this task gives."""
        return record_key(self.benchmark, self.question.id, self.method, self.repeat)


@dataclass(frozen=True)
class Done:
    """What came of a task."""

    record: Record
    detail: Detail


Worker = Callable[[Task], Awaitable[Done]]
"""Does one task; raises only what the operator has to mend."""

SETTINGS, RECORDS, TRACES = "run.json", "records.jsonl", "traces.jsonl"
EXAMPLES = "examples"


@dataclass(frozen=True)
class Run:
    """A run that was read. `settings` is `run.json`; `records` are in the order of the questions.

    `settings` has `askgraph` (version), `created`, `planned` (how many records there will be),
    `benchmarks` (each with `name`, `format`, `path`, `sha256`, `questions`, `unreadable`),
    `methods` (`name`, `settings`), `graphs` (`name`, `snapshot`) and `options`.
    """

    name: str
    records: tuple[Record, ...]
    settings: Mapping[str, object] = field(default_factory=dict)
    folder: Path | None = None

    @property
    def planned(self) -> int:
        """How many records the run has when it is complete."""
        planned = self.settings.get("planned")
        return planned if isinstance(planned, int) else len(self.records)

    @property
    def complete(self) -> bool:
        """Whether every question was asked."""
        return len(self.records) >= self.planned

    def details(self) -> Iterator[Detail]:
        """Read the traces, in file order; of two with one key the later counts. None is kept."""
        if self.folder is not None and (self.folder / TRACES).is_file():
            for line in _lines(self.folder / TRACES):
                try:
                    yield Detail.of_json(line)
                except TypeError as error:
                    raise SetupError(
                        f"{self.folder / TRACES} holds no traces of a run: {error}"
                    ) from error


def read_run(folder: Path) -> Run:
    """Read a run from its folder, however far it came; `SetupError` if it is none."""
    settings = read_settings(folder)
    records: dict[str, Record] = {}
    for line in _lines(folder / RECORDS) if (folder / RECORDS).is_file() else ():
        try:
            record = Record.of_json(line)
        except TypeError as error:
            raise SetupError(f"{folder / RECORDS} holds no records of a run: {error}") from error
        records[record.key] = record
    return Run(folder.name, tuple(records.values()), settings, folder)


def read_settings(folder: Path) -> Mapping[str, object]:
    """Read what a run is, from its folder; `SetupError` if it is none."""
    try:
        text = (folder / SETTINGS).read_text(encoding="utf-8")
    except OSError as error:
        raise SetupError(
            f"{folder} is no run of askgraph evaluate: cannot read {SETTINGS}: {error.strerror}. "
            f"Make one with: askgraph evaluate BENCHMARK --out {folder}"
        ) from error
    return object_in(text, str(folder / SETTINGS))


def _lines(path: Path) -> Iterator[Mapping[str, object]]:
    """Yield the whole lines of a file; a last one without its end is still being written."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            yield object_in(line, f"{path}, line {number}")
