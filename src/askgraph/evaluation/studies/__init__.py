"""Studies that reproduce the tables of papers: settings of each row, published figures beside ours.

A paper is a file beside this module. Its `[metrics]` are ours with their heads, `[needs]` are the
requirements of some rows, and each `[[table]]` has rows: a method with its settings, the paper's
model, its source of examples, and the published figures in the order of `of`, the paper's
benchmarks.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from math import isnan
from pathlib import Path
from statistics import fmean, median
from typing import Any, Literal

from askgraph.errors import SetupError
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.reports import Interval, compute_bootstrap_interval
from askgraph.evaluation.reports.failures import count_record_rejections, sum_usage
from askgraph.evaluation.reports.report import Report
from askgraph.evaluation.reports.sheet import Cell, CellKind, Sheet, SheetColumn, build_columns
from askgraph.evaluation.runs import REJECTED_STATUSES, Record
from askgraph.evaluation.runs.scores import analyze_query
from askgraph.sparql.lexer import split_tokens
from askgraph.trace import Usage

PAPERS = ("grasp", "dfsl", "sparql-llm", "multi-stage", "text2sparql")

Measure = Literal[
    "answers", "cost", "rejection", "entities", "predicates",
    "retrieval", "indices", "modifiers", "hops",
]  # fmt: skip
"""The subject of a table; those of the second line ask no questions."""

_TABLES = tomllib.loads(Path(__file__).with_name("measures.toml").read_text("utf-8"))
HEADS_BY_MEASURE: Mapping[str, Mapping[str, str]] = _TABLES["heads"]
"""The metrics of a table with their heads; tables of answers use the paper's own."""

_KINDS_BY_METRIC: Mapping[str, CellKind] = _TABLES["kinds"]
_MEASURES_WITHOUT_QUESTIONS = ("retrieval", "indices", "modifiers", "hops")


@dataclass(frozen=True)
class PaperRow:
    """One row of a table: a method with settings, the paper's model, and the published figures.

    `learns` is "examples" (the nearest, or random), "fixed" ones, those of the "graph", or empty.
    `calls` are the minimum and maximum per question.
    """

    name: str
    method: str
    settings: Mapping[str, object] = field(default_factory=dict)
    model: str = ""
    learns: str = ""
    calls: tuple[int, int] = (0, 0)
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class PaperTable:
    """A table or figure of a paper; `of` are the paper's benchmarks, `heads` those of metrics."""

    name: str
    title: str
    measure: Measure
    benchmarks: tuple[str, ...]
    heads: Mapping[str, str]
    rows: tuple[PaperRow, ...]
    note: str = ""

    @property
    def asks_questions(self) -> bool:
        """Whether the table needs answers to questions."""
        return self.measure not in _MEASURES_WITHOUT_QUESTIONS


@dataclass(frozen=True)
class Paper:
    """A paper: its tables, and the requirements of its rows with how to meet them."""

    name: str
    title: str
    needs: Mapping[str, str]
    tables: tuple[PaperTable, ...]

    def select_tables(self, names: Sequence[str]) -> tuple[PaperTable, ...]:
        """Return the tables of some names, by default all; raise `SetupError` if one is unknown."""
        tables_by_name = {table.name: table for table in self.tables}
        for name in names:
            if name not in tables_by_name:
                raise SetupError(
                    f"{self.name} has no table {name!r}; available: {', '.join(tables_by_name)}"
                )
        return tuple(tables_by_name[name] for name in dict.fromkeys(names)) or self.tables


def read_paper(name: str) -> Paper:
    """Read one of `PAPERS`."""
    text = files("askgraph.evaluation.studies").joinpath(f"{name}.toml").read_text("utf-8")
    content = tomllib.loads(text)
    tables = tuple(_parse_table(content, entry) for entry in content["table"])
    return Paper(name, content["title"], content["needs"], tables)


def _parse_table(paper: Mapping[str, Any], entry: Mapping[str, Any]) -> PaperTable:
    measure: Measure = entry.get("measure", "answers")
    heads = HEADS_BY_MEASURE.get(measure, paper["metrics"])
    rows = tuple(_parse_row(paper, entry, heads, row) for row in entry["rows"])
    return PaperTable(
        entry["name"], entry["title"], measure, tuple(entry["of"]), heads, rows,
        entry.get("note", ""),
    )  # fmt: skip


