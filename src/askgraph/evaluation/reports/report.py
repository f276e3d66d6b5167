"""Report on the records of one method, and the groups of several runs, as figures."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from statistics import fmean, stdev

from askgraph.errors import SetupError
from askgraph.evaluation.reports.confidence import (
    RISKS,
    Pairs,
    aurc,
    coverage_at,
    excess_aurc,
    mean_at,
)
from askgraph.evaluation.reports.failures import (
    calibration_of,
    drafts_oracle,
    executable_of,
    failure_class,
    failure_counts,
    has_failed,
    rejection_of,
    usage_of,
)
from askgraph.evaluation.reports.sheet import Cell, Column
from askgraph.evaluation.reports.statistics import Interval, bootstrap_interval
from askgraph.evaluation.runs import REJECTED, Record, Run

Json = dict[str, object]

MAIN = "best_column"
"""The metric that figures are of if no other is asked for."""

SLICES: Mapping[str, Callable[[Record, str], Iterable[str]]] = {
    "tag": lambda record, _: record.tags,
    "patterns": lambda record, _: ["-" if record.patterns is None else str(record.patterns)],
    "form": lambda record, _: [record.form or "-"],
    "graph": lambda record, _: [record.graph or "-"],
    "failure": lambda record, metric: [failure_class(record, metric) or "none"],
}
"""What records are put together by, and how to name if a record belongs, by main metric."""


@dataclass(frozen=True)
class Report:
    """Records, and what they add up to; `metric` is the main one.

    All means are over the answerable questions, failures included as 0. A question that was asked
    several times counts once, with the mean of its repetitions. The order of the records does not
    matter.
    """

    records: tuple[Record, ...]
    metric: str = MAIN

    @cached_property
    def answerable(self) -> tuple[Record, ...]:
        """The records of questions that the graph holds an answer to."""
        return tuple(record for record in self.records if not record.unanswerable)

    @cached_property
    def unanswerable(self) -> tuple[Record, ...]:
        """The records of questions that the graph holds no answer to."""
        return tuple(record for record in self.records if record.unanswerable)

    @property
    def refused_rightly(self) -> int:
        """How many of the unanswerable questions were refused or asked back."""
        return sum(record.status in REJECTED for record in self.unanswerable)

    @property
    def f1(self) -> float:
        """Mean set F1 of the best column."""
        return self.mean("best_column")

    @property
    def f1_flattened(self) -> float:
        """Mean set F1 over all columns flattened."""
        return self.mean("flattened")

    @property
    def em(self) -> float:
        """Share of exact matches."""
        return self.mean("exact_match")

    @property
    def top_half_f1(self) -> float:
        """Mean F1 (main metric) of the half of the questions answered with most confidence."""
        return mean_at(self.pairs, 0.5)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The main metric, then all others that every answerable record has, sorted."""
        scored = [set(record.scores) for record in self.answerable or self.records]
        names = set.intersection(*scored) if scored else set()
        return (self.metric, *sorted(names - {self.metric}))

    @property
    def rounds(self) -> tuple[int, ...]:
        """The numbers of the repetitions that there are, sorted."""
        return tuple(sorted({record.repeat for record in self.records}))

    @cached_property
    def pairs(self) -> Pairs:
        """Confidence and score of each answerable record, for risk and coverage."""
        return [(r.confidence, r.score(self.metric).f1) for r in self.answerable]

    def per_question(self, metric: str | None = None, part: str = "f1") -> dict[str, float]:
        """Return the score of each answerable question, repetitions averaged, sorted by question.

        `part` is `precision`, `recall` or `f1`. The key is benchmark and id, a tab between them.
        """
        found: dict[str, list[float]] = {}
        for record in self.answerable:
            score = record.score(metric or self.metric)
            found.setdefault(f"{record.benchmark}\t{record.id}", []).append(getattr(score, part))
        return {key: fmean(found[key]) for key in sorted(found)}

    def mean(self, metric: str | None = None, part: str = "f1") -> float:
        """Return the mean of a score over the answerable questions; 0 if there are none."""
        scores = self.per_question(metric, part).values()
        return fmean(scores) if scores else 0.0

    def interval(self, metric: str | None = None) -> Interval:
        """Return the mean F1 of a metric with its 95 % bootstrap interval over questions."""
        return bootstrap_interval(list(self.per_question(metric).values()))

    def deviation(self, metric: str | None = None) -> float | None:
        """Return the standard deviation of the mean over repetitions; None of a single one."""
        if len(self.rounds) < 2:
            return None
        parts = (tuple(r for r in self.records if r.repeat == at) for at in self.rounds)
        return stdev(Report(part, self.metric).mean(metric) for part in parts)

    def by(self, slicing: str) -> dict[str, "Report"]:
        """Return a report on the answerable questions of each value, values sorted.

        `slicing` is one of `SLICES`; what a record does not tell is put together under `-`.
        """
        found: dict[str, list[Record]] = {}
        for record in self.answerable:
            for name in dict.fromkeys(SLICES[slicing](record, self.metric)):
                found.setdefault(name, []).append(record)
        return {
            name: Report(tuple(found[name]), self.metric) for name in sorted(found, key=slice_place)
        }

    def json(self, *, times: bool = True) -> Json:
        """Return the report as a JSON object; scores are shares of 1, times are seconds.

        `n` counts all records, `answered` those of them with status `answer`. Without `times`
        nothing in it depends on the clock.
        """
        ordered = sorted(self.records, key=lambda record: record.key)
        seconds = [record.seconds for record in self.records]
        clock = {"seconds": {"p50": percentile(seconds, 0.5), "p95": percentile(seconds, 0.95)}}
        usage = asdict(usage_of(self.records))
        found = {
            "n": len(self.records),
            "f1": self.f1,
            "f1_flattened": self.f1_flattened,
            "em": self.em,
            "metric": self.metric,
            "scores": {name: self._score(name) for name in self.metrics},
            "repetitions": len(self.rounds),
            "answered": _with_status(self.records, "answer"),
            "asked_back": _with_status(self.records, "clarification"),
            "refused": _with_status(self.records, "refusal"),
            "failed": sum(map(has_failed, self.records)),
            "answerable": len(self.answerable),
            **self._confidence(),
            "unanswerable": {"n": len(self.unanswerable), "refused": self.refused_rightly},
            "executable": asdict(executable_of(self.records)),
            "failures": failure_counts(self.records, self.metric),
            **{f"by_{name}": self._slices(name) for name in SLICES},
            "oracle_drafts": {str(k): best for k, best in drafts_oracle(self.records).items()},
            "cost": {
                **{name: cost for name, cost in usage.items() if times or name != "seconds"},
                "attempts": sum(record.attempts for record in self.records),
            },
            "errors": [{"id": r.id, "error": r.error} for r in ordered if r.error],
            "gold_errors": [{"id": r.id, "error": r.gold_error} for r in ordered if r.gold_error],
        }
        return {name: _plain(value) for name, value in found.items()} | (clock if times else {})

    def _score(self, metric: str) -> Json:
        deviation = self.deviation(metric)
        return {
            "precision": self.mean(metric, "precision"),
            "recall": self.mean(metric, "recall"),
            **_interval_json(self.interval(metric), "f1"),
            **({} if deviation is None else {"sd_over_repetitions": deviation}),
        }

    def _confidence(self) -> Json:
        tenths = [tenth / 10 for tenth in range(1, 11)]
        rejected = rejection_of(self.records, self.metric)
        return {
            "top_half_f1": self.top_half_f1,
            "risk_coverage": [
                {"coverage": share, "f1": mean_at(self.pairs, share)} for share in tenths
            ],
            "aurc": aurc(self.pairs),
            "excess_aurc": excess_aurc(self.pairs),
            "coverage_at_risk": [
                {"risk": risk, "coverage": coverage_at(self.pairs, risk)} for risk in RISKS
            ],
            "calibration": asdict(calibration_of(self.records, self.metric)),
            "rejection": {**asdict(rejected), "caught": rejected.caught, "lost": rejected.lost},
        }

    def _slices(self, slicing: str) -> Json:
        return {
            name: {
                "n": len(report.records),
                "f1": report.f1,
                "f1_flattened": report.f1_flattened,
                "em": report.em,
                **_interval_json(report.interval(), "score"),
                "answered": _with_status(report.records, "answer"),
            }
            for name, report in self.by(slicing).items()
        }


