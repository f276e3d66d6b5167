"""A report on runs, its figures taken apart: by tag, by failure, by confidence and so on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from askgraph.evaluation.reports.confidence import RIGHT_FROM, mean_at, policies
from askgraph.evaluation.reports.groups import (
    ANSWERED,
    ENDS,
    LABEL,
    Row,
    answered,
    groups_of,
    incomplete,
    label,
    mean_and_ends,
)
from askgraph.evaluation.reports.outcomes import calibration_of
from askgraph.evaluation.reports.report import MAIN, SLICES
from askgraph.evaluation.reports.sheet import Column, Sheet
from askgraph.evaluation.runs.run_folder import Run

FITTED = (
    "The confidence of graph search was fitted to some graphs (docs/evaluation.md): on one of "
    "these what is caught comes out better than on a graph that nobody has seen."
)
TENTHS = tuple(tenth / 10 for tenth in range(1, 11))


def by_sheet(runs: Sequence[Run], by: str, *, metric: str = MAIN) -> Sheet:
    """Return the table that takes the figures apart; `by` is one of `BY`.

    Raises `SetupError` if a record has no score of the metric.
    """
    return BY[by](runs, metric)


def _by_slice(slicing: str) -> "Callable[[Sequence[Run], str], Sheet]":
    def sheet(runs: Sequence[Run], metric: str) -> Sheet:
        rows = []
        for group in groups_of(runs, metric=metric):
            for name, report in group.report.by(slicing).items():
                row: Row = (name, len(report.per_question()), *answered(report))
                exact = report.em if "exact_match" in report.metrics else None
                row += (*mean_and_ends(report), exact)
                rows.append((*label(group), *row))
        columns = (
            *(*LABEL, Column(slicing), Column("questions", "count"), *ANSWERED),
            *(Column(metric, "share"), *ENDS, Column("exact match", "share")),
        )
        return Sheet(f"Scores by {slicing}", columns, tuple(rows), incomplete(runs))

    return sheet


def _by_metric(runs: Sequence[Run], metric: str) -> Sheet:
    rows = []
    groups = groups_of(runs, metric=metric)
    repeated = any(len(group.report.rounds) > 1 for group in groups)
    for group in groups:
        report = group.report
        for name in report.metrics if report.answerable else ():
            parts = (report.mean(name, "precision"), report.mean(name, "recall"))
            ends = mean_and_ends(report, name)
            apart = (report.deviation(name),) if repeated else ()
            rows.append((*label(group), name, len(report.per_question()), *parts, *ends, *apart))
    columns = (
        *LABEL,
        Column("metric"),
        Column("questions", "count"),
        *(Column(head, "share") for head in ("precision", "recall", "F1")),
        *ENDS,
        *((Column("sd", "share"),) if repeated else ()),
    )
    return Sheet("Scores by metric", columns, tuple(rows), incomplete(runs))


def _by_confidence(runs: Sequence[Run], metric: str) -> Sheet:
    rows = [
        (*label(group), b.low, b.high, b.n, *((b.confidence, b.score) if b.n else (None, None)))
        for group in groups_of(runs, metric=metric)
        for b in calibration_of(group.report.records, metric).bins
    ]
    columns = (
        *LABEL,
        *(Column(head, "share") for head in ("from", "to")),
        Column("answers", "count"),
        *(Column(head, "share") for head in ("mean confidence", metric)),
    )
    return Sheet("Calibration", columns, tuple(rows), incomplete(runs))


def _by_coverage(runs: Sequence[Run], metric: str) -> Sheet:
    rows = [
        (*label(group), share, mean_at(group.report.pairs, share))
        for group in groups_of(runs, metric=metric)
        for share in TENTHS
    ]
    columns = (*LABEL, Column("most confident", "share"), Column(metric, "share"))
    return Sheet("Risk and coverage", columns, tuple(rows), incomplete(runs))


def _by_rejection(runs: Sequence[Run], metric: str) -> Sheet:
    rows: list[Row] = []
    for group in groups_of(runs, metric=metric):
        for least in RIGHT_FROM:
            for one in policies(group.report.records, metric, right_from=least):
                ends = (
                    (s.mean, s.low, s.high) if s else (None,) * 3 for s in (one.caught, one.lost)
                )
                caught, lost = ends
                row: Row = (one.name, least, one.wrong, *caught, one.right, *lost)
                rows.append((*label(group), *row))
    columns = (
        *(*LABEL, Column("rejected by"), Column("right from", "share")),
        *(Column("wrong", "count"), Column("caught", "share"), *_ends("caught")),
        *(Column("right", "count"), Column("lost", "share"), *_ends("lost")),
    )
    return Sheet("Rejection", columns, tuple(rows), (*incomplete(runs), FITTED))


def _ends(share: str) -> Iterator[Column]:
    """Yield the ends of a share's interval, named after it if a table has two of them."""
    yield from (replace(end, head=f"{share} {end.head}") for end in ENDS)


BY: Mapping[str, Callable[[Sequence[Run], str], Sheet]] = {
    "metric": _by_metric,
    **{slicing: _by_slice(slicing) for slicing in SLICES},
    "confidence": _by_confidence,
    "coverage": _by_coverage,
    "rejection": _by_rejection,
}
"""What the figures can be taken apart by, each with what makes its table."""