def _parse_row(
    paper: Mapping[str, Any],
    table: Mapping[str, Any],
    heads: Mapping[str, str],
    entry: Mapping[str, Any],
) -> PaperRow:
    figures = entry.get("figures", {})
    if isinstance(figures, list):
        figures = {next(iter(heads)): figures}
    published = {
        metric: {
            name: float(value)
            for name, value in zip(table["of"], values, strict=True)
            if not isnan(value)
        }
        for metric, values in figures.items()
    }
    return PaperRow(
        name=entry["row"],
        method=entry.get("method", paper["method"]),
        settings={
            **(table.get("set", {}) if "method" not in entry else {}),
            **entry.get("set", {}),
        },
        model=entry.get("model", table.get("model", "")),
        learns=entry.get("learns", ""),
        calls=_parse_calls(paper, table, entry),
        published=published,
    )


def _parse_calls(*tables: Mapping[str, Any]) -> tuple[int, int]:
    """Return the minimum and maximum calls per question, from the last table that has them."""
    if tables[1].get("measure") in _MEASURES_WITHOUT_QUESTIONS:
        return 0, 0
    min_calls, max_calls = next(entry["calls"] for entry in reversed(tables) if "calls" in entry)
    return min_calls, max_calls


@dataclass(frozen=True)
class Measurement:
    """The figures of a row with one benchmark over one graph, by metric, and their cost."""

    graph: str
    benchmark: str
    questions: int
    figures: Mapping[str, Interval | None]
    usage: Usage = field(default_factory=Usage)
    failed: tuple[str, ...] = ()  # errors of questions that scored 0 since a service failed


@dataclass(frozen=True)
class MeasuredRow:
    """A row with its measurements, or the reason why there are none."""

    row: PaperRow
    measurements: tuple[Measurement, ...] = ()
    reason: str = ""
    model: str = ""  # our model, or the kind of an index
    run: str = ""  # the name of the run's folder


def measure_records(
    records: Sequence[Record],
    measure: Measure,
    heads: Mapping[str, str],
    shares: Mapping[str, float] | None = None,
) -> tuple[Measurement, ...]:
    """Return the figures of a run, by graph and benchmark.

    Intervals are 95 % bootstrap intervals over questions, whose repetitions are averaged first.

    Args:
        shares: For tables about linking, the F1 of each record by its key.
    """
    parts: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        parts.setdefault((record.graph, record.benchmark), []).append(record)
    return tuple(
        Measurement(
            graph, benchmark, len({record.id for record in group}),
            _compute_figures(group, measure, heads, shares or {}), sum_usage(group),
            tuple(record.error or "" for record in group if record.status == "error"),
        )
        for (graph, benchmark), group in parts.items()
    )  # fmt: skip


def _compute_figures(
    records: Sequence[Record],
    measure: Measure,
    heads: Mapping[str, str],
    shares: Mapping[str, float],
) -> dict[str, Interval | None]:
    match measure:
        case "answers":
            report = Report(tuple(records), next(iter(heads)))
            return {name: report.compute_interval(name) for name in heads}
        case "cost":
            usages = [record.usage for record in records]
            return {
                "median seconds": build_exact_interval(median(item.seconds for item in records)),
                "input": build_exact_interval(fmean(usage.input_tokens for usage in usages)),
                "output": build_exact_interval(fmean(usage.output_tokens for usage in usages)),
                "money": build_exact_interval(fmean(usage.money for usage in usages)),
            }
        case "rejection":
            rejected_by_right: dict[bool, list[float]] = {True: [], False: []}
            for record in records:
                usage = count_record_rejections([record], _RIGHT_METRIC)
                if usage.wrong or usage.right:
                    is_rejected = float(record.status in REJECTED_STATUSES)
                    rejected_by_right[bool(usage.right)].append(is_rejected)
            return {
                "caught": _compute_interval(rejected_by_right[False]),
                "lost": _compute_interval(rejected_by_right[True]),
            }
        case _:
            per_question: dict[str, list[float]] = {}
            for record in records:
                if record.key in shares:
                    per_question.setdefault(record.id, []).append(shares[record.key])
            return {measure: _compute_interval([fmean(values) for values in per_question.values()])}


_RIGHT_METRIC = "best_column"


