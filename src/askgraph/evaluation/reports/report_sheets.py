"""Tables of a report on runs, tables by slice, and a description of one question."""

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any

from askgraph.evaluation.reports import compute_bootstrap_interval, compute_kappa, confidence
from askgraph.evaluation.reports.failures import (
    Failure,
    compute_drafts_oracle,
    compute_record_calibration,
    count_executable,
    count_failures,
    count_record_rejections,
    group_errors,
    sum_usage,
)
from askgraph.evaluation.reports.report import (
    ANSWERED_COLUMNS,
    DEFAULT_METRIC,
    INTERVAL_COLUMNS,
    LABEL_COLUMNS,
    SLICES,
    Row,
    RunGroup,
    build_interval_cells,
    build_label,
    compute_method_oracles,
    compute_percentile,
    count_answered,
    describe_incomplete,
    group_runs,
    strip_prefixes,
)
from askgraph.evaluation.reports.sheet import Sheet, SheetColumn, build_columns, parse_columns
from askgraph.evaluation.runs import GOLD_LINKS_MARK, EvaluationRun, QuestionDetail, Record
from askgraph.evaluation.runs.scores import JUDGE_METRIC

FURTHER_METRICS = ("exact_match", "flattened", "rows")  # metrics beside the main one
MAX_DRAFTS = 3  # drafts to list for one question
MAX_ERROR_CHARACTERS = 200  # characters of an error that a table shows
MAX_ROUNDING_DIFFERENCE = 0.0005  # between a score and the published one
MAX_NAMED_IDS = 5  # questions that a table names for an error

ROUNDS_NOTE = "Answered and failed count every round; sd is that of the mean, over rounds."
GOLD_LINKS_NOTE = (
    f"{GOLD_LINKS_MARK}: entities and relations were given from gold; compare with no other."
)
ABSTAIN_NOTE = (
    "what was refused or asked back scores 0 in {run}, so no right answer can be seen lost"
)


def build_report_sheets(
    runs: Sequence[EvaluationRun], *, metric: str = DEFAULT_METRIC, with_times: bool = True
) -> tuple[Sheet, ...]:
    """Build the tables of a report; without `with_times` nothing in them depends on the clock.

    Raises:
        SetupError: A record lacks the metric.
    """
    groups = group_runs(runs, metric=metric)
    sheets = (
        build_score_sheet(runs, metric=metric),
        build_slice_sheet(runs, "metric", metric=metric),
        _build_failure_sheet(groups),
        _build_error_sheet(groups),
        _build_confidence_sheet(runs, groups),
        _build_judge_sheet(groups),
        _build_oracle_sheet(groups, metric),
        _build_cost_sheet(groups, with_times=with_times),
    )
    return tuple(sheet for sheet in sheets if sheet.rows or sheet.notes)


def build_score_sheet(runs: Sequence[EvaluationRun], *, metric: str = DEFAULT_METRIC) -> Sheet:
    """Build the table of mean scores: a row for each benchmark and method of each run."""
    groups = group_runs(runs, metric=metric)
    metrics = {name for group in groups for name in group.report.metrics}
    further = [name for name in FURTHER_METRICS if name in metrics - {metric}]
    deviations = [group.report.compute_deviation() for group in groups]
    is_repeated = any(deviation is not None for deviation in deviations)
    rows = []
    for group, deviation in zip(groups, deviations, strict=True):
        report = group.report
        row: Row = (*build_label(group), len(report.score_by_question()), *count_answered(report))
        row += build_interval_cells(report)
        row += (len(report.rounds), deviation) if is_repeated else ()
        available = report.metrics if report.answerable else ()
        rows.append(
            (*row, *(report.compute_mean(name) if name in available else None for name in further))
        )
    columns = (
        *LABEL_COLUMNS,
        SheetColumn("questions", "count"),
        *ANSWERED_COLUMNS,
        SheetColumn(metric, "share"),
        *INTERVAL_COLUMNS,
        *((SheetColumn("rounds", "count"), SheetColumn("sd", "share")) if is_repeated else ()),
        *(SheetColumn(name, "share") for name in further),
    )
    notes = (
        *describe_incomplete(runs),
        f"Mean F1 over questions in per cent; low and high: 95 % interval of {metric}.",
        *([ROUNDS_NOTE] if is_repeated else []),
        *(
            [GOLD_LINKS_NOTE]
            if any(record.gold_links for run in runs for record in run.records)
            else []
        ),
        *(
            f"{group.run}, {group.benchmark}, {group.method}: of {count} unanswerable "
            f"questions {group.report.correct_refusal_count} were refused or asked back; "
            "they are in no mean."
            for group in groups
            if (count := len(group.report.unanswerable))
        ),
    )
    title = "Scores, INCOMPLETE" if describe_incomplete(runs) else "Scores"
    return Sheet(title, columns, tuple(rows), notes)


