"""Comparison of two systems on the same questions: difference, significance, changed questions.

Also the disagreement of metrics on small predictions that are each wrong in one way.
"""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

from pyoxigraph import Literal, NamedNode

from askgraph import plugins
from askgraph.errors import SetupError
from askgraph.evaluation import Metric, ResultTable, Score
from askgraph.evaluation.reports import Difference, compare_paired, correct_holm, report
from askgraph.evaluation.reports.sheet import Cell, Sheet, SheetColumn, build_columns, parse_columns
from askgraph.evaluation.runs import EvaluationRun, Record
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.results import SelectResult

SCORE_TOLERANCE = 1e-9
MAX_NAMED_QUESTIONS = 3  # questions that an error names


@dataclass(frozen=True)
class ComparisonSide:
    """One of the two systems: its name, its run, and the records of one method of that run."""

    name: str
    run: EvaluationRun
    records: tuple[Record, ...]


@dataclass(frozen=True)
class ComparisonPart:
    """The comparison on some questions; `p_corrected` covers all parts of a kind (Holm)."""

    name: str
    difference: Difference
    p_corrected: float


@dataclass(frozen=True)
class ScoreChange:
    """A question that got better or worse: both scores, and the records of the first round."""

    a: Record
    b: Record
    score_a: float
    score_b: float


@dataclass(frozen=True)
class Comparison:
    """The advantage of `b` over `a` by a metric, on answerable questions asked of both."""

    a: ComparisonSide
    b: ComparisonSide
    metric: str
    all: Difference  # difference on the answerable questions
    unanswerable: Difference  # difference in refusals on the unanswerable questions
    only_a: tuple[str, ...]  # keys of questions that `b` lacks
    only_b: tuple[str, ...]  # keys of questions that `a` lacks
    better: tuple[ScoreChange, ...]  # improved questions, the largest change first
    worse: tuple[ScoreChange, ...]  # worsened questions, the largest change first
    parts: Mapping[str, tuple[ComparisonPart, ...]]
    warnings: tuple[str, ...]


def select_side(run: EvaluationRun, *, method: str | None = None) -> ComparisonSide:
    """Return the records of one method of a run; raise `SetupError` if absent or ambiguous."""
    methods = sorted({record.method for record in run.records})
    if not methods:
        raise SetupError(f"{run.name} has no records yet")
    if method is None and len(methods) > 1:
        raise SetupError(
            f"{run.name} has several methods; name one, as in {run.name}:{methods[0]}; "
            f"available: {', '.join(methods)}"
        )
    if method is not None and method not in methods:
        raise SetupError(f"{run.name} has no method {method!r}; available: {', '.join(methods)}")
    records = tuple(record for record in run.records if method in (None, record.method))
    return ComparisonSide(f"{run.name}:{method}" if method else run.name, run, records)


def compare_sides(
    a: ComparisonSide, b: ComparisonSide, *, metric: str = report.DEFAULT_METRIC
) -> Comparison:
    """Compare two sides on the questions asked of both; repetitions are averaged first.

    Raises:
        SetupError: The sides share no question, gold differs, or a record lacks the metric.
    """
    records_a, records_b = _group_by_question(a, metric), _group_by_question(b, metric)
    common = sorted(records_a.keys() & records_b.keys())
    if not common:
        raise SetupError(
            f"{a.name} and {b.name} have no question in common "
            f"({len(records_a)} and {len(records_b)}, by benchmark and id)"
        )
    ids = [
        first.id
        for first, second in [(records_a[key][0], records_b[key][0]) for key in common]
        if (first.gold_sparql, first.unanswerable) != (second.gold_sparql, second.unanswerable)
    ]
    if ids:
        suffix = (
            f" and {len(ids) - MAX_NAMED_QUESTIONS} more" if len(ids) > MAX_NAMED_QUESTIONS else ""
        )
        raise SetupError(
            f"{a.name} and {b.name} were scored against different gold, on "
            f"{', '.join(map(repr, ids[:MAX_NAMED_QUESTIONS]))}{suffix}: run one "
            "of them again"
        )
    answerable_keys = [key for key in common if not records_a[key][0].unanswerable]
    unanswerable_keys = [key for key in common if records_a[key][0].unanswerable]
    changes = [
        ScoreChange(a[0], b[0], _compute_mean_score(a, metric), _compute_mean_score(b, metric))
        for a, b in ((records_a[key], records_b[key]) for key in answerable_keys)
    ]
    return Comparison(
        a=a,
        b=b,
        metric=metric,
        all=_compute_difference(records_a, records_b, answerable_keys, metric),
        unanswerable=_compute_difference(records_a, records_b, unanswerable_keys, metric),
        only_a=tuple(sorted(records_a.keys() - records_b.keys())),
        only_b=tuple(sorted(records_b.keys() - records_a.keys())),
        better=_sort_changes(
            change for change in changes if change.score_b > change.score_a + SCORE_TOLERANCE
        ),
        worse=_sort_changes(
            change for change in changes if change.score_b < change.score_a - SCORE_TOLERANCE
        ),
        parts={
            slicing: _compare_parts(records_a, records_b, answerable_keys, metric, slicing)
            for slicing in ("tag", "patterns", "form", "graph")
        },
        warnings=tuple(dict.fromkeys(_find_warnings(a, b))),
    )