def _compute_interval(values: Sequence[float]) -> Interval | None:
    return compute_bootstrap_interval(values) if values else None


def build_exact_interval(value: float) -> Interval:
    """Return a figure as an interval of width 0."""
    return Interval(value, value, value)


def count_modifier(questions: Iterable[GoldQuestion], word: str) -> dict[str, Interval | None]:
    """Count the gold queries with a modifier, such as `GROUP BY` (D'Abramo, table 5.1)."""
    padded_word = f" {word} "
    tokens = (split_tokens(question.sparql or "") for question in questions)
    texts = (" ".join(x.text.upper() for x in items if x.kind == "word") for items in tokens)
    return {"queries": build_exact_interval(sum(padded_word in f" {text} " for text in texts))}


def measure_hops(
    questions: Sequence[GoldQuestion], prefixes: Mapping[str, str]
) -> dict[str, Interval | None]:
    """Return the share of queries with several hops, and the mean, minimum and maximum hops.

    A hop is a triple pattern (Alekseev et al., table 1); unparsable queries are skipped.
    """
    numbers = [
        hops for question in questions if (hops := analyze_query(question.sparql, prefixes)[1])
    ]
    if not numbers:
        return dict.fromkeys(HEADS_BY_MEASURE["hops"])
    return {
        "multi-hop": _compute_interval([float(number > 1) for number in numbers]),
        "hops": _compute_interval([float(number) for number in numbers]),
        "fewest": build_exact_interval(min(numbers)),
        "most": build_exact_interval(max(numbers)),
    }


def build_paper_sheet(
    table: PaperTable, lines: Sequence[MeasuredRow], benchmarks: Sequence[str] = ()
) -> Sheet:
    """Build a table: our figures with intervals, the published ones, and the cost.

    The published figures are those of `benchmarks`, else of the benchmarks whose names occur in
    ours, else all. Notes list the rows that were not run, with the reason.
    """
    own_benchmarks = list(
        dict.fromkeys(measurement.benchmark for row in lines for measurement in row.measurements)
    )
    shown_names = list(benchmarks)
    for benchmark in () if benchmarks else map(_normalize_name, own_benchmarks):
        matches = [name for name in table.benchmarks if _normalize_name(name) in benchmark]
        shown_names += [max(matches, key=len)] if matches else []
    shown_names = shown_names or list(table.benchmarks)
    shown_benchmarks = tuple(name for name in table.benchmarks if name in shown_names)
    columns = [SheetColumn("graph", context=True), SheetColumn("benchmark", context=True)]
    columns += [SheetColumn("row"), SheetColumn("model"), SheetColumn("by", context=True)]
    columns += [SheetColumn("questions", "count")]
    for metric, head in table.heads.items():
        columns += _build_columns(table, metric, head, shown_benchmarks)
    if table.asks_questions:
        columns += [*build_columns("count", "calls", "tokens"), SheetColumn("seconds", "number")]
    rows = tuple(
        cells
        for row in lines
        for cells in (
            _build_cells(table, row, measurement, shown_benchmarks)
            for measurement in row.measurements or (None,)
        )
    )
    return Sheet(table.title, tuple(columns), rows, _build_notes(table, lines))


