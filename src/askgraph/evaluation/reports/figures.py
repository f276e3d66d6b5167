"""The figures of a page: the tables of a report, and plots of their numbers, as Vega-Lite.

Text and axes take the colour of the page's text, so that light, dark and paper need no second plot.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import altair as alt

from askgraph.evaluation.reports.failures import failure_counts
from askgraph.evaluation.reports.report import LABEL, Group, groups_of, label, percentile, system_of
from askgraph.evaluation.reports.report_sheets import by_sheet, report_sheets
from askgraph.evaluation.reports.sheet import Cell, Column, Sheet
from askgraph.evaluation.runs import Run

Spec = dict[str, object]

# Okabe and Ito's colours, which most people with colour vision deficiencies tell apart, without
# black and yellow, which vanish on one of the two backgrounds; then the same with other shapes.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
SHAPES = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
ROW, HEIGHT = 20, 240  # pixels
SHORT = 14  # characters of a name, of which three stand beside each other on a small screen

CONFIG: Mapping[str, object] = json.loads(
    files("askgraph.evaluation.reports").joinpath("plots.json").read_text("utf-8")
)


Point = Mapping[str, str | float]
"""What is drawn of one system, by the names that the encodings have."""


def dots(points: Sequence[Point], *, systems: Sequence[str], x: str, y: str) -> Spec:
    """Return a plot of a mean (0 to 1) and its interval for each category and system.

    A point has `category`, `system`, `mean`, `low`, `high` and `n`, the number of questions.
    Categories stand in the order of the points; `x` and `y` are the titles of the axes.
    """
    categories = list(dict.fromkeys(str(point["category"]) for point in points))
    base = alt.Chart(alt.InlineData(values=points)).encode(
        y=_category_axis(categories, y),
        yOffset=alt.YOffset("system:N", sort=list(systems)),
        color=_colour(systems),
        tooltip=[
            alt.Tooltip("category:N", title=y.lower() or "of"),
            alt.Tooltip("system:N", title="method"),
            alt.Tooltip("mean:Q", title=x.lower(), format=".1%"),
            alt.Tooltip("low:Q", title="from", format=".1%"),
            alt.Tooltip("high:Q", title="to", format=".1%"),
            alt.Tooltip("n:Q", title="questions"),
        ],
    )
    scale, percent = alt.Scale(domain=[0, 1]), alt.Axis(format="%", tickCount=5)
    interval = base.mark_rule(strokeWidth=2, opacity=0.75).encode(
        x=alt.X("low:Q", title=x, scale=scale, axis=percent), x2="high:Q"
    )
    mean = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("mean:Q", title=x, scale=scale, axis=percent), shape=_shape(systems)
    )
    height = len(categories) * max(1.6, len(systems) + 0.6) * ROW
    return _spec(alt.LayerChart(layer=[interval, mean], height=height))


def lines(
    points: Sequence[Point],
    *,
    systems: Sequence[str],
    x: str,
    y: str,
    logarithmic: bool = False,
    dotted: bool = False,
    same: bool = False,
) -> Spec:
    """Return a plot of a line for each system, y between 0 and 1; a point has `system`, `x`, `y`.

    x goes from 0 to 1, or is `logarithmic`; `dotted` marks the points, `same` adds the line on
    which x and y are equal.
    """
    scale = alt.Scale(type="log") if logarithmic else alt.Scale(domain=[0, 1])
    drawn = alt.Chart(alt.InlineData(values=points)).encode(
        x=alt.X("x:Q", title=x, scale=scale, axis=_number_axis(logarithmic=logarithmic)),
        y=alt.Y("y:Q", title=y, scale=alt.Scale(domain=[0, 1]), axis=_number_axis()),
        color=_colour(systems),
        tooltip=[
            alt.Tooltip("system:N", title="method"),
            alt.Tooltip("x:Q", title=x.lower(), format=".3~r" if logarithmic else ".1%"),
            alt.Tooltip("y:Q", title=y.lower(), format=".1%"),
        ],
    )
    curve = drawn.mark_line(strokeWidth=2)
    layers = [curve if dotted else curve.encode(strokeDash=_dash(systems))]
    if dotted:
        points_too = drawn.mark_point(filled=True, size=60, opacity=1)
        layers.append(points_too.encode(shape=_shape(systems)))
    if same:
        layers.insert(0, _diagonal())
    return _spec(alt.LayerChart(layer=layers, height=HEIGHT))


def bars(counts: Sequence[Point], *, systems: Sequence[str], x: str, y: str) -> Spec:
    """Return a plot of a bar for each category and system; categories in the order given.

    A bar has `category`, `system` and `count`.
    """
    categories = list(dict.fromkeys(str(bar["category"]) for bar in counts))
    drawn = (
        alt.Chart(alt.InlineData(values=counts))
        .mark_bar()
        .encode(
            x=alt.X("count:Q", title=x, axis=alt.Axis(tickMinStep=1, tickCount=6, format=",d")),
            y=_category_axis(categories, y),
            yOffset=alt.YOffset("system:N", sort=list(systems)),
            color=_colour(systems),
            tooltip=[
                alt.Tooltip("category:N", title=y.lower()),
                alt.Tooltip("system:N", title="method"),
                alt.Tooltip("count:Q", title=x.lower()),
            ],
        )
    )
    height = len(categories) * max(1.3, 0.7 * len(systems) + 0.6) * ROW
    return _spec(drawn.properties(height=height))


def _category_axis(categories: Sequence[str], title: str) -> alt.Y:
    axis = alt.Axis(grid=False, ticks=False, domain=False, labelPadding=8)
    return alt.Y("category:N", title=title or None, sort=list(categories), axis=axis)


def _number_axis(*, logarithmic: bool = False) -> alt.Axis:
    if logarithmic:
        return alt.Axis(format="~r", tickCount=5, grid=False)
    return alt.Axis(format="%", tickCount=5)


def _diagonal() -> alt.Chart:
    ends = alt.InlineData(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}])
    line: alt.Chart = alt.Chart(ends).mark_line(
        color="currentColor", opacity=0.4, strokeDash=[2, 3], strokeWidth=1
    )
    drawn: alt.Chart = line.encode(x="x:Q", y="y:Q")
    return drawn


def _colour(systems: Sequence[str]) -> alt.Color:
    return alt.Color("system:N", **_looks(COLOURS, systems))


def _shape(systems: Sequence[str]) -> alt.Shape:
    return alt.Shape("system:N", **_looks(SHAPES, systems))


def _dash(systems: Sequence[str]) -> alt.StrokeDash:
    return alt.StrokeDash("system:N", **_looks(DASHES, systems))


def _looks(looks: Sequence[object], systems: Sequence[str]) -> dict[str, Any]:
    """Give each system a look of its own; one alone needs no legend: the page names it."""
    chosen = [looks[at % len(looks)] for at in range(len(systems))]
    columns = 3 if max(map(len, systems), default=0) <= SHORT else 1
    legend = alt.Legend(columns=columns) if len(systems) > 1 else None
    return {"scale": alt.Scale(domain=list(systems), range=chosen), "legend": legend}


def _spec(chart: alt.LayerChart | alt.Chart) -> Spec:
    size = alt.AutoSizeParams(type="fit-x", contains="padding")
    return {**chart.properties(width="container", autosize=size).to_dict(), "config": CONFIG}


MOST = 20  # categories in a plot; its table has all
SHARES = tuple(at / 20 for at in range(1, 21))  # of the questions, in the order of their times
SLICES = {
    "patterns": "Score by number of triple patterns",
    "form": "Score by form of the gold query",
    "tag": "Score by tag",
    "graph": "Score by graph",
}


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
    rows = [
        (*label(group), kind, count)
        for group in groups
        for kind, count in failure_counts(group.report.records, group.report.metric).items()
    ]
    columns = (*LABEL, Column("failure"), Column("answers", "count"))
    sheets["failures"] = Sheet("What went wrong", columns, tuple(rows))
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
            sheet = of[by]
            points = [self._dot(str(row[by]), system, row) for system, row in self._rows(sheet)]
            sizes: dict[str, int] = {}
            for point in points:
                name = str(point["category"])
                sizes[name] = max(sizes.get(name, 0), int(point["n"]))
            if len(sizes) < 2:
                continue
            largest = set(sorted(sizes, key=lambda name: -sizes[name])[:MOST])
            more = f" The {MOST} largest; the table has all." if len(sizes) > MOST else ""
            yield Figure(
                title,
                f"Mean F1 with its 95 % interval.{more}",
                sheet.compact(),
                dots(
                    [point for point in points if point["category"] in largest],
                    systems=self.systems,
                    x="Mean F1",
                    y="Triple patterns" if by == "patterns" else "",
                ),
            )
        yield self._coverage(of["coverage"])
        yield self._calibration(of["confidence"])
        if "times" in of:
            yield self._times(of["times"])

    def _failures(self, sheet: Sheet) -> Figure:
        drawn: list[Point] = [
            {
                "category": str(row["failure"]),
                "system": system,
                "count": int(_number(row["answers"])),
            }
            for system, row in self._rows(sheet)
        ]
        return Figure(
            "What went wrong",
            "Answers that are not wholly right, by the class of their failure.",
            sheet.compact(),
            bars(drawn, systems=self.systems, x="Answers", y=""),
        )

    def _coverage(self, sheet: Sheet) -> Figure:
        points: list[Point] = [
            {"system": system, "x": _number(row["most confident"]), "y": _number(row[self.metric])}
            for system, row in self._rows(sheet)
        ]
        return Figure(
            "Risk and coverage",
            "Mean F1 of the most confident part of the answers, by the size of that part.",
            sheet.compact(),
            lines(points, systems=self.systems, x="Coverage", y="Mean F1", dotted=True),
        )

    def _calibration(self, sheet: Sheet) -> Figure:
        points: list[Point] = [
            {"system": system, "x": _number(row["mean confidence"]), "y": _number(row[self.metric])}
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
        points: list[Point] = [
            {"system": system, "x": max(0.001, _number(row["seconds"])), "y": _number(row["done"])}
            for system, row in self._rows(sheet)
        ]
        return Figure(
            "Time",
            "Share of the questions that were done within a time.",
            sheet.compact(),
            lines(points, systems=self.systems, x="Seconds", y="Done", logarithmic=True),
        )

    def _dot(self, category: str, system: str, row: Mapping[str, Cell]) -> Point:
        mean, low, high = (_number(row[name]) for name in (self.metric, "low", "high"))
        n = int(_number(row["questions"]))
        ends = {"mean": mean, "low": low, "high": high}
        return {"category": category, "system": system, **ends, "n": n}

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