RecordsByQuestion = Mapping[str, Sequence[Record]]


def _group_by_question(side: ComparisonSide, metric: str) -> dict[str, list[Record]]:
    """Return the records of each question, sorted by round, keyed by benchmark and id."""
    groups: dict[str, list[Record]] = {}
    for record in sorted(side.records, key=lambda record: record.repeat):
        if metric not in record.scores:
            raise SetupError(
                f"{side.name} has no score of the metric {metric!r} on {record.id!r}; "
                f"available: {', '.join(sorted(record.scores)) or 'none'}"
            )
        groups.setdefault(f"{record.benchmark}\t{record.id}", []).append(record)
    return groups


def _compute_mean_score(records: Sequence[Record], metric: str) -> float:
    return fmean(record.get_score(metric).f1 for record in records)


def _compute_difference(
    a: RecordsByQuestion, b: RecordsByQuestion, keys: Sequence[str], metric: str
) -> Difference:
    return compare_paired(
        {key: _compute_mean_score(a[key], metric) for key in keys},
        {key: _compute_mean_score(b[key], metric) for key in keys},
    )


def _sort_changes(changes: Iterable[ScoreChange]) -> tuple[ScoreChange, ...]:
    def get_sort_key(change: ScoreChange) -> tuple[float, str, str]:
        return -abs(change.score_b - change.score_a), change.a.benchmark, change.a.id

    return tuple(sorted(changes, key=get_sort_key))


def _compare_parts(
    a: RecordsByQuestion, b: RecordsByQuestion, keys: Sequence[str], metric: str, slicing: str
) -> tuple[ComparisonPart, ...]:
    get_slices: Callable[[Record, str], Iterable[str]] = report.SLICES[slicing]
    keys_by_slice: dict[str, list[str]] = {}
    for key in keys:
        for name in dict.fromkeys(get_slices(a[key][0], metric)):
            keys_by_slice.setdefault(name, []).append(key)
    names = sorted(keys_by_slice, key=report.get_slice_sort_key)
    differences = [_compute_difference(a, b, keys_by_slice[name], metric) for name in names]
    corrected = correct_holm([difference.p for difference in differences])
    return tuple(map(ComparisonPart, names, differences, corrected))


def _find_warnings(a: ComparisonSide, b: ComparisonSide) -> Iterable[str]:
    for side in (a, b):
        if not side.run.is_complete:
            yield (
                f"INCOMPLETE: {side.run.name} holds {len(side.run.records)} of "
                f"{side.run.planned_count}"
            )
    linked = [side.name for side in (a, b) if any(record.gold_links for record in side.records)]
    if len(linked) == 1:
        yield (f"{linked[0]} was told the entities and relations of gold, and the other was not")
    snapshots_a, snapshots_b = _get_snapshots(a.run), _get_snapshots(b.run)
    for graph in sorted(snapshots_a.keys() & snapshots_b.keys()):
        if snapshots_a[graph] != snapshots_b[graph]:
            yield (
                f"the graph {graph!r} changed between the runs "
                f"({snapshots_a[graph]} in {a.run.name}, {snapshots_b[graph]} in {b.run.name})"
            )