def _normalize_name(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _build_columns(
    table: PaperTable, metric: str, head: str, shown_benchmarks: Sequence[str]
) -> list[SheetColumn]:
    kind = _KINDS_BY_METRIC.get(metric, "share")
    has_several_metrics = len(table.heads) > 1
    columns = [SheetColumn(head, kind)]
    if _has_interval(table, metric):
        columns.append(SheetColumn(f"95 % of {head}" if has_several_metrics else "95 %"))
    prefix = f"published {head}" if has_several_metrics else "published"
    published = _get_published_benchmarks(table, metric, shown_benchmarks)
    if has_several_metrics and len(published) > 1:
        return [*columns, SheetColumn(prefix)]
    columns += [SheetColumn(f"{prefix} {name}", kind) for name in published]
    difference = prefix.replace("published", "difference")
    return [*columns, SheetColumn(difference, kind)] if len(published) == 1 else columns


def _get_published_benchmarks(
    table: PaperTable, metric: str, shown_benchmarks: Sequence[str]
) -> list[str]:
    published = {name for row in table.rows for name in row.published.get(metric, ())}
    return [name for name in shown_benchmarks if name in published]


def _has_interval(table: PaperTable, metric: str) -> bool:
    is_exact = table.measure in ("cost", "modifiers", "indices", "retrieval")
    return not is_exact and metric not in ("fewest", "most")


def _build_cells(
    table: PaperTable,
    line: MeasuredRow,
    measurement: Measurement | None,
    shown_benchmarks: Sequence[str],
) -> tuple[Cell, ...]:
    cells: list[Cell] = [measurement.graph, measurement.benchmark] if measurement else ["", ""]
    questions = measurement.questions if measurement else None
    cells += [line.row.name, line.row.model, line.model, questions]
    for metric in table.heads:
        kind = _KINDS_BY_METRIC.get(metric, "share")
        interval = measurement.figures.get(metric) if measurement else None
        cells.append(_to_number_cell(interval.mean, kind) if interval else None)
        if _has_interval(table, metric):
            cells.append(_format_interval(interval, kind) if interval else None)
        cells += _build_published_cells(table, line.row, metric, shown_benchmarks, interval)
    if table.asks_questions:
        cells += _build_cost_cells(measurement.usage) if measurement else (None, None, None)
    return tuple(cells)


def _build_cost_cells(usage: Usage) -> tuple[Cell, ...]:
    return usage.llm_calls, usage.input_tokens + usage.output_tokens, usage.seconds


def _build_published_cells(
    table: PaperTable,
    row: PaperRow,
    metric: str,
    shown_benchmarks: Sequence[str],
    interval: Interval | None,
) -> list[Cell]:
    """Return the cells of the published figures; a single figure is followed by our difference."""
    kind, figures = _KINDS_BY_METRIC.get(metric, "share"), row.published.get(metric, {})
    benchmarks = _get_published_benchmarks(table, metric, shown_benchmarks)
    if len(table.heads) > 1 and len(benchmarks) > 1:
        style = ",.0f" if kind == "count" else "g"
        texts = (f"{name} {figures[name]:{style}}" for name in benchmarks if name in figures)
        return [", ".join(texts)]
    divisor = 100 if kind == "share" else 1
    values = [None if name not in figures else figures[name] / divisor for name in benchmarks]
    if len(values) == 1:
        ours = interval.mean if interval else None
        values.append(None if ours is None or values[0] is None else ours - values[0])
    return [None if value is None else _to_number_cell(value, kind) for value in values]


def _to_number_cell(value: float, kind: CellKind) -> Cell:
    if kind == "text":
        return f"{value:.4f}"
    return round(value) if kind == "count" else value


def _format_interval(interval: Interval, kind: CellKind) -> str:
    if kind == "share":
        return f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"
    return f"{interval.low:.2f} to {interval.high:.2f}"


def _build_notes(table: PaperTable, lines: Sequence[MeasuredRow]) -> tuple[str, ...]:
    notes = [table.note] if table.note else []
    rows_by_reason: dict[str, list[str]] = {}
    for line in lines:
        if line.reason:
            row_name = f"{line.row.name} ({line.row.model})" if line.row.model else line.row.name
            rows_by_reason.setdefault(line.reason, []).append(row_name)
    notes += [f"Not run: {', '.join(rows)}: {reason}" for reason, rows in rows_by_reason.items()]
    errors_by_run = {
        line.run: [error for measurement in line.measurements for error in measurement.failed]
        for line in lines
    }
    notes += [
        f"{len(errors)} questions failed in {run} and scored 0, the first with {errors[0]}; take "
        "that folder away to ask them again"
        for run, errors in errors_by_run.items()
        if errors
    ]
    if {run for run, count in Counter(line.run for line in lines).items() if run and count > 1}:
        notes.append("Rows that differ in the paper's model alone are one run here, by one model.")
    return tuple(notes)


def load_published_representations() -> dict[int, dict[str, tuple[float, float]]]:
    """Return EM and F1 of the experiments of Henselmann et al. (2025), by number and tag."""
    text = files("askgraph.evaluation.studies").joinpath("representations.toml").read_text("utf-8")
    content = tomllib.loads(text)
    return {
        number: {
            tag: (em / 100, f1 / 100)
            for tag, em, f1 in zip(content["of"], row[::2], row[1::2], strict=True)
        }
        for number, row in enumerate(content["figures"], 1)
    }
