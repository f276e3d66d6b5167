"""The tables of papers: the settings that each row needs, and the published figures beside ours.

A paper is a file beside this one. Its `[metrics]` are ours with their heads, `[needs]` what a
person has to have for some rows, and each `[[table]]` has rows: a method with what it is set to,
the paper's model, what it learns from, and the published figures in the order of `of`, the paper's
benchmarks.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from math import isnan
from statistics import fmean, median
from typing import Any, Literal

from askgraph.errors import SetupError
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.reports.failures import rejection_of, usage_of
from askgraph.evaluation.reports.report import Report
from askgraph.evaluation.reports.sheet import Cell, Column, Kind, Sheet, columns_of
from askgraph.evaluation.reports.statistics import Interval, bootstrap_interval
from askgraph.evaluation.runs import REJECTED, Record
from askgraph.evaluation.runs.scores import form_and_patterns
from askgraph.sparql.lexer import tokens
from askgraph.trace import Usage

PAPERS = ("grasp", "dfsl", "sparql-llm", "multi-stage")

Measure = Literal[
    "answers", "cost", "rejection", "entities", "predicates",
    "retrieval", "indices", "modifiers", "hops",
]  # fmt: skip
"""What a table is about; for those of the second line no question is asked."""

HEADS: Mapping[str, Mapping[str, str]] = {
    "cost": {
        "median seconds": "median seconds", "input": "tokens in", "output": "tokens out",
        "money": "money",
    },
    "rejection": {"caught": "wrong rejected", "lost": "right rejected"},
    "entities": {"entities": "F1"},
    "predicates": {"predicates": "F1"},
    "retrieval": {
        f"{what} @{limit}": f"{what} @{limit}"
        for what in ("entities", "predicates")
        for limit in (10, 100)
    },
    "indices": {"items": "items", "bytes": "bytes"},
    "modifiers": {"queries": "queries"},
    "hops": {one: one for one in ("multi-hop", "hops", "fewest", "most")},
}  # fmt: skip
"""The metrics of a table with their heads; those of answers are the paper's own."""

_KINDS: Mapping[str, Kind] = {
    "median seconds": "number", "input": "count", "output": "count", "money": "text",
    "queries": "count", "hops": "number", "fewest": "count", "most": "count", "items": "count",
    "bytes": "count",
}  # fmt: skip
_ASKS_NOBODY = ("retrieval", "indices", "modifiers", "hops")


@dataclass(frozen=True)
class Row:
    """One row of a table: a method with settings, the paper's model, and what was published.

    It `learns` from "examples" (the nearest, or drawn), from "fixed" ones, from those of the
    "graph", or not at all. `calls` are the least and the most of a question.
    """

    name: str
    method: str
    settings: Mapping[str, object] = field(default_factory=dict)
    model: str = ""
    learns: str = ""
    calls: tuple[int, int] = (0, 0)
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """A table or figure of a paper; `of` are the paper's benchmarks, `heads` those of metrics."""

    name: str
    title: str
    measure: Measure
    of: tuple[str, ...]
    heads: Mapping[str, str]
    rows: tuple[Row, ...]
    note: str = ""

    @property
    def asks(self) -> bool:
        """Whether questions are asked for it."""
        return self.measure not in _ASKS_NOBODY


@dataclass(frozen=True)
class Paper:
    """A paper: its tables, and what its rows need by name, with how to come by it."""

    name: str
    title: str
    needs: Mapping[str, str]
    tables: tuple[Table, ...]

    def chosen(self, names: Sequence[str]) -> tuple[Table, ...]:
        """Return the tables of some names, all if there are none; `SetupError` for another."""
        there = {table.name: table for table in self.tables}
        for name in names:
            if name not in there:
                raise SetupError(f"{self.name} has no table {name!r}; there are {', '.join(there)}")
        return tuple(there[name] for name in dict.fromkeys(names)) or self.tables


def read_paper(name: str) -> Paper:
    """Return one of `PAPERS`."""
    text = files("askgraph.evaluation.studies").joinpath(f"{name}.toml").read_text("utf-8")
    content = tomllib.loads(text)
    tables = tuple(_table(content, one) for one in content["table"])
    return Paper(name, content["title"], content["needs"], tables)


def _table(paper: Mapping[str, Any], given: Mapping[str, Any]) -> Table:
    measure: Measure = given.get("measure", "answers")
    heads = HEADS.get(measure, paper["metrics"])
    rows = tuple(_row(paper, given, heads, one) for one in given["rows"])
    return Table(
        given["name"], given["title"], measure, tuple(given["of"]), heads, rows,
        given.get("note", ""),
    )  # fmt: skip


def _row(
    paper: Mapping[str, Any],
    table: Mapping[str, Any],
    heads: Mapping[str, str],
    given: Mapping[str, Any],
) -> Row:
    figures = given.get("figures", {})
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
    method = given.get("method", paper["method"])
    return Row(
        name=given["row"],
        method=method,
        settings={
            **(table.get("set", {}) if "method" not in given else {}),
            **given.get("set", {}),
        },
        model=given.get("model", table.get("model", "")),
        learns=given.get("learns", ""),
        calls=_calls(paper, table, given),
        published=published,
    )