def _get_snapshots(run: EvaluationRun) -> dict[str, str]:
    graphs = run.settings.get("graphs")
    if not isinstance(graphs, list | tuple):
        return {}
    return {
        str(entry.get("name")): str(entry.get("snapshot"))
        for entry in graphs
        if isinstance(entry, Mapping)
    }


Json = dict[str, object]

DIFFERENCE_COLUMNS = parse_columns(
    "n: count; A, B, difference, low, high: share; better, worse, equal: count"
)


def build_comparison_sheets(
    comparison: Comparison, *, max_questions: int = 10
) -> tuple[Sheet, ...]:
    """Build the tables of a comparison; each list shows at most `max_questions` questions."""
    parts = (
        _build_part_sheet(comparison, slicing)
        for slicing, slice_parts in comparison.parts.items()
        if len(slice_parts) > 1
    )
    changes = (
        _build_change_sheet(comparison, "Better", comparison.better, max_questions),
        _build_change_sheet(comparison, "Worse", comparison.worse, max_questions),
    )
    return (_build_overall_sheet(comparison), *parts, *(sheet for sheet in changes if sheet.rows))


def to_comparison_object(comparison: Comparison) -> Json:
    """Return a comparison as a JSON object; scores and differences are fractions."""
    return {
        "a": comparison.a.name,
        "b": comparison.b.name,
        "metric": comparison.metric,
        "all": _to_difference_object(comparison.all),
        "unanswerable": _to_difference_object(comparison.unanswerable),
        "only_a": [_to_question_object(key) for key in comparison.only_a],
        "only_b": [_to_question_object(key) for key in comparison.only_b],
        **{
            f"by_{slicing}": {
                part.name: {
                    **_to_difference_object(part.difference),
                    "p_corrected": round(part.p_corrected, 6),
                }
                for part in parts
            }
            for slicing, parts in comparison.parts.items()
        },
        "better": [_to_change_object(change) for change in comparison.better],
        "worse": [_to_change_object(change) for change in comparison.worse],
        "warnings": list(comparison.warnings),
    }


def _build_overall_sheet(comparison: Comparison) -> Sheet:
    rows = [("all", *_build_cells(comparison.all), comparison.all.p)]
    if comparison.unanswerable.n:
        rows.append(
            ("unanswerable", *_build_cells(comparison.unanswerable), comparison.unanswerable.p)
        )
    notes = (
        *comparison.warnings,
        f"A is {comparison.a.name}, B is {comparison.b.name}; difference: B - A, with its 95 "
        "% interval.",
        "p: permutation test on the paired differences, two-sided.",
        f"Only in A: {_format_question_count(comparison.only_a)}; only in B: "
        f"{len(comparison.only_b)}; left out here.",
    )
    columns = (SheetColumn("questions of"), *DIFFERENCE_COLUMNS, SheetColumn("p", "p"))
    return Sheet(f"B against A, {comparison.metric}", columns, tuple(rows), notes)


def _format_question_count(questions: Sequence[object]) -> str:
    return f"{len(questions)} question{'' if len(questions) == 1 else 's'}"


def _build_part_sheet(comparison: Comparison, slicing: str) -> Sheet:
    rows = [
        (part.name, *_build_cells(part.difference), part.difference.p, part.p_corrected)
        for part in comparison.parts[slicing]
    ]
    columns = (SheetColumn(slicing), *DIFFERENCE_COLUMNS, *parse_columns("p, p (Holm): p"))
    return Sheet(f"B against A by {slicing}, {comparison.metric}", columns, tuple(rows))


def _build_cells(difference: Difference) -> tuple[Cell, ...]:
    interval = difference.difference
    means = (difference.n, difference.a, difference.b, interval.mean, interval.low, interval.high)
    return (*means, difference.better, difference.worse, difference.equal)


