"""Figures of the HTML page: the tables of a report, and Vega-Lite plots of their numbers.

Text and axes inherit the colour of the page's text, so that one plot fits light, dark and paper.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import altair as alt

from askgraph.evaluation.reports.failures import count_failures
from askgraph.evaluation.reports.report import (
    LABEL_COLUMNS,
    RunGroup,
    build_label,
    compute_percentile,
    format_system_name,
    group_runs,
)
from askgraph.evaluation.reports.report_sheets import build_report_sheets, build_slice_sheet
from askgraph.evaluation.reports.sheet import Cell, Sheet, SheetColumn
from askgraph.evaluation.runs import EvaluationRun

Spec = dict[str, object]

# The palette of Okabe and Ito, which suits most colour vision deficiencies, without black and
# yellow, which vanish on one of the two backgrounds; then the same colours with other shapes.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
SHAPES = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross")
DASH_PATTERNS = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
ROW_HEIGHT_SIZE, PLOT_HEIGHT_SIZE = 20, 240  # pixels
MAX_SHORT_NAME_CHARACTERS = 14  # three such names fit side by side on a small screen

CONFIG: Mapping[str, object] = json.loads(
    files("askgraph.evaluation.reports").joinpath("plots.json").read_text("utf-8")
)


Point = Mapping[str, str | float]
"""One mark of a plot, keyed by the field names of the encodings."""


def plot_dots(points: Sequence[Point], *, systems: Sequence[str], y: str) -> Spec:
    """Plot the mean F1 and its interval for each category and system.

    Categories keep the order of the points.

    Args:
        points: Points with `category`, `system`, `mean`, `low`, `high` and `n`, the number of
            questions.
    """
    categories = list(dict.fromkeys(str(point["category"]) for point in points))
    base = alt.Chart(alt.InlineData(values=points)).encode(
        y=_build_category_axis(categories, y),
        yOffset=alt.YOffset("system:N", sort=list(systems)),
        color=alt.Color("system:N", **_assign_styles(COLOURS, systems)),
        tooltip=[
            alt.Tooltip("category:N", title=y.lower() or "of"),
            alt.Tooltip("system:N", title="method"),
            alt.Tooltip("mean:Q", title="mean f1", format=".1%"),
            alt.Tooltip("low:Q", title="from", format=".1%"),
            alt.Tooltip("high:Q", title="to", format=".1%"),
            alt.Tooltip("n:Q", title="questions"),
        ],
    )
    scale, percent = alt.Scale(domain=[0, 1]), alt.Axis(format="%", tickCount=5)
    interval = base.mark_rule(strokeWidth=2, opacity=0.75).encode(
        x=alt.X("low:Q", title="Mean F1", scale=scale, axis=percent), x2="high:Q"
    )
    mean = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("mean:Q", title="Mean F1", scale=scale, axis=percent), shape=_encode_shape(systems)
    )
    height = len(categories) * max(1.6, len(systems) + 0.6) * ROW_HEIGHT_SIZE
    return _to_spec(alt.LayerChart(layer=[interval, mean], height=height))


def plot_lines(
    points: Sequence[Point],
    *,
    systems: Sequence[str],
    x: str,
    y: str,
    is_logarithmic: bool = False,
    has_points: bool = False,
    has_diagonal: bool = False,
) -> Spec:
    """Plot a line for each system, y between 0 and 1; a point has `system`, `x`, `y`.

    Args:
        is_logarithmic: Use a logarithmic x axis instead of 0 to 1.
        has_points: Mark the points.
        has_diagonal: Add the line on which x and y are equal.
    """
    scale = alt.Scale(type="log") if is_logarithmic else alt.Scale(domain=[0, 1])
    chart = alt.Chart(alt.InlineData(values=points)).encode(
        x=alt.X(
            "x:Q", title=x, scale=scale, axis=_build_number_axis(is_logarithmic=is_logarithmic)
        ),
        y=alt.Y("y:Q", title=y, scale=alt.Scale(domain=[0, 1]), axis=_build_number_axis()),
        color=alt.Color("system:N", **_assign_styles(COLOURS, systems)),
        tooltip=[
            alt.Tooltip("system:N", title="method"),
            alt.Tooltip("x:Q", title=x.lower(), format=".3~r" if is_logarithmic else ".1%"),
            alt.Tooltip("y:Q", title=y.lower(), format=".1%"),
        ],
    )
    line = chart.mark_line(strokeWidth=2)
    layers = [
        line
        if has_points
        else line.encode(
            strokeDash=alt.StrokeDash("system:N", **_assign_styles(DASH_PATTERNS, systems))
        )
    ]
    if has_points:
        point_layer = chart.mark_point(filled=True, size=60, opacity=1)
        layers.append(point_layer.encode(shape=_encode_shape(systems)))
    if has_diagonal:
        layers.insert(0, _build_diagonal())
    return _to_spec(alt.LayerChart(layer=layers, height=PLOT_HEIGHT_SIZE))


def plot_bars(counts: Sequence[Point], *, systems: Sequence[str], x: str, y: str) -> Spec:
    """Plot a bar for each category and system; categories keep the order of the bars.

    A bar has `category`, `system` and `count`.
    """
    categories = list(dict.fromkeys(str(bar["category"]) for bar in counts))
    chart = (
        alt.Chart(alt.InlineData(values=counts))
        .mark_bar()
        .encode(
            x=alt.X("count:Q", title=x, axis=alt.Axis(tickMinStep=1, tickCount=6, format=",d")),
            y=_build_category_axis(categories, y),
            yOffset=alt.YOffset("system:N", sort=list(systems)),
            color=alt.Color("system:N", **_assign_styles(COLOURS, systems)),
            tooltip=[
                alt.Tooltip("category:N", title=y.lower()),
                alt.Tooltip("system:N", title="method"),
                alt.Tooltip("count:Q", title=x.lower()),
            ],
        )
    )
    height = len(categories) * max(1.3, 0.7 * len(systems) + 0.6) * ROW_HEIGHT_SIZE
    return _to_spec(chart.properties(height=height))


def _build_category_axis(categories: Sequence[str], title: str) -> alt.Y:
    axis = alt.Axis(grid=False, ticks=False, domain=False, labelPadding=8)
    return alt.Y("category:N", title=title or None, sort=list(categories), axis=axis)


def _build_number_axis(*, is_logarithmic: bool = False) -> alt.Axis:
    if is_logarithmic:
        return alt.Axis(format="~r", tickCount=5, grid=False)
    return alt.Axis(format="%", tickCount=5)


def _build_diagonal() -> alt.Chart:
    ends = alt.InlineData(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}])
    line: alt.Chart = alt.Chart(ends).mark_line(
        color="currentColor", opacity=0.4, strokeDash=[2, 3], strokeWidth=1
    )
    chart: alt.Chart = line.encode(x="x:Q", y="y:Q")
    return chart


def _encode_shape(systems: Sequence[str]) -> alt.Shape:
    return alt.Shape("system:N", **_assign_styles(SHAPES, systems))


def _assign_styles(styles: Sequence[object], systems: Sequence[str]) -> dict[str, Any]:
    """Assign each system a style; a single system needs no legend, since the page names it."""
    assigned = [styles[index % len(styles)] for index in range(len(systems))]
    columns = 3 if max(map(len, systems), default=0) <= MAX_SHORT_NAME_CHARACTERS else 1
    legend = alt.Legend(columns=columns) if len(systems) > 1 else None
    return {"scale": alt.Scale(domain=list(systems), range=assigned), "legend": legend}


def _to_spec(chart: alt.LayerChart | alt.Chart) -> Spec:
    size = alt.AutoSizeParams(type="fit-x", contains="padding")
    return {**chart.properties(width="container", autosize=size).to_dict(), "config": CONFIG}


MAX_CATEGORIES = 20  # categories in a plot; its table has all
TIME_SHARES = tuple(at / 20 for at in range(1, 21))  # of the questions, in the order of their times
SLICE_TITLES = {
    "patterns": "Score by number of triple patterns",
    "form": "Score by form of the gold query",
    "tag": "Score by tag",
    "graph": "Score by graph",
}


@dataclass(frozen=True)
class ReportFigure:
    """A table and, optionally, the Vega-Lite plot of its figures."""

    title: str
    caption: str
    sheet: Sheet
    spec: Spec | None = None
    folded: bool = True  # whether the plot shows the same


@dataclass(frozen=True)
class ReportSection:
    """A titled group of figures."""

    title: str
    figures: tuple[ReportFigure, ...]


def build_sections(
    runs: Sequence[EvaluationRun], *, metric: str, with_times: bool
) -> tuple[ReportSection, ...]:
    """Build the sections of runs: scores, plots, tables; raise `SetupError` without the metric."""
    groups = group_runs(runs, metric=metric)
    builder = _FigureBuilder(groups, metric, len(runs) > 1)
    score_table, *further_tables = build_report_sheets(runs, metric=metric, with_times=with_times)
    sheets = {
        slicing: build_slice_sheet(runs, slicing, metric=metric)
        for slicing in (*SLICE_TITLES, "coverage", "confidence")
    }
    rows = [
        (*build_label(group), failure, count)
        for group in groups
        for failure, count in count_failures(group.report.records, group.report.metric).items()
    ]
    columns = (*LABEL_COLUMNS, SheetColumn("failure"), SheetColumn("answers", "count"))
    sheets["failures"] = Sheet("What went wrong", columns, tuple(rows))
    if with_times:
        sheets["times"] = _build_time_sheet(groups)
    benchmarks = dict.fromkeys(group.benchmark for group in groups)
    tables = tuple(
        ReportFigure(sheet.title, "", sheet.move_context_to_title(), folded=False)
        for sheet in further_tables
    )
    return (
        ReportSection("Scores", (builder.build_overview(score_table),)),
        *(
            ReportSection(
                benchmark or "In plots", tuple(builder.build_benchmark_figures(benchmark, sheets))
            )
            for benchmark in benchmarks
        ),
        ReportSection("Tables", tables),
    )


@dataclass(frozen=True)
class _FigureBuilder:
    groups: Sequence[RunGroup]
    metric: str
    has_several_runs: bool

    @property
    def systems(self) -> list[str]:
        """The names of all methods, in the order in which they get their colours."""
        return list(
            dict.fromkeys(self._get_system_name(group.run, group.method) for group in self.groups)
        )

    def build_overview(self, sheet: Sheet) -> ReportFigure:
        points = [
            self._build_dot(str(row["benchmark"] or "all questions"), system, row)
            for system, row in self._iterate_rows(sheet)
        ]
        return ReportFigure(
            f"F1, {self.metric}",
            "Mean over the answerable questions, whatever failed as 0, with its 95 % bootstrap "
            "interval.",
            sheet.move_context_to_title(),
            plot_dots(points, systems=self.systems, y=""),
            folded=False,
        )

    def build_benchmark_figures(
        self, benchmark: str, sheets: Mapping[str, Sheet]
    ) -> Iterator[ReportFigure]:
        """Yield the figures of one benchmark; slices with fewer than two values are skipped."""
        benchmark_sheets = {
            slicing: _select_benchmark(sheet, benchmark) for slicing, sheet in sheets.items()
        }
        if benchmark_sheets["failures"].rows:
            yield self._build_figure(
                "What went wrong",
                "Answers that are not wholly right, by the class of their failure.",
                benchmark_sheets["failures"],
                plot_bars,
                lambda row: {
                    "category": str(row["failure"]),
                    "count": int(_to_float(row["answers"])),
                },
                x="Answers",
                y="",
            )
        for slicing, title in SLICE_TITLES.items():
            sheet = benchmark_sheets[slicing]
            points = [
                self._build_dot(str(row[slicing]), system, row)
                for system, row in self._iterate_rows(sheet)
            ]
            sizes: dict[str, int] = {}
            for point in points:
                name = str(point["category"])
                sizes[name] = max(sizes.get(name, 0), int(point["n"]))
            if len(sizes) < 2:
                continue
            largest = set(sorted(sizes, key=lambda name: -sizes[name])[:MAX_CATEGORIES])
            note = (
                f" The {MAX_CATEGORIES} largest; the table has all."
                if len(sizes) > MAX_CATEGORIES
                else ""
            )
            yield ReportFigure(
                title,
                f"Mean F1 with its 95 % interval.{note}",
                sheet.move_context_to_title(),
                plot_dots(
                    [point for point in points if point["category"] in largest],
                    systems=self.systems,
                    y="Triple patterns" if slicing == "patterns" else "",
                ),
            )
        yield from self._build_line_figures(benchmark_sheets)

    def _build_line_figures(self, sheets: Mapping[str, Sheet]) -> Iterator[ReportFigure]:
        yield self._build_figure(
            "Risk and coverage",
            "Mean F1 of the most confident part of the answers, by the size of that part.",
            sheets["coverage"],
            plot_lines,
            lambda row: self._build_point(row, "most confident"),
            x="Coverage",
            y="Mean F1",
            has_points=True,
        )
        yield self._build_figure(
            "Calibration",
            "Mean F1 of answers of like confidence. On the dotted line both are the same.",
            sheets["confidence"],
            plot_lines,
            lambda row: self._build_point(row, "mean confidence") if row["answers"] else {},
            x="Confidence",
            y="Mean F1",
            has_points=True,
            has_diagonal=True,
        )
        if "times" in sheets:
            yield self._build_figure(
                "Time",
                "Share of the questions that were done within a time.",
                sheets["times"],
                plot_lines,
                lambda row: {
                    "x": max(0.001, _to_float(row["seconds"])),
                    "y": _to_float(row["done"]),
                },
                x="Seconds",
                y="Done",
                is_logarithmic=True,
            )

    def _build_figure(
        self,
        title: str,
        caption: str,
        sheet: Sheet,
        plot: Callable[..., Spec],
        build_point: Callable[[Mapping[str, Cell]], Point],
        **options: str | bool,
    ) -> ReportFigure:
        """Draw a point for each row of a table; rows with an empty point are left out."""
        rows = ((system, build_point(row)) for system, row in self._iterate_rows(sheet))
        points = [{"system": system, **point} for system, point in rows if point]
        spec = plot(points, systems=self.systems, **options)
        return ReportFigure(title, caption, sheet.move_context_to_title(), spec)

    def _build_point(self, row: Mapping[str, Cell], column: str) -> Point:
        return {"x": _to_float(row[column]), "y": _to_float(row[self.metric])}

    def _build_dot(self, category: str, system: str, row: Mapping[str, Cell]) -> Point:
        mean, low, high = (_to_float(row[name]) for name in (self.metric, "low", "high"))
        n = int(_to_float(row["questions"]))
        ends = {"mean": mean, "low": low, "high": high}
        return {"category": category, "system": system, **ends, "n": n}

    def _iterate_rows(self, sheet: Sheet) -> Iterator[tuple[str, Mapping[str, Cell]]]:
        heads = [column.head for column in sheet.columns]
        for cells in sheet.rows:
            row = dict(zip(heads, cells, strict=True))
            yield self._get_system_name(str(row["run"]), str(row["method"])), row

    def _get_system_name(self, run: str, method: str) -> str:
        return format_system_name(run, method, has_several_runs=self.has_several_runs)


def _select_benchmark(sheet: Sheet, benchmark: str) -> Sheet:
    column_index = [column.head for column in sheet.columns].index("benchmark")
    rows = tuple(row for row in sheet.rows if row[column_index] == benchmark)
    return Sheet(sheet.title, sheet.columns, rows)


def _build_time_sheet(groups: Sequence[RunGroup]) -> Sheet:
    rows = [
        (*build_label(group), share, compute_percentile(seconds, share))
        for group in groups
        for seconds in [[record.seconds for record in group.report.records]]
        for share in TIME_SHARES
    ]
    columns = (*LABEL_COLUMNS, SheetColumn("done", "share"), SheetColumn("seconds", "number"))
    return Sheet("Time", columns, tuple(rows))


def _to_float(cell: Cell) -> float:
    return float(cell) if isinstance(cell, int | float) else 0.0