def build_published_sheet(
    run: EvaluationRun,
    published: Mapping[tuple[str, int, str], float],
    *,
    metric: str = DEFAULT_METRIC,
) -> Sheet:
    """Build a table of our F1 and the published one, by method and language, with the difference.

    Args:
        published: The published F1 by method, repeat and question; other questions are left out.
    """
    figures: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for record in run.records:
        if (figure := published.get((record.method, record.repeat, record.id))) is not None:
            scores = (record.get_score(metric).f1, figure)
            figures.setdefault((record.method, record.language or ""), []).append(scores)
    rows = []
    for (method, language), pairs in figures.items():
        ours, theirs = (fmean(values) for values in zip(*pairs, strict=True))
        differing = sum(abs(left - right) > MAX_ROUNDING_DIFFERENCE for left, right in pairs)
        rows.append((method, language, len(pairs), ours, theirs, ours - theirs, differing))
    columns = parse_columns(
        f"method, language; questions: count; {metric}, published, difference: share; "
        "questions that differ: count"
    )
    return Sheet("Published scores, computed again", columns, tuple(rows))


def _build_failure_sheet(groups: Sequence[RunGroup]) -> Sheet:
    counts = [count_failures(group.report.records, group.report.metric) for group in groups]
    order = [str(failure) for failure in Failure]
    failure_classes = sorted(
        {failure for failures in counts for failure in failures},
        key=lambda kind: (order.index(kind) if kind in order else len(order), kind),
    )
    rows = [
        (
            *build_label(group),
            len(group.report.records),
            sum(failures.values()),
            *(failures.get(failure, 0) for failure in failure_classes),
        )
        for group, failures in zip(groups, counts, strict=True)
    ]
    columns = (*LABEL_COLUMNS, *build_columns("count", "records", "not right", *failure_classes))
    return Sheet("What went wrong", columns, tuple(rows))


def _build_error_sheet(groups: Sequence[RunGroup]) -> Sheet:
    rows = [
        (
            *build_label(group),
            " ".join(error.split())[:MAX_ERROR_CHARACTERS],
            len(ids),
            ", ".join(ids[:MAX_NAMED_IDS])
            + (f", and {len(ids) - MAX_NAMED_IDS} more" if len(ids) > MAX_NAMED_IDS else ""),
        )
        for group in groups
        for error, ids in group_errors(group.report.records).items()
    ]
    columns = (*LABEL_COLUMNS, *parse_columns("error; questions: count; ids"))
    return Sheet("Errors, each a score of 0 unless gold is stored", columns, tuple(rows))


def _build_confidence_sheet(runs: Sequence[EvaluationRun], groups: Sequence[RunGroup]) -> Sheet:
    rows = []
    for group in groups:
        report = group.report
        calibration = compute_record_calibration(report.records, report.metric)
        rejection = count_record_rejections(report.records, report.metric)
        rows.append(
            (
                *build_label(group),
                report.top_half_f1,
                confidence.compute_aurc(report.pairs),
                confidence.compute_excess_aurc(report.pairs),
                *(
                    confidence.compute_coverage_at_risk(report.pairs, risk)
                    for risk in confidence.REPORTED_RISK_RATIOS
                ),
                calibration.brier,
                calibration.ece,
                rejection.caught_share,
                rejection.wrong,
                rejection.lost_share,
                rejection.right,
            )
        )
    risks = ", ".join(f"answered at risk {risk:g}" for risk in confidence.REPORTED_RISK_RATIOS)
    columns = (
        *LABEL_COLUMNS,
        *parse_columns(
            f"top half: share; AURC, excess AURC: number; {risks}: share; Brier, ECE: number; "
            "wrong caught: share; of wrong: count; right lost: share; of right: count"
        ),
    )
    notes = tuple(
        ABSTAIN_NOTE.format(run=run.name)
        for run in runs
        if isinstance(options := run.settings.get("options"), Mapping)
        and options.get("abstain") is True
    )
    return Sheet("Confidence", columns, tuple(rows), notes)