def bare_query(query: str) -> str:
    """Return a query without its PREFIX lines."""
    return re.sub(r"(?im)^\s*PREFIX\s+\S*\s*<[^>]*>\s*", "", query).strip()


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of the values does not exceed; or 0."""
    if not values:
        return 0.0
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def slice_place(name: str) -> tuple[bool, int, str]:
    """Return where a slice stands among others: numbers by value, before names."""
    is_number = name.isdecimal()
    return not is_number, int(name) if is_number else 0, name


def _with_status(records: Iterable[Record], status: str) -> int:
    return sum(record.status == status for record in records)


def _interval_json(interval: Interval, name: str) -> Json:
    """An interval as JSON has it, its mean under a name."""
    return {name: interval.mean, "low": interval.low, "high": interval.high}


def _plain(value: object) -> object:
    """Return a value as JSON has it, numbers with six digits behind the point."""
    match value:
        case float():
            return round(value, 6)
        case tuple() | list():
            return [_plain(item) for item in value]
        case dict():
            return {name: _plain(item) for name, item in value.items()}
        case _:
            return value


@dataclass(frozen=True)
class Group:
    """What one method did on one benchmark in one run."""

    run: str
    benchmark: str
    method: str
    report: Report


@dataclass(frozen=True)
class MethodsOracle:
    """The mean of the best of several methods on each question: an oracle, not a system.

    It is over the `n` questions of a benchmark that all of them were asked; `best_single` is the
    mean of the best of them on the same questions, `methods` says whose answers could be chosen.
    """

    benchmark: str
    methods: tuple[str, ...]
    n: int
    mean: Interval
    best_single: float


def groups_of(runs: Sequence[Run], *, metric: str = MAIN) -> tuple[Group, ...]:
    """Return a group for each run, benchmark and method, in this order, each sorted by name.

    Raises `SetupError` if a record has no score of the metric.
    """
    for run in runs:
        _check_metric(run, metric)
    return tuple(
        Group(run.name, benchmark, method, Report(records, metric))
        for run in runs
        for (benchmark, method), records in sorted(_parts(run).items())
    )


def incomplete(runs: Sequence[Run]) -> tuple[str, ...]:
    """Report how far each run came that was not finished."""
    return tuple(
        f"INCOMPLETE: {run.name} holds {len(run.records)} of {run.planned} records; "
        "its figures are of these only"
        for run in runs
        if not run.complete
    )


def methods_oracles(groups: Sequence[Group]) -> tuple[MethodsOracle, ...]:
    """Return an oracle over the methods of each benchmark that several were asked.

    A question counts as the same if its id and its gold query are.
    """
    names = sorted({group.benchmark for group in groups})
    several = {name: [group for group in groups if group.benchmark == name] for name in names}
    found = (_oracle(name, same) for name, same in several.items() if len(same) > 1)
    return tuple(oracle for oracle in found if oracle is not None)


def _check_metric(run: Run, metric: str) -> None:
    lacking = sum(metric not in record.scores for record in run.records)
    if lacking:
        scored = set.intersection(*(set(record.scores) for record in run.records))
        raise SetupError(
            f"{lacking} of {len(run.records)} records of {run.name} have no score of the metric "
            f"{metric!r}; all have {', '.join(sorted(scored)) or 'none'}"
        )


def _parts(run: Run) -> dict[tuple[str, str], tuple[Record, ...]]:
    found: dict[tuple[str, str], list[Record]] = {}
    for record in run.records:
        found.setdefault((record.benchmark, record.system), []).append(record)
    return {key: tuple(records) for key, records in found.items()}


def _oracle(benchmark: str, groups: Sequence[Group]) -> MethodsOracle | None:
    scores = [_by_gold(group.report) for group in groups]
    common = sorted(set.intersection(*(set(found) for found in scores)), key=str)
    if not common:
        return None
    best = [max(found[key] for found in scores) for key in common]
    return MethodsOracle(
        benchmark=benchmark,
        methods=_labels(groups),
        n=len(common),
        mean=bootstrap_interval(best),
        best_single=max(fmean(found[key] for key in common) for found in scores),
    )


def _by_gold(report: Report) -> Mapping[tuple[str, str | None], float]:
    """Return the score of each question, by what it is and what gold says of it."""
    gold = {f"{r.benchmark}\t{r.id}": r.gold_sparql for r in report.answerable}
    return {(key, gold[key]): score for key, score in report.per_question().items()}


def _labels(groups: Sequence[Group]) -> tuple[str, ...]:
    several = len({group.run for group in groups}) > 1
    return tuple(f"{g.run}:{g.method}" if several else g.method for g in groups)


Row = tuple[Cell, ...]

LABEL = (Column("run", context=True), Column("benchmark", context=True), Column("method"))
ENDS = (Column("low", "share"), Column("high", "share"))
ANSWERED = (Column("answered", "count"), Column("failed", "count"))


def system_of(run: str, method: str, *, several: bool) -> str:
    """Return the name of a method on the page; if there are several runs, its run before it."""
    return f"{run}:{method}" if several else method or "method"


def label(group: Group) -> Row:
    """Return the cells under `LABEL`."""
    return group.run, group.benchmark, group.method


def answered(report: Report) -> Row:
    """Return how many answerable records were answered, and on how many something failed."""
    return _with_status(report.answerable, "answer"), sum(map(has_failed, report.answerable))


def mean_and_ends(report: Report, metric: str | None = None) -> Row:
    """Return the mean of a metric and the ends of its interval; unknown of no question."""
    if not report.answerable:
        return None, None, None
    interval = report.interval(metric)
    return interval.mean, interval.low, interval.high


def report_json(runs: Sequence[Run], *, metric: str = MAIN, times: bool = True) -> Json:
    """Return all figures as a JSON object; without `times` nothing in it depends on the clock."""
    groups = groups_of(runs, metric=metric)
    return {
        "runs": [_run_json(run, times=times) for run in runs],
        "groups": [
            {
                "run": group.run,
                "benchmark": group.benchmark,
                "method": group.method,
                **group.report.json(times=times),
            }
            for group in groups
        ],
        "oracle_methods": [
            _plain(
                {
                    "benchmark": oracle.benchmark,
                    "methods": oracle.methods,
                    "n": oracle.n,
                    **_interval_json(oracle.mean, "score"),
                    "best_single": oracle.best_single,
                }
            )
            for oracle in methods_oracles(groups)
        ],
    }


def _run_json(run: Run, *, times: bool) -> Json:
    settings = {key: run.settings[key] for key in sorted(run.settings)}
    if not times:
        settings.pop("created", None)
    state = {"planned": run.planned, "records": len(run.records), "complete": run.complete}
    return {"name": run.name, **state, "settings": settings}
