"""Reports on the records of one method, and the groups of several runs, as figures."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import groupby
from statistics import fmean, stdev

from askgraph.errors import SetupError
from askgraph.evaluation.reports import Interval, compute_bootstrap_interval, confidence, failures
from askgraph.evaluation.reports.sheet import Cell, SheetColumn
from askgraph.evaluation.runs import REJECTED_STATUSES, EvaluationRun, Record

Json = dict[str, object]

DEFAULT_METRIC = "best_column"
"""The metric of figures by default."""

SLICES: Mapping[str, Callable[[Record, str], Iterable[str]]] = {
    "tag": lambda record, _: record.tags,
    "patterns": lambda record, _: ["-" if record.patterns is None else str(record.patterns)],
    "form": lambda record, _: [record.form or "-"],
    "graph": lambda record, _: [record.graph or "-"],
    "failure": lambda record, metric: [failures.get_failure_class(record, metric) or "none"],
}
"""Functions by slicing that return the slices of a record, given the main metric."""


@dataclass(frozen=True)
class Report:
    """Records and their statistics; `metric` is the main one.

    All means are over the answerable questions, with failures as 0. A question that was asked
    several times counts once, with the mean of its repetitions. The order of the records does not
    matter.
    """

    records: tuple[Record, ...]
    metric: str = DEFAULT_METRIC

    @cached_property
    def answerable(self) -> tuple[Record, ...]:
        """The records of answerable questions."""
        return tuple(record for record in self.records if not record.unanswerable)

    @cached_property
    def unanswerable(self) -> tuple[Record, ...]:
        """The records of questions that the graph holds no answer to."""
        return tuple(record for record in self.records if record.unanswerable)

    @property
    def correct_refusal_count(self) -> int:
        """Number of unanswerable questions that were refused or asked back."""
        return sum(record.status in REJECTED_STATUSES for record in self.unanswerable)

    @property
    def f1(self) -> float:
        """Mean set F1 of the best column."""
        return self.compute_mean("best_column")

    @property
    def f1_flattened(self) -> float:
        """Mean set F1 over all columns flattened."""
        return self.compute_mean("flattened")

    @property
    def em(self) -> float:
        """Share of exact matches."""
        return self.compute_mean("exact_match")

    @property
    def top_half_f1(self) -> float:
        """Mean F1 (main metric) of the most confident half of the answers."""
        return confidence.compute_mean_at_coverage(self.pairs, 0.5)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The main metric, then all others that every answerable record has, sorted."""
        scored = [set(record.scores) for record in self.answerable or self.records]
        names = set.intersection(*scored) if scored else set()
        return (self.metric, *sorted(names - {self.metric}))

    @property
    def rounds(self) -> tuple[int, ...]:
        """The numbers of the repetitions, sorted."""
        return tuple(sorted({record.repeat for record in self.records}))

    @cached_property
    def pairs(self) -> confidence.Pairs:
        """Confidence and score of each answerable record, for risk and coverage."""
        return [(r.confidence, r.get_score(self.metric).f1) for r in self.answerable]

    def score_by_question(self, metric: str | None = None, field: str = "f1") -> dict[str, float]:
        """Return the score of each answerable question, repetitions averaged, sorted by question.

        `field` is `precision`, `recall` or `f1`. The key is benchmark and id, a tab between them.
        """
        scores: dict[str, list[float]] = {}
        for record in self.answerable:
            score = record.get_score(metric or self.metric)
            scores.setdefault(f"{record.benchmark}\t{record.id}", []).append(getattr(score, field))
        return {key: fmean(scores[key]) for key in sorted(scores)}

    def compute_mean(self, metric: str | None = None, field: str = "f1") -> float:
        """Return the mean of a score over the answerable questions; 0 without any."""
        scores = self.score_by_question(metric, field).values()
        return fmean(scores) if scores else 0.0

    def compute_interval(self, metric: str | None = None) -> Interval:
        """Return the mean F1 of a metric with its 95 % bootstrap interval over questions."""
        return compute_bootstrap_interval(list(self.score_by_question(metric).values()))

    def compute_deviation(self, metric: str | None = None) -> float | None:
        """Return the standard deviation of the mean over repetitions; None with fewer than two."""
        if len(self.rounds) < 2:
            return None
        parts = (
            tuple(record for record in self.records if record.repeat == round_number)
            for round_number in self.rounds
        )
        return stdev(Report(part, self.metric).compute_mean(metric) for part in parts)

    def group_by(self, slicing: str) -> dict[str, "Report"]:
        """Return a report on the answerable questions of each value, values sorted.

        `slicing` is one of `SLICES`; unknown values are grouped under `-`.
        """
        groups: dict[str, list[Record]] = {}
        for record in self.answerable:
            for name in dict.fromkeys(SLICES[slicing](record, self.metric)):
                groups.setdefault(name, []).append(record)
        return {
            name: Report(tuple(groups[name]), self.metric)
            for name in sorted(groups, key=get_slice_sort_key)
        }

    def to_json(self, *, with_times: bool = True) -> Json:
        """Return the report as a JSON object; scores are fractions, times are seconds.

        `n` counts all records, `answered` those with status `answer`. Without `with_times` nothing
        depends on the clock.
        """
        ordered = sorted(self.records, key=lambda record: record.key)
        seconds = [record.seconds for record in self.records]
        clock = {
            "seconds": {
                "p50": compute_percentile(seconds, 0.5),
                "p95": compute_percentile(seconds, 0.95),
            }
        }
        usage = asdict(failures.sum_usage(self.records))
        fields = {
            "n": len(self.records),
            "f1": self.f1,
            "f1_flattened": self.f1_flattened,
            "em": self.em,
            "metric": self.metric,
            "scores": {name: self._to_score_object(name) for name in self.metrics},
            "repetitions": len(self.rounds),
            "answered": _count_status(self.records, "answer"),
            "asked_back": _count_status(self.records, "clarification"),
            "refused": _count_status(self.records, "refusal"),
            "failed": sum(map(failures.has_failed, self.records)),
            "answerable": len(self.answerable),
            **self._to_confidence_object(),
            "unanswerable": {"n": len(self.unanswerable), "refused": self.correct_refusal_count},
            "executable": asdict(failures.count_executable(self.records)),
            "failures": failures.count_failures(self.records, self.metric),
            **{f"by_{name}": self._to_slice_object(name) for name in SLICES},
            "oracle_drafts": {
                str(count): score
                for count, score in failures.compute_drafts_oracle(self.records).items()
            },
            "cost": {
                **{name: cost for name, cost in usage.items() if with_times or name != "seconds"},
                "attempts": sum(record.attempts for record in self.records),
            },
            "errors": [
                {"id": record.id, "error": record.error} for record in ordered if record.error
            ],
            "gold_errors": [
                {"id": record.id, "error": record.gold_error}
                for record in ordered
                if record.gold_error
            ],
        }
        return {name: _round_values(value) for name, value in fields.items()} | (
            clock if with_times else {}
        )

    def _to_score_object(self, metric: str) -> Json:
        deviation = self.compute_deviation(metric)
        return {
            "precision": self.compute_mean(metric, "precision"),
            "recall": self.compute_mean(metric, "recall"),
            **_to_interval_object(self.compute_interval(metric), "f1"),
            **({} if deviation is None else {"sd_over_repetitions": deviation}),
        }

    def _to_confidence_object(self) -> Json:
        tenths = [tenth / 10 for tenth in range(1, 11)]
        rejected = failures.count_record_rejections(self.records, self.metric)
        return {
            "top_half_f1": self.top_half_f1,
            "risk_coverage": [
                {"coverage": share, "f1": confidence.compute_mean_at_coverage(self.pairs, share)}
                for share in tenths
            ],
            "aurc": confidence.compute_aurc(self.pairs),
            "excess_aurc": confidence.compute_excess_aurc(self.pairs),
            "coverage_at_risk": [
                {"risk": risk, "coverage": confidence.compute_coverage_at_risk(self.pairs, risk)}
                for risk in confidence.REPORTED_RISK_RATIOS
            ],
            "calibration": asdict(failures.compute_record_calibration(self.records, self.metric)),
            "rejection": {
                **asdict(rejected),
                "caught": rejected.caught_share,
                "lost": rejected.lost_share,
            },
        }

    def _to_slice_object(self, slicing: str) -> Json:
        return {
            name: {
                "n": len(report.records),
                "f1": report.f1,
                "f1_flattened": report.f1_flattened,
                "em": report.em,
                **_to_interval_object(report.compute_interval(), "score"),
                "answered": _count_status(report.records, "answer"),
            }
            for name, report in self.group_by(slicing).items()
        }