def _build_judge_sheet(groups: Sequence[RunGroup]) -> Sheet:
    rows: list[Row] = []
    for group in groups:
        report = group.report
        if JUDGE_METRIC not in report.metrics or not report.answerable:
            continue
        metric = DEFAULT_METRIC if report.metric == JUDGE_METRIC else report.metric
        verdicts = [
            (
                record.get_score(JUDGE_METRIC).f1 == 1,
                record.get_score(metric).f1 >= confidence.RIGHT_SCORE_THRESHOLDS[0],
            )
            for record in report.answerable
        ]
        share = compute_bootstrap_interval(
            [float(judge == is_right) for judge, is_right in verdicts]
        )
        kappa = compute_kappa(verdicts)
        row: Row = (metric, len(verdicts), sum(judge for judge, _ in verdicts))
        row += (share.mean, share.low, share.high, kappa.mean, kappa.low, kappa.high)
        rows.append((*build_label(group), *row))
    columns = (
        *LABEL_COLUMNS,
        *parse_columns(
            "metric; questions, judged right: count; agree, low, high: share; "
            "kappa, low, high: number"
        ),
    )
    note = "A score is right if its F1 is 1; kappa is Cohen's; 95 % intervals by the bootstrap."
    return Sheet("The judge and the metric", columns, tuple(rows), (note,) if rows else ())


def _build_oracle_sheet(groups: Sequence[RunGroup], metric: str) -> Sheet:
    rows: list[Row] = []
    for oracle in compute_method_oracles(groups):
        description = f"best of {', '.join(oracle.methods)} on each question"
        interval_cells = (oracle.mean.low, oracle.mean.high)
        row: Row = (metric, oracle.n, oracle.mean.mean, *interval_cells, oracle.best_single)
        rows.append((oracle.benchmark, description, *row))
    for group in groups:
        baseline = group.report.compute_mean("best_column")
        for count, score in compute_drafts_oracle(group.report.records).items():
            description = f"best of the first {count} candidates of {group.run}:{group.method}"
            row = ("best_column", len(group.report.answerable), score, None, None, baseline)
            rows.append((group.benchmark, description, *row))
    columns = (
        *parse_columns("benchmark, chosen by looking at gold, metric; n: count; score: share"),
        *INTERVAL_COLUMNS,
        *parse_columns("without the oracle: share"),
    )
    return Sheet("Oracle (not a system)", columns, tuple(rows))


def _build_cost_sheet(groups: Sequence[RunGroup], *, with_times: bool) -> Sheet:
    rows = []
    for group in groups:
        records = group.report.records
        usage, executable = sum_usage(records), count_executable(records)
        seconds = [record.seconds for record in records]
        cost_cells: Row = (sum(record.attempts for record in records), executable.executed_share)
        cost_cells += (usage.requests, usage.llm_calls, usage.input_tokens, usage.cached_tokens)
        cost_cells += (usage.output_tokens, usage.money)
        if with_times:
            percentiles = (compute_percentile(seconds, share) for share in (0.5, 0.95))
            cost_cells += (usage.seconds, *percentiles)
        rows.append((*build_label(group), len(records), *cost_cells))
    counts = ("requests", "LLM calls", "input tokens", "cached tokens", "output tokens")
    columns = (
        *LABEL_COLUMNS,
        *build_columns("count", "records", "attempts"),
        SheetColumn("executable", "share"),
        *build_columns("count", *counts),
        *build_columns("number", "money", *("seconds", "p50 s", "p95 s") if with_times else ()),
    )
    return Sheet("Cost, summed over all attempts", columns, tuple(rows))


FITTED_NOTE = (
    "The confidence of graph search was fitted to some graphs (docs/evaluation.md): on one of "
    "these what is caught comes out better than on a graph that nobody has seen."
)
COVERAGE_SHARES = tuple(tenth / 10 for tenth in range(1, 11))


