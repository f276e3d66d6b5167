"""Groups of a run's records by benchmark and method, and the best method on each as an oracle."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from askgraph.errors import SetupError
from askgraph.evaluation.reports.outcomes import has_failed
from askgraph.evaluation.reports.report import MAIN, Report
from askgraph.evaluation.reports.sheet import Cell, Column
from askgraph.evaluation.reports.statistics import Interval, bootstrap_interval
from askgraph.evaluation.runs.record import Record
from askgraph.evaluation.runs.run_folder import Run


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


def label(group: Group) -> Row:
    """Return the cells under `LABEL`."""
    return group.run, group.benchmark, group.method


def answered(report: Report) -> Row:
    """Return how many answerable records were answered, and on how many something failed."""
    answered = sum(record.status == "answer" for record in report.answerable)
    failed = sum(map(has_failed, report.answerable))
    return answered, failed


def mean_and_ends(report: Report, metric: str | None = None) -> Row:
    """Return the mean of a metric and the ends of its interval; unknown of no question."""
    if not report.answerable:
        return None, None, None
    interval = report.interval(metric)
    return interval.mean, interval.low, interval.high


Json = dict[str, object]


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
            {
                "benchmark": oracle.benchmark,
                "methods": list(oracle.methods),
                "n": oracle.n,
                "score": round(oracle.mean.mean, 6),
                "low": round(oracle.mean.low, 6),
                "high": round(oracle.mean.high, 6),
                "best_single": round(oracle.best_single, 6),
            }
            for oracle in methods_oracles(groups)
        ],
    }


def _run_json(run: Run, *, times: bool) -> Json:
    settings = {key: run.settings[key] for key in sorted(run.settings)}
    if not times:
        settings.pop("created", None)
    state = {"planned": run.planned, "records": len(run.records), "complete": run.complete}
    return {"name": run.name, **state, "settings": settings}