def _calls(*tables: Mapping[str, Any]) -> tuple[int, int]:
    """The least and the most calls of a question, as the last of the tables has it that says so."""
    if tables[1].get("measure") in _ASKS_NOBODY:
        return 0, 0
    least, most = next(one["calls"] for one in reversed(tables) if "calls" in one)
    return least, most


@dataclass(frozen=True)
class Measured:
    """What was found for a row with one benchmark over one graph: figures by metric, and cost.

    `failed` are the errors of questions that scored 0 since the model or a service failed.
    """

    graph: str
    benchmark: str
    questions: int
    figures: Mapping[str, Interval | None]
    usage: Usage = field(default_factory=Usage)
    failed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """A row with what was found, or why nothing was.

    `by` is our model, or the kind of an index; `run` the name of the run's folder.
    """

    row: Row
    found: tuple[Measured, ...] = ()
    missing: str = ""
    by: str = ""
    run: str = ""


def measured(
    records: Sequence[Record],
    measure: Measure,
    heads: Mapping[str, str],
    shares: Mapping[str, float] | None = None,
) -> tuple[Measured, ...]:
    """Return the figures of a run, by graph and benchmark.

    `shares` are, for tables about linking, the F1 of each record by its key. Intervals are of 95 %,
    by bootstrap over questions, whose repetitions are averaged first.
    """
    parts: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        parts.setdefault((record.graph, record.benchmark), []).append(record)
    return tuple(
        Measured(
            graph, benchmark, len({one.id for one in own}),
            _figures(own, measure, heads, shares or {}), usage_of(own),
            tuple(one.error or "" for one in own if one.status == "error"),
        )
        for (graph, benchmark), own in parts.items()
    )  # fmt: skip


def _figures(
    records: Sequence[Record],
    measure: Measure,
    heads: Mapping[str, str],
    shares: Mapping[str, float],
) -> dict[str, Interval | None]:
    match measure:
        case "answers":
            report = Report(tuple(records), next(iter(heads)))
            return {name: report.interval(name) for name in heads}
        case "cost":
            usages = [record.usage for record in records]
            return {
                "median seconds": exact(median(record.seconds for record in records)),
                "input": exact(fmean(one.input_tokens for one in usages)),
                "output": exact(fmean(one.output_tokens for one in usages)),
                "money": exact(fmean(one.money for one in usages)),
            }
        case "rejection":
            kinds: dict[bool, list[float]] = {True: [], False: []}
            for record in records:
                one = rejection_of([record], _RIGHT)
                if one.wrong or one.right:
                    kinds[bool(one.right)].append(float(record.status in REJECTED))
            return {"caught": _interval(kinds[False]), "lost": _interval(kinds[True])}
        case _:
            per_question: dict[str, list[float]] = {}
            for record in records:
                if record.key in shares:
                    per_question.setdefault(record.id, []).append(shares[record.key])
            return {measure: _interval([fmean(ones) for ones in per_question.values()])}


_RIGHT = "best_column"


def _interval(values: Sequence[float]) -> Interval | None:
    return bootstrap_interval(values) if values else None


def exact(value: float) -> Interval:
    """Return a figure that has no interval."""
    return Interval(value, value, value)


def modifiers(questions: Iterable[GoldQuestion], word: str) -> dict[str, Interval | None]:
    """Return how many gold queries have a modifier, as `GROUP BY` (D'Abramo, table 5.1)."""
    wanted = f" {word} "
    count = sum(wanted in f" {' '.join(_words(one.sparql))} " for one in questions)
    return {"queries": exact(count)}


def _words(query: str | None) -> list[str]:
    return [one.text.upper() for one in tokens(query or "") if one.kind == "word"]


def hops(
    questions: Sequence[GoldQuestion], prefixes: Mapping[str, str]
) -> dict[str, Interval | None]:
    """Return the share of queries with several hops, and the mean, the least and the most.

    A hop is a triple pattern (Alekseev et al., table 1); queries that cannot be read are left out.
    """
    numbers = [n for one in questions if (n := form_and_patterns(one.sparql, prefixes)[1])]
    if not numbers:
        return dict.fromkeys(HEADS["hops"])
    return {
        "multi-hop": _interval([float(number > 1) for number in numbers]),
        "hops": _interval([float(number) for number in numbers]),
        "fewest": exact(min(numbers)),
        "most": exact(max(numbers)),
    }