def build_slice_sheet(
    runs: Sequence[EvaluationRun], slicing: str, *, metric: str = DEFAULT_METRIC
) -> Sheet:
    """Build the table by a key of `SHEET_BUILDERS`; raise `SetupError` without the metric."""
    return SHEET_BUILDERS[slicing](runs, metric)


def _build_part_sheet(slicing: str, runs: Sequence[EvaluationRun], metric: str) -> Sheet:
    rows = []
    for group in group_runs(runs, metric=metric):
        for name, report in group.report.group_by(slicing).items():
            row: Row = (name, len(report.score_by_question()), *count_answered(report))
            exact_match = report.em if "exact_match" in report.metrics else None
            row += (*build_interval_cells(report), exact_match)
            rows.append((*build_label(group), *row))
    columns = (
        *LABEL_COLUMNS,
        SheetColumn(slicing),
        SheetColumn("questions", "count"),
        *ANSWERED_COLUMNS,
        SheetColumn(metric, "share"),
        *INTERVAL_COLUMNS,
        SheetColumn("exact match", "share"),
    )
    return Sheet(f"Scores by {slicing}", columns, tuple(rows), describe_incomplete(runs))


def _build_metric_sheet(runs: Sequence[EvaluationRun], metric: str) -> Sheet:
    rows = []
    groups = group_runs(runs, metric=metric)
    is_repeated = any(len(group.report.rounds) > 1 for group in groups)
    for group in groups:
        report = group.report
        for name in report.metrics if report.answerable else ():
            row: Row = (name, len(report.score_by_question()))
            row += tuple(report.compute_mean(name, part) for part in ("precision", "recall"))
            row += build_interval_cells(report, name)
            row += (report.compute_deviation(name),) if is_repeated else ()
            rows.append((*build_label(group), *row))
    columns = (
        *LABEL_COLUMNS,
        *parse_columns("metric; questions: count; precision, recall, F1: share"),
        *INTERVAL_COLUMNS,
        *((SheetColumn("sd", "share"),) if is_repeated else ()),
    )
    return Sheet("Scores by metric", columns, tuple(rows), describe_incomplete(runs))


def _build_calibration_sheet(runs: Sequence[EvaluationRun], metric: str) -> Sheet:
    rows = [
        (
            *build_label(group),
            bucket.low,
            bucket.high,
            bucket.n,
            *((bucket.confidence, bucket.score) if bucket.n else (None, None)),
        )
        for group in group_runs(runs, metric=metric)
        for bucket in compute_record_calibration(group.report.records, metric).bins
    ]
    columns = (
        *LABEL_COLUMNS,
        *build_columns("share", "from", "to"),
        SheetColumn("answers", "count"),
        *(SheetColumn(head, "share") for head in ("mean confidence", metric)),
    )
    return Sheet("Calibration", columns, tuple(rows), describe_incomplete(runs))


def _build_coverage_sheet(runs: Sequence[EvaluationRun], metric: str) -> Sheet:
    rows = [
        (*build_label(group), share, confidence.compute_mean_at_coverage(group.report.pairs, share))
        for group in group_runs(runs, metric=metric)
        for share in COVERAGE_SHARES
    ]
    columns = (*LABEL_COLUMNS, SheetColumn("most confident", "share"), SheetColumn(metric, "share"))
    return Sheet("Risk and coverage", columns, tuple(rows), describe_incomplete(runs))


def _build_rejection_sheet(runs: Sequence[EvaluationRun], metric: str) -> Sheet:
    rows: list[Row] = []
    for group in group_runs(runs, metric=metric):
        for min_score in confidence.RIGHT_SCORE_THRESHOLDS:
            for policy in confidence.evaluate_policies(
                group.report.records, metric, min_right_score=min_score
            ):
                caught, lost = (
                    (interval.mean, interval.low, interval.high) if interval else (None,) * 3
                    for interval in (policy.caught, policy.lost)
                )
                row: Row = (policy.name, min_score, policy.wrong, *caught, policy.right, *lost)
                rows.append((*build_label(group), *row))
    columns = (
        *LABEL_COLUMNS,
        *parse_columns(
            "rejected by; right from: share; wrong: count; caught, caught low, caught high: "
            "share; right: count; lost, lost low, lost high: share"
        ),
    )
    return Sheet("Rejection", columns, tuple(rows), (*describe_incomplete(runs), FITTED_NOTE))


