"""Figures of the HTML page: the tables of a report, and Vega-Lite plots of their numbers.

Text and axes inherit the colour of the page's text, so that one plot fits light, dark and paper.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

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
STYLES: Mapping[str, Sequence[object]] = {
    "colours": ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"),
    "shapes": ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross"),
    "dashes": ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3]),
}
ROW_HEIGHT_SIZE, PLOT_HEIGHT_SIZE = 20, 240  # pixels
MAX_SHORT_NAME_CHARACTERS = 14  # three such names fit side by side on a small screen

PLOTS: Mapping[str, Any] = json.loads(
    files("askgraph.evaluation.reports").joinpath("plots.json").read_text("utf-8")
)
"""Vega-Lite plots with their titles; a text that begins with `$` stands for a value."""


Point = Mapping[str, str | float]
"""One mark of a plot, keyed by the field names of the encodings."""


def draw_plot(name: str, points: Sequence[Point], systems: Sequence[str], *, y: str = "") -> Spec:
    """Draw one of `PLOTS`, with a style for each system.

    A single system needs no legend, since the page names it.

    Args:
        points: For `dots` with `category`, `system`, `mean`, `low`, `high` and `n`, the number of
            questions; for `failures` with `category`, `system` and `count`; for others with
            `system`, `x` and `y`. Categories keep the order of the points.
        y: The title of the axis, if the plot has no own.
    """
    plot: Mapping[str, Any] = PLOTS[name]
    categories = list(dict.fromkeys(point["category"] for point in points if "category" in point))
    height: float = PLOT_HEIGHT_SIZE
    if "rows" in plot:
        min_rows, rows_per_system = plot["rows"]
        rows = max(min_rows, rows_per_system * len(systems) + 0.6)
        height = len(categories) * rows * ROW_HEIGHT_SIZE
    columns = 3 if max(map(len, systems), default=0) <= MAX_SHORT_NAME_CHARACTERS else 1
    values = {"y": y, **PLOTS["parts"], **plot.get("values", {}), "categories": categories}
    values |= {
        f"{axis}_word": values[axis].lower() or "of" for axis in ("x", "y") if axis in values
    }
    values |= {"systems": systems, "legend": {"columns": columns} if len(systems) > 1 else None}
    for kind, styles in STYLES.items():
        values[kind] = [styles[index % len(styles)] for index in range(len(systems))]
    values["y"] = values["y"] or None
    filled: Spec = _fill_values(plot["plot"], values)
    return {**PLOTS["frame"], "data": {"values": list(points)}, "height": height, **filled}


def _fill_values(part: object, values: Mapping[str, object]) -> Any:
    match part:
        case "$systems" | "$categories":  # texts of the data are no names of values
            return values[part[1:]]
        case str() if part.startswith("$"):
            return _fill_values(values[part[1:]], values)
        case dict():
            return {key: _fill_values(item, values) for key, item in part.items()}
        case list() | tuple():
            return [_fill_values(item, values) for item in part]
        case _:
            return part


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
            draw_plot("dots", points, self.systems),
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
                "failures",
                benchmark_sheets["failures"],
                lambda row: {
                    "category": str(row["failure"]),
                    "count": int(_to_float(row["answers"])),
                },
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
                draw_plot(
                    "dots",
                    [point for point in points if point["category"] in largest],
                    self.systems,
                    y="Triple patterns" if slicing == "patterns" else "",
                ),
            )
        yield self._build_figure(
            "coverage",
            benchmark_sheets["coverage"],
            lambda row: self._build_point(row, "most confident"),
        )
        yield self._build_figure(
            "calibration",
            benchmark_sheets["confidence"],
            lambda row: self._build_point(row, "mean confidence") if row["answers"] else {},
        )
        if "times" in benchmark_sheets:
            yield self._build_figure(
                "times",
                benchmark_sheets["times"],
                lambda row: {
                    "x": max(0.001, _to_float(row["seconds"])),
                    "y": _to_float(row["done"]),
                },
            )

    def _build_figure(
        self, name: str, sheet: Sheet, build_point: Callable[[Mapping[str, Cell]], Point]
    ) -> ReportFigure:
        """Draw a point for each row of a table; rows with an empty point are left out."""
        rows = ((system, build_point(row)) for system, row in self._iterate_rows(sheet))
        points = [{"system": system, **point} for system, point in rows if point]
        title, caption = PLOTS[name]["title"], PLOTS[name]["caption"]
        spec = draw_plot(name, points, self.systems)
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