def strip_prefixes(query: str) -> str:
    """Return a query without its PREFIX lines."""
    return re.sub(r"(?im)^\s*PREFIX\s+\S*\s*<[^>]*>\s*", "", query).strip()


def compute_percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of the values does not exceed; or 0."""
    if not values:
        return 0.0
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def get_slice_sort_key(name: str) -> tuple[bool, int, str]:
    """Return the sort key of a slice: numbers by value, before names."""
    is_number = name.isdecimal()
    return not is_number, int(name) if is_number else 0, name


def _count_status(records: Iterable[Record], status: str) -> int:
    return sum(record.status == status for record in records)


def _to_interval_object(interval: Interval, name: str) -> Json:
    return {name: interval.mean, "low": interval.low, "high": interval.high}


def _round_values(value: object) -> object:
    match value:
        case float():
            return round(value, 6)
        case tuple() | list():
            return [_round_values(item) for item in value]
        case dict():
            return {name: _round_values(item) for name, item in value.items()}
        case _:
            return value


@dataclass(frozen=True)
class RunGroup:
    """The report on one method on one benchmark in one run."""

    run: str
    benchmark: str
    method: str
    report: Report


@dataclass(frozen=True)
class MethodsOracle:
    """The mean of the best of several methods on each question: an oracle, not a system."""

    benchmark: str
    methods: tuple[str, ...]
    n: int  # questions that all methods were asked
    mean: Interval  # mean of the best scores
    best_single: float  # mean of the best single method on the same questions


def group_runs(
    runs: Sequence[EvaluationRun], *, metric: str = DEFAULT_METRIC
) -> tuple[RunGroup, ...]:
    """Return a sorted group per run, benchmark, method; raise `SetupError` without the metric."""
    for run in runs:
        missing_count = sum(metric not in record.scores for record in run.records)
        if missing_count:
            common_metrics = set.intersection(*(set(record.scores) for record in run.records))
            raise SetupError(
                f"{missing_count} of {len(run.records)} records of {run.name} have no score of "
                f"the metric {metric!r}; choose one of "
                f"{', '.join(sorted(common_metrics)) or 'none'}"
            )

    def get_key(record: Record) -> tuple[str, str]:
        return record.benchmark, record.system

    return tuple(
        RunGroup(run.name, *key, Report(tuple(records), metric))
        for run in runs
        for key, records in groupby(sorted(run.records, key=get_key), get_key)
    )


def describe_incomplete(runs: Sequence[EvaluationRun]) -> tuple[str, ...]:
    """Describe the progress of each incomplete run."""
    return tuple(
        f"INCOMPLETE: {run.name} holds {len(run.records)} of {run.planned_count} records; "
        "its figures are of these only"
        for run in runs
        if not run.is_complete
    )


def compute_method_oracles(groups: Sequence[RunGroup]) -> tuple[MethodsOracle, ...]:
    """Return an oracle over the methods of each benchmark with more than one method.

    Questions are the same if their id and their gold query are.
    """
    names = sorted({group.benchmark for group in groups})
    parts = ([group for group in groups if group.benchmark == name] for name in names)
    return tuple(filter(None, (_compute_oracle(part) for part in parts if len(part) > 1)))


def _compute_oracle(groups: Sequence[RunGroup]) -> MethodsOracle | None:
    scores = [_index_by_gold(group.report) for group in groups]
    common = sorted(set.intersection(*(set(group_scores) for group_scores in scores)), key=str)
    if not common:
        return None
    best = [max(group_scores[key] for group_scores in scores) for key in common]
    has_several_runs = len({group.run for group in groups}) > 1
    return MethodsOracle(
        benchmark=groups[0].benchmark,
        methods=tuple(
            f"{group.run}:{group.method}" if has_several_runs else group.method for group in groups
        ),
        n=len(common),
        mean=compute_bootstrap_interval(best),
        best_single=max(fmean(group_scores[key] for key in common) for group_scores in scores),
    )


def _index_by_gold(report: Report) -> Mapping[tuple[str, str | None], float]:
    gold = {f"{record.benchmark}\t{record.id}": record.gold_sparql for record in report.answerable}
    return {(key, gold[key]): score for key, score in report.score_by_question().items()}


Row = tuple[Cell, ...]

LABEL_COLUMNS = (
    SheetColumn("run", context=True),
    SheetColumn("benchmark", context=True),
    SheetColumn("method"),
)
INTERVAL_COLUMNS = (SheetColumn("low", "share"), SheetColumn("high", "share"))
ANSWERED_COLUMNS = (SheetColumn("answered", "count"), SheetColumn("failed", "count"))


def format_system_name(run: str, method: str, *, has_several_runs: bool) -> str:
    """Return the name of a method on the page, preceded by its run if there are several."""
    return f"{run}:{method}" if has_several_runs else method or "method"


def build_label(group: RunGroup) -> Row:
    """Return the cells under `LABEL_COLUMNS`."""
    return group.run, group.benchmark, group.method


def count_answered(report: Report) -> Row:
    """Return the numbers of answerable records that were answered and that failed."""
    return _count_status(report.answerable, "answer"), sum(
        map(failures.has_failed, report.answerable)
    )


def build_interval_cells(report: Report, metric: str | None = None) -> Row:
    """Return the mean of a metric and its interval; None without answerable questions."""
    if not report.answerable:
        return None, None, None
    interval = report.compute_interval(metric)
    return interval.mean, interval.low, interval.high


def to_report_object(
    runs: Sequence[EvaluationRun], *, metric: str = DEFAULT_METRIC, with_times: bool = True
) -> Json:
    """Return all figures as a JSON object; without `with_times` nothing depends on the clock."""
    groups = group_runs(runs, metric=metric)
    return {
        "runs": [_to_run_object(run, with_times=with_times) for run in runs],
        "groups": [
            {
                "run": group.run,
                "benchmark": group.benchmark,
                "method": group.method,
                **group.report.to_json(with_times=with_times),
            }
            for group in groups
        ],
        "oracle_methods": [
            _round_values(
                {
                    "benchmark": oracle.benchmark,
                    "methods": oracle.methods,
                    "n": oracle.n,
                    **_to_interval_object(oracle.mean, "score"),
                    "best_single": oracle.best_single,
                }
            )
            for oracle in compute_method_oracles(groups)
        ],
    }


def _to_run_object(run: EvaluationRun, *, with_times: bool) -> Json:
    settings = {key: run.settings[key] for key in sorted(run.settings)}
    if not with_times:
        settings.pop("created", None)
    state = {"planned": run.planned_count, "records": len(run.records), "complete": run.is_complete}
    return {"name": run.name, **state, "settings": settings}