SHEET_BUILDERS: Mapping[str, Callable[[Sequence[EvaluationRun], str], Sheet]] = {
    "metric": _build_metric_sheet,
    **{slicing: partial(_build_part_sheet, slicing) for slicing in SLICES},
    "confidence": _build_calibration_sheet,
    "coverage": _build_coverage_sheet,
    "rejection": _build_rejection_sheet,
}
"""Functions that build the table of each slicing."""

Json = Mapping[str, object]

MAX_MENTIONS = 12  # likeliest mentions to list


def is_imperfect(record: Record) -> bool:
    """Return whether anything of the answer is wrong or missing."""
    return min(record.f1, record.f1_flattened) < 1


def format_headline(record: Record) -> str:
    """Summarize in one line how a question went: right (✓), partly right (~), wrong (✗)."""
    mark = "✗" if record.f1 == 0 else "~" if is_imperfect(record) else "✓"
    return (
        f"{mark} {record.id}   F1 {100 * record.f1:.0f}   flat {100 * record.f1_flattened:.0f}   "
        f"EM {record.em:.0f}   {record.status}   confidence {record.confidence:.2f}   "
        f"{record.failure or 'right'}   {record.method}"
    )


def format_question_report(
    record: Record, detail: QuestionDetail | None, *, max_rows: int = 5
) -> str:
    """Return the question, its links, both queries, and the heads of both results as text.

    The report shows the findings and the best three drafts of the trace, with their F1 if the run
    scored them, and the first `max_rows` rows of each result.
    """
    lines = [
        f"{format_headline(record)}   [{', '.join(record.tags)}]",
        f"  {record.question}",
        *([f"  error: {record.error}"] if record.error else []),
        *([f"  gold error: {record.gold_error}"] if record.gold_error else []),
        *(_format_findings(detail) if detail else []),
        *(_format_drafts(record, detail) if detail else []),
        "  predicted",
        indent_query(record.sparql or "(no query)"),
        *_format_head(detail.predicted if detail else None, max_rows),
        "  gold",
        indent_query(record.gold_sparql or "(no query)"),
        *_format_head(detail.gold if detail else None, max_rows),
    ]
    return "\n".join(lines)


def indent_query(query: str) -> str:
    """Return a query without its PREFIX lines, indented by four spaces."""
    return textwrap.indent(re.sub(r"(?<=\S)[ \t]{2,}", "  ", strip_prefixes(query)).strip(), "    ")


def _format_findings(detail: QuestionDetail) -> list[str]:
    lines: list[str] = []
    for step in (step for step in detail.steps if step["step"] == "findings"):
        lines += [
            f"    {mention['words']!r} → {mention['kind']} {mention['label']!r} "
            f"{mention['score']:.2f} <{mention['target']}>"
            for mention in _to_sequence(step["mentions"])[:MAX_MENTIONS]
        ]
        if unused_words := _to_sequence(step["unused_words"]):
            lines.append(f"    unused: {' '.join(map(str, unused_words))}")
    return ["  understood", *lines] if lines else []


def _format_drafts(record: Record, detail: QuestionDetail) -> list[str]:
    drafts = [step for step in detail.steps if step["step"] == "draft"]
    best_drafts = sorted(drafts, key=lambda step: -float(str(step["score"])))[:MAX_DRAFTS]
    lines = []
    for index, step in enumerate(best_drafts):
        f1 = f"   F1 {100 * record.drafts[index]:3.0f}" if index < len(record.drafts) else ""
        description = step["words"] or re.sub(r"\s+", " ", strip_prefixes(str(step["query"])))[:200]
        lines.append(f"    {float(str(step['score'])):8.3f}{f1}   {description}")
    return ["  drafts", *lines] if lines else []


def _format_head(result: Json | None, max_rows: int) -> list[str]:
    if result is None:
        return []
    number, columns = result["n"], ", ".join(map(str, _to_sequence(result["columns"])))
    return [
        f"    → {number} {'row' if number == 1 else 'rows'} of {columns}",
        *(f"      {_format_row(row)}" for row in _to_sequence(result["rows"])[:max_rows]),
    ]


def _format_row(row: Sequence[object]) -> str:
    return " | ".join("-" if cell is None else str(cell)[:60] for cell in row)


def _to_sequence(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()
