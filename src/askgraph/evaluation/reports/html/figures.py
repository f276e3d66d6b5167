"""The figures of a page: the tables of a report, and plots of their numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from askgraph.evaluation.reports.by_sheets import by_sheet
from askgraph.evaluation.reports.groups import LABEL, Group, groups_of, label
from askgraph.evaluation.reports.html.payload import system_of
from askgraph.evaluation.reports.html.plots import Bar, Dot, Point, bars, dots, lines
from askgraph.evaluation.reports.outcomes import failure_counts
from askgraph.evaluation.reports.report import percentile
from askgraph.evaluation.reports.report_sheets import report_sheets
from askgraph.evaluation.reports.sheet import Cell, Column, Sheet
from askgraph.evaluation.runs.run_folder import Run

MOST = 20  # categories in a plot; its table has all
SHARES = tuple(at / 20 for at in range(1, 21))  # of the questions, in the order of their times
SLICES = {
    "patterns": "Score by number of triple patterns",
    "form": "Score by form of the gold query",
    "tag": "Score by tag",
    "graph": "Score by graph",
}

Spec = Mapping[str, object]


@dataclass(frozen=True)
class Figure:
    """A table and, if there is one, the Vega-Lite plot of its figures.

    The table is `folded` away if the plot shows the same.
    """

    title: str
    caption: str
    sheet: Sheet
    spec: Spec | None = None
    folded: bool = True


@dataclass(frozen=True)
class Section:
    """Figures that belong together."""

    title: str
    figures: tuple[Figure, ...]


def sections(runs: Sequence[Run], *, metric: str, times: bool) -> tuple[Section, ...]:
    """Return the sections of runs: the scores of all, each benchmark in plots, then the tables.

    Raises `SetupError` if a record has no score of the metric.
    """
    groups = groups_of(runs, metric=metric)
    plotted = _Plotted(groups, metric, len(runs) > 1)
    first, *others = report_sheets(runs, metric=metric, times=times)
    sheets = {by: by_sheet(runs, by, metric=metric) for by in (*SLICES, "coverage", "confidence")}
    sheets["failures"] = _failure_sheet(groups)
    if times:
        sheets["times"] = _time_sheet(groups)
    benchmarks = dict.fromkeys(group.benchmark for group in groups)
    tables = tuple(Figure(sheet.title, "", sheet.compact(), folded=False) for sheet in others)
    return (
        Section("Scores", (plotted.overview(first),)),
        *(
            Section(benchmark or "In plots", tuple(plotted.of_benchmark(benchmark, sheets)))
            for benchmark in benchmarks
        ),
        Section("Tables", tables),
    )


@dataclass(frozen=True)
class _Plotted:
    groups: Sequence[Group]
    metric: str
    several: bool

    @property
    def systems(self) -> list[str]:
        """The names of all methods, in the order in which they get their colours."""
        return list(dict.fromkeys(self._system(group.run, group.method) for group in self.groups))

    def overview(self, sheet: Sheet) -> Figure:
        points = [
            self._dot(str(row["benchmark"] or "all questions"), system, row)
            for system, row in self._rows(sheet)
        ]
        return Figure(
            f"F1, {self.metric}",
            "Mean over the answerable questions, whatever failed as 0, with its 95 % bootstrap "
            "interval.",
            sheet.compact(),
            dots(points, systems=self.systems, x="Mean F1", y=""),
            folded=False,
        )

    def of_benchmark(self, benchmark: str, sheets: Mapping[str, Sheet]) -> Iterator[Figure]:
        """Yield the figures of one benchmark, without those that have nothing to tell apart."""
        of = {by: _only(sheet, benchmark) for by, sheet in sheets.items()}
        if of["failures"].rows:
            yield self._failures(of["failures"])
        for by, title in SLICES.items():
            figure = self._slices(of[by], by, title)
            if figure is not None:
                yield figure
        yield self._coverage(of["coverage"])
        yield self._calibration(of["confidence"])
        if "times" in of:
            yield self._times(of["times"])

    def _failures(self, sheet: Sheet) -> Figure:
        drawn = [
            Bar(str(row["failure"]), system, int(_number(row["answers"])))
            for system, row in self._rows(sheet)
        ]
        return Figure(
            "What went wrong",
            "Answers that are not wholly right, by the class of their failure.",
            sheet.compact(),
            bars(drawn, systems=self.systems, x="Answers", y=""),
        )

    def _slices(self, sheet: Sheet, by: str, title: str) -> Figure | None:
        points = [self._dot(str(row[by]), system, row) for system, row in self._rows(sheet)]
        sizes: dict[str, int] = {}
        for point in points:
            sizes[point.category] = max(sizes.get(point.category, 0), point.n)
        if len(sizes) < 2:
            return None
        largest = set(sorted(sizes, key=lambda name: -sizes[name])[:MOST])
        more = f" The {MOST} largest; the table has all." if len(sizes) > MOST else ""
        return Figure(
            title,
            f"Mean F1 with its 95 % interval.{more}",
            sheet.compact(),
            dots(
                [point for point in points if point.category in largest],
                systems=self.systems,
                x="Mean F1",
                y="Triple patterns" if by == "patterns" else "",
            ),
        )

    def _coverage(self, sheet: Sheet) -> Figure:
        points = [
            Point(system, _number(row["most confident"]), _number(row[self.metric]))
            for system, row in self._rows(sheet)
        ]
        return Figure(
            "Risk and coverage",
            "Mean F1 of the most confident part of the answers, by the size of that part.",
            sheet.compact(),
            lines(points, systems=self.systems, x="Coverage", y="Mean F1", dotted=True),
        )

    def _calibration(self, sheet: Sheet) -> Figure:
        points = [
            Point(system, _number(row["mean confidence"]), _number(row[self.metric]))
            for system, row in self._rows(sheet)
            if row["answers"]
        ]
        return Figure(
            "Calibration",
            "Mean F1 of answers of like confidence. On the dotted line both are the same.",
            sheet.compact(),
            lines(
                points, systems=self.systems, x="Confidence", y="Mean F1", dotted=True, same=True
            ),
        )

    def _times(self, sheet: Sheet) -> Figure:
        points = [
            Point(system, max(0.001, _number(row["seconds"])), _number(row["done"]))
            for system, row in self._rows(sheet)
        ]
        return Figure(
            "Time",
            "Share of the questions that were done within a time.",
            sheet.compact(),
            lines(points, systems=self.systems, x="Seconds", y="Done", logarithmic=True),
        )

    def _dot(self, category: str, system: str, row: Mapping[str, Cell]) -> Dot:
        mean, low, high = (_number(row[name]) for name in (self.metric, "low", "high"))
        return Dot(category, system, mean, low, high, int(_number(row["questions"])))

    def _rows(self, sheet: Sheet) -> Iterator[tuple[str, Mapping[str, Cell]]]:
        """Yield each row by the heads of its columns, with the name of its method."""
        heads = [column.head for column in sheet.columns]
        for cells in sheet.rows:
            row = dict(zip(heads, cells, strict=True))
            yield self._system(str(row["run"]), str(row["method"])), row

    def _system(self, run: str, method: str) -> str:
        return system_of(run, method, several=self.several)


def _only(sheet: Sheet, benchmark: str) -> Sheet:
    """The rows of one benchmark, without notes: those are of all."""
    at = [column.head for column in sheet.columns].index("benchmark")
    rows = tuple(row for row in sheet.rows if row[at] == benchmark)
    return Sheet(sheet.title, sheet.columns, rows)


def _failure_sheet(groups: Sequence[Group]) -> Sheet:
    rows = [
        (*label(group), kind, count)
        for group in groups
        for kind, count in failure_counts(group.report.records, group.report.metric).items()
    ]
    columns = (*LABEL, Column("failure"), Column("answers", "count"))
    return Sheet("What went wrong", columns, tuple(rows))


def _time_sheet(groups: Sequence[Group]) -> Sheet:
    rows = [
        (*label(group), share, percentile(seconds, share))
        for group in groups
        for seconds in [[record.seconds for record in group.report.records]]
        for share in SHARES
    ]
    columns = (*LABEL, Column("done", "share"), Column("seconds", "number"))
    return Sheet("Time", columns, tuple(rows))


def _number(cell: Cell) -> float:
    return float(cell) if isinstance(cell, int | float) else 0.0