def _build_change_sheet(
    comparison: Comparison, title: str, changes: Sequence[ScoreChange], max_questions: int
) -> Sheet:
    """Build a table with two rows per question, one for each side, and one for gold."""
    rows: list[tuple[Cell, ...]] = []
    for change in changes[:max_questions]:
        gold = change.a.gold_sparql
        sides = (("A", change.score_a, change.a), ("B", change.score_b, change.b))
        for name, score, record in sides:
            query = report.strip_prefixes(record.sparql) if record.sparql else record.error
            rows.append((record.id, record.question, name, score, record.status, query))
        if gold is not None:
            rows.append(
                (change.a.id, change.a.question, "gold", None, None, report.strip_prefixes(gold))
            )
    hidden_count = len(changes) - max_questions
    notes = (f"{hidden_count} more are not shown.",) if hidden_count > 0 else ()
    columns = (
        *build_columns("text", "id", "question", "of"),
        SheetColumn(comparison.metric, "share"),
        *build_columns("text", "status", "query"),
    )
    return Sheet(f"{title} in B: {_format_question_count(changes)}", columns, tuple(rows), notes)


def _to_difference_object(difference: Difference) -> Json:
    interval = difference.difference
    ends = {"difference": interval.mean, "low": interval.low, "high": interval.high}
    return {name: round(value, 6) for name, value in (asdict(difference) | ends).items()}


def _to_question_object(key: str) -> Json:
    benchmark, _, identity = key.partition("\t")
    return {"benchmark": benchmark, "id": identity}


def _to_change_object(change: ScoreChange) -> Json:
    return {
        "benchmark": change.a.benchmark,
        "id": change.a.id,
        "question": change.a.question,
        "a": round(change.score_a, 6),
        "b": round(change.score_b, 6),
        "sparql_a": change.a.sparql,
        "sparql_b": change.b.sparql,
        "gold_sparql": change.a.gold_sparql,
    }


@dataclass(frozen=True)
class MetricExample:
    """A predicted and a gold table, and a name that describes their difference."""

    name: str
    predicted: ResultTable
    gold: ResultTable


def score_examples(
    metrics: Sequence[str] | None = None,
) -> tuple[tuple[MetricExample, Mapping[str, Score]], ...]:
    """Score examples with some or all metrics; raise `SetupError` if a metric cannot be loaded."""
    names = plugins.list_names("metric") if metrics is None else metrics
    loaded: dict[str, Metric] = {name: plugins.load("metric", name) for name in names}
    return tuple(
        (x, {name: metric(x.predicted, x.gold) for name, metric in loaded.items()})
        for x in EXAMPLES
    )


_NUMBERED_ROW_COUNT = 1_025


def _parse_term(cell: str) -> NamedNode | Literal:
    value, _, datatype = cell.partition("^^")
    if datatype:
        return Literal(value, datatype=NamedNode(voc.XSD + datatype))
    value, _, language = cell.partition("@")
    if language:
        return Literal(value, language=language)
    return NamedNode(f"https://example.org/space/{value}")


def _build_table(rows: Sequence[Sequence[str]]) -> ResultTable:
    variables = tuple(f"v{index}" for index in range(len(rows[0]) if rows else 1))
    terms = tuple(tuple(map(_parse_term, row)) for row in rows)
    return ResultTable.from_result(SelectResult(variables, terms))


def _read_examples() -> tuple[MetricExample, ...]:
    content = tomllib.loads(Path(__file__).with_name("metric_examples.toml").read_text("utf-8"))
    numbers = range(_NUMBERED_ROW_COUNT)
    rows = content["tables"] | {
        name: [[cell.format(number=number) for cell in row] for number in numbers]
        for name, row in content["numbered"].items()
    }
    tables: dict[str | bool, ResultTable] = {
        name: _build_table(table_rows) for name, table_rows in rows.items()
    }
    tables |= {value: ResultTable.from_boolean(value) for value in (True, False)}
    return tuple(
        MetricExample(name, tables[predicted], tables[gold])
        for name, predicted, gold in content["examples"]
    )


EXAMPLES = _read_examples()
"""The name of each example describes what is right and wrong with its prediction."""