def paper_sheet(table: Table, lines: Sequence[Line], alike: Sequence[str] = ()) -> Sheet:
    """Return a table: our figures with their intervals, the published ones beside, and the cost.

    Published are those of the benchmarks `alike`, else of those that the names of ours hold, else
    all. What was not run stands in the notes, with why.
    """
    asked = list(dict.fromkeys(one.benchmark for line in lines for one in line.found))
    if alike:
        shown = tuple(name for name in table.of if name in alike)
    else:
        named = [
            max(found, key=len)
            for one in asked
            if (found := [name for name in table.of if _plain(name) in _plain(one)])
        ]
        shown = tuple(name for name in table.of if name in named) or table.of
    columns = [Column("graph", context=True), Column("benchmark", context=True)]
    columns += [Column("row"), Column("model"), Column("by", context=True)]
    columns += [Column("questions", "count")]
    for metric, head in table.heads.items():
        columns += _columns(table, metric, head, shown)
    if table.asks:
        columns += [*columns_of("count", "calls", "tokens"), Column("seconds", "number")]
    rows = tuple(
        cells
        for line in lines
        for cells in (_cells(table, line, one, shown) for one in line.found or (None,))
    )
    return Sheet(table.title, tuple(columns), rows, _notes(table, lines))


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _columns(table: Table, metric: str, head: str, shown: Sequence[str]) -> list[Column]:
    kind = _KINDS.get(metric, "share")
    several = len(table.heads) > 1
    columns = [Column(head, kind)]
    if _ranges(table, metric):
        columns.append(Column(f"95 % of {head}" if several else "95 %"))
    of, theirs = f"published {head}" if several else "published", _theirs(table, metric, shown)
    if several and len(theirs) > 1:
        return [*columns, Column(of)]
    return [*columns, *(Column(f"{of} {name}", kind) for name in theirs)]


def _theirs(table: Table, metric: str, shown: Sequence[str]) -> list[str]:
    """The benchmarks for which a metric was published, of those that are shown."""
    published = {name for row in table.rows for name in row.published.get(metric, ())}
    return [name for name in shown if name in published]


def _ranges(table: Table, metric: str) -> bool:
    exact = table.measure in ("cost", "modifiers", "indices", "retrieval")
    return not exact and metric not in ("fewest", "most")


def _cells(
    table: Table, line: Line, one: Measured | None, shown: Sequence[str]
) -> tuple[Cell, ...]:
    cells: list[Cell] = [one.graph, one.benchmark] if one else ["", ""]
    cells += [line.row.name, line.row.model, line.by, one.questions if one else None]
    for metric in table.heads:
        kind = _KINDS.get(metric, "share")
        found = one.figures.get(metric) if one else None
        cells.append(_number(found.mean, kind) if found else None)
        if _ranges(table, metric):
            cells.append(_range(found, kind) if found else None)
        cells += _published(table, line.row, metric, shown)
    if table.asks:
        cells += _costs(one.usage) if one else (None, None, None)
    return tuple(cells)


def _costs(usage: Usage) -> tuple[Cell, ...]:
    return usage.llm_calls, usage.input_tokens + usage.output_tokens, usage.seconds


def _published(table: Table, row: Row, metric: str, shown: Sequence[str]) -> list[Cell]:
    """The published figures of a metric: a cell each, all in one if there are several metrics."""
    kind, figures = _KINDS.get(metric, "share"), row.published.get(metric, {})
    theirs = _theirs(table, metric, shown)
    if len(table.heads) > 1 and len(theirs) > 1:
        told = (f"{name} {_told(figures[name], kind)}" for name in theirs if name in figures)
        return [", ".join(told)]
    values = [figures.get(name) for name in theirs]
    whole = 100 if kind == "share" else 1
    return [None if value is None else _number(value / whole, kind) for value in values]


def _told(value: float, kind: Kind) -> str:
    return f"{value:,.0f}" if kind == "count" else f"{value:g}"


def _number(value: float, kind: Kind) -> Cell:
    if kind == "text":
        return f"{value:.4f}"
    return round(value) if kind == "count" else value


def _range(found: Interval, kind: Kind) -> str:
    if kind == "share":
        return f"{100 * found.low:.1f} to {100 * found.high:.1f}"
    return f"{found.low:.2f} to {found.high:.2f}"


def _notes(table: Table, lines: Sequence[Line]) -> tuple[str, ...]:
    notes = [table.note] if table.note else []
    why: dict[str, list[str]] = {}
    for line in lines:
        if line.missing:
            named = f"{line.row.name} ({line.row.model})" if line.row.model else line.row.name
            why.setdefault(line.missing, []).append(named)
    notes += [f"Not run: {', '.join(rows)}: {reason}" for reason, rows in why.items()]
    failed = {line.run: [error for one in line.found for error in one.failed] for line in lines}
    notes += [
        f"{len(errors)} questions failed in {run} and scored 0, the first with {errors[0]}; take "
        "that folder away to ask them again"
        for run, errors in failed.items()
        if errors
    ]
    shared = {line.run for line in lines if line.run and _twice(lines, line)}
    if shared:
        notes.append("Rows that differ in the paper's model alone are one run here, by one model.")
    return tuple(notes)


def _twice(lines: Sequence[Line], line: Line) -> bool:
    return sum(line.run == other.run for other in lines) > 1


def published_representations() -> dict[int, dict[str, tuple[float, float]]]:
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
