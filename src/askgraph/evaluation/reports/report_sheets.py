"""A report on runs as tables, the figures taken apart, and the story of one question."""

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from askgraph.evaluation.reports.confidence import (
    RIGHT_FROM,
    RISKS,
    aurc,
    coverage_at,
    excess_aurc,
    mean_at,
    policies,
)
from askgraph.evaluation.reports.failures import (
    Failure,
    calibration_of,
    drafts_oracle,
    errors_of,
    executable_of,
    failure_counts,
    rejection_of,
    usage_of,
)
from askgraph.evaluation.reports.report import (
    ANSWERED,
    ENDS,
    LABEL,
    MAIN,
    SLICES,
    Group,
    Row,
    answered,
    bare_query,
    groups_of,
    incomplete,
    label,
    mean_and_ends,
    methods_oracles,
    percentile,
)
from askgraph.evaluation.reports.sheet import Column, Sheet, columns_of
from askgraph.evaluation.reports.statistics import bootstrap_interval, kappa
from askgraph.evaluation.runs import GOLD_LINKS, Detail, Record, Run
from askgraph.evaluation.runs.scores import JUDGE

BESIDE = ("exact_match", "flattened", "rows")  # metrics beside the main one
DRAFTS = 3  # of a question whose story is told
REASON = 200  # characters of an error that a table shows

REPEATED = "Answered and failed count every round; sd is that of the mean, over rounds."
TOLD = f"{GOLD_LINKS}: entities and relations were given from gold; compare with no other."
ABSTAINED = "what was refused or asked back scores 0 in {run}, so no right answer can be seen lost"


def report_sheets(
    runs: Sequence[Run], *, metric: str = MAIN, times: bool = True
) -> tuple[Sheet, ...]:
    """Return the tables of a report; without `times` nothing in them depends on the clock.

    Raises `SetupError` if a record has no score of the metric.
    """
    groups = groups_of(runs, metric=metric)
    sheets = (
        score_sheet(runs, metric=metric),
        by_sheet(runs, "metric", metric=metric),
        _failure_sheet(groups),
        _error_sheet(groups),
        _confidence_sheet(runs, groups),
        _judge_sheet(groups),
        _oracle_sheet(groups, metric),
        _cost_sheet(groups, times=times),
    )
    return tuple(sheet for sheet in sheets if sheet.rows or sheet.notes)


def score_sheet(runs: Sequence[Run], *, metric: str = MAIN) -> Sheet:
    """Return the table of mean scores: a row for each benchmark and method of each run."""
    groups = groups_of(runs, metric=metric)
    known = {name for group in groups for name in group.report.metrics}
    others = [name for name in BESIDE if name in known - {metric}]
    deviations = [group.report.deviation() for group in groups]
    repeated = any(deviation is not None for deviation in deviations)
    rows = []
    for group, deviation in zip(groups, deviations, strict=True):
        report = group.report
        row: Row = (*label(group), len(report.per_question()), *answered(report))
        row += mean_and_ends(report)
        row += (len(report.rounds), deviation) if repeated else ()
        there = report.metrics if report.answerable else ()
        rows.append((*row, *(report.mean(name) if name in there else None for name in others)))
    columns = (
        *LABEL,
        Column("questions", "count"),
        *ANSWERED,
        Column(metric, "share"),
        *ENDS,
        *((Column("rounds", "count"), Column("sd", "share")) if repeated else ()),
        *(Column(name, "share") for name in others),
    )
    notes = (
        *incomplete(runs),
        f"Mean F1 over questions in per cent; low and high: 95 % interval of {metric}.",
        *([REPEATED] if repeated else []),
        *([TOLD] if any(record.gold_links for run in runs for record in run.records) else []),
        *_unanswerable(groups),
    )
    title = "Scores, INCOMPLETE" if incomplete(runs) else "Scores"
    return Sheet(title, columns, tuple(rows), notes)


def _unanswerable(groups: Sequence[Group]) -> Iterable[str]:
    for group in groups:
        if count := len(group.report.unanswerable):
            yield (
                f"{group.run}, {group.benchmark}, {group.method}: of {count} unanswerable "
                f"questions {group.report.refused_rightly} were refused or asked back; "
                "they are in no mean."
            )


def _failure_sheet(groups: Sequence[Group]) -> Sheet:
    counts = [failure_counts(group.report.records, group.report.metric) for group in groups]
    kinds = sorted({kind for found in counts for kind in found}, key=_failure_place)
    rows = [
        (
            *label(group),
            len(group.report.records),
            sum(found.values()),
            *(found.get(kind, 0) for kind in kinds),
        )
        for group, found in zip(groups, counts, strict=True)
    ]
    heads = ("records", "not right", *kinds)
    columns = (*LABEL, *columns_of("count", *heads))
    return Sheet("What went wrong", columns, tuple(rows))


def _failure_place(kind: str) -> tuple[int, str]:
    known = [str(failure) for failure in Failure]
    return (known.index(kind) if kind in known else len(known)), kind


def _error_sheet(groups: Sequence[Group]) -> Sheet:
    rows = [
        (*label(group), " ".join(error.split())[:REASON], len(ids), _listed(ids))
        for group in groups
        for error, ids in errors_of(group.report.records).items()
    ]
    columns = (*LABEL, Column("error"), Column("questions", "count"), Column("ids"))
    return Sheet("Errors, each a score of 0 unless gold is stored", columns, tuple(rows))


def _listed(ids: Sequence[str], most: int = 5) -> str:
    more = [f"and {len(ids) - most} more"] if len(ids) > most else []
    return ", ".join([*ids[:most], *more])


def _confidence_sheet(runs: Sequence[Run], groups: Sequence[Group]) -> Sheet:
    rows = []
    for group in groups:
        report = group.report
        found = calibration_of(report.records, report.metric)
        rejected = rejection_of(report.records, report.metric)
        area: Row = (report.top_half_f1, aurc(report.pairs), excess_aurc(report.pairs))
        kept: Row = tuple(coverage_at(report.pairs, risk) for risk in RISKS)
        held: Row = (rejected.caught, rejected.wrong, rejected.lost, rejected.right)
        rows.append((*label(group), *area, *kept, found.brier, found.ece, *held))
    columns = (
        *LABEL,
        Column("top half", "share"),
        *columns_of("number", "AURC", "excess AURC"),
        *(Column(f"answered at risk {risk:g}", "share") for risk in RISKS),
        *columns_of("number", "Brier", "ECE"),
        Column("wrong caught", "share"),
        Column("of wrong", "count"),
        Column("right lost", "share"),
        Column("of right", "count"),
    )
    abstained = [run.name for run in runs if _option(run, "abstain") is True]
    return Sheet(
        "Confidence", columns, tuple(rows), tuple(ABSTAINED.format(run=name) for name in abstained)
    )


def _judge_sheet(groups: Sequence[Group]) -> Sheet:
    """How far a judge and the F1 call the same answers right."""
    rows: list[Row] = []
    for group in groups:
        report = group.report
        if JUDGE not in report.metrics or not report.answerable:
            continue
        other = MAIN if report.metric == JUDGE else report.metric
        known = [
            (one.score(JUDGE).f1 == 1, one.score(other).f1 >= RIGHT_FROM[0])
            for one in report.answerable
        ]
        share = bootstrap_interval([float(judge == right) for judge, right in known])
        beyond = kappa(known)
        ends = (share.mean, share.low, share.high, beyond.mean, beyond.low, beyond.high)
        rows.append((*label(group), other, len(known), sum(judge for judge, _ in known), *ends))
    columns = (
        *LABEL,
        Column("metric"),
        *columns_of("count", "questions", "judged right"),
        *columns_of("share", "agree", "low", "high"),
        *columns_of("number", "kappa", "low", "high"),
    )
    note = "A score is right if its F1 is 1; kappa is Cohen's; 95 % intervals by the bootstrap."
    return Sheet("The judge and the metric", columns, tuple(rows), (note,) if rows else ())


def _option(run: Run, name: str) -> object:
    options = run.settings.get("options")
    return options.get(name) if isinstance(options, Mapping) else None


def _oracle_sheet(groups: Sequence[Group], metric: str) -> Sheet:
    rows: list[Row] = []
    for oracle in methods_oracles(groups):
        what = f"best of {', '.join(oracle.methods)} on each question"
        ends = (oracle.mean.low, oracle.mean.high)
        row: Row = (metric, oracle.n, oracle.mean.mean, *ends, oracle.best_single)
        rows.append((oracle.benchmark, what, *row))
    for group in groups:
        same = group.report.mean("best_column")
        for k, found in drafts_oracle(group.report.records).items():
            what = f"best of the first {k} candidates of {group.run}:{group.method}"
            row = ("best_column", len(group.report.answerable), found, None, None, same)
            rows.append((group.benchmark, what, *row))
    columns = (
        *columns_of("text", "benchmark", "chosen by looking at gold", "metric"),
        Column("n", "count"),
        Column("score", "share"),
        *ENDS,
        Column("without the oracle", "share"),
    )
    return Sheet("Oracle (not a system)", columns, tuple(rows))


def _cost_sheet(groups: Sequence[Group], *, times: bool) -> Sheet:
    rows = []
    for group in groups:
        records = group.report.records
        usage, ran = usage_of(records), executable_of(records)
        seconds = [record.seconds for record in records]
        spent: Row = (sum(record.attempts for record in records), ran.share)
        spent += (usage.requests, usage.llm_calls, usage.input_tokens, usage.cached_tokens)
        spent += (usage.output_tokens, usage.money)
        took = (usage.seconds, percentile(seconds, 0.5), percentile(seconds, 0.95))
        rows.append((*label(group), len(records), *spent, *(took if times else ())))
    counts = ("requests", "LLM calls", "input tokens", "cached tokens", "output tokens")
    clock = ("seconds", "p50 s", "p95 s") if times else ()
    columns = (
        *LABEL,
        *columns_of("count", "records", "attempts"),
        Column("executable", "share"),
        *columns_of("count", *counts),
        *columns_of("number", "money", *clock),
    )
    return Sheet("Cost, summed over all attempts", columns, tuple(rows))


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
        *columns_of("share", "precision", "recall", "F1"),
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
        *columns_of("share", "from", "to"),
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

Json = Mapping[str, object]

MENTIONS = 12  # of the things that words were taken to mean, the likeliest


def failed(record: Record) -> bool:
    """Return whether anything of the answer is wrong or missing."""
    return min(record.f1, record.f1_flattened) < 1


def headline(record: Record) -> str:
    """Report in one line how a question went: all right (✓), in part (~), not at all (✗)."""
    mark = "✗" if record.f1 == 0 else "~" if failed(record) else "✓"
    return (
        f"{mark} {record.id}   F1 {100 * record.f1:.0f}   flat {100 * record.f1_flattened:.0f}   "
        f"EM {record.em:.0f}   {record.status}   confidence {record.confidence:.2f}   "
        f"{record.failure or 'right'}   {record.method}"
    )


def story(record: Record, detail: Detail | None, *, rows: int = 5) -> str:
    """Report the question, how it was understood, both queries, and the heads of both results.

    Of the trace, its findings and the best three drafts are told, with the F1 that each would have
    given if the run scored them; of each result the first `rows`.
    """
    lines = [
        f"{headline(record)}   [{', '.join(record.tags)}]",
        f"  {record.question}",
        *([f"  error: {record.error}"] if record.error else []),
        *([f"  gold error: {record.gold_error}"] if record.gold_error else []),
        *(_understood(detail) if detail else []),
        *(_drafts(record, detail) if detail else []),
        "  predicted",
        indented(record.sparql or "(no query)"),
        *_head(detail.predicted if detail else None, rows),
        "  gold",
        indented(record.gold_sparql or "(no query)"),
        *_head(detail.gold if detail else None, rows),
    ]
    return "\n".join(lines)


def indented(query: str) -> str:
    """Return a query without its PREFIX lines, four spaces in."""
    return textwrap.indent(re.sub(r"(?<=\S)[ \t]{2,}", "  ", bare_query(query)).strip(), "    ")


def _understood(detail: Detail) -> list[str]:
    """Report what the words were taken to mean."""
    lines: list[str] = []
    for step in (step for step in detail.steps if step["step"] == "findings"):
        lines += [
            f"    {m['words']!r} → {m['kind']} {m['label']!r} {m['score']:.2f} <{m['target']}>"
            for m in _objects(step["mentions"])[:MENTIONS]
        ]
        if unused := _objects(step["unused_words"]):
            lines.append(f"    unused: {' '.join(map(str, unused))}")
    return ["  understood", *lines] if lines else []


def _drafts(record: Record, detail: Detail) -> list[str]:
    found = [step for step in detail.steps if step["step"] == "draft"]
    best = sorted(found, key=lambda step: -float(str(step["score"])))[:DRAFTS]
    lines = []
    for at, step in enumerate(best):
        f1 = f"   F1 {100 * record.drafts[at]:3.0f}" if at < len(record.drafts) else ""
        told = step["words"] or re.sub(r"\s+", " ", bare_query(str(step["query"])))[:200]
        lines.append(f"    {float(str(step['score'])):8.3f}{f1}   {told}")
    return ["  drafts", *lines] if lines else []


def _head(result: Json | None, rows: int) -> list[str]:
    if result is None:
        return []
    number, columns = result["n"], ", ".join(map(str, _objects(result["columns"])))
    return [
        f"    → {number} {'row' if number == 1 else 'rows'} of {columns}",
        *(f"      {_row(row)}" for row in _objects(result["rows"])[:rows]),
    ]


def _row(row: Sequence[object]) -> str:
    return " | ".join("-" if cell is None else str(cell)[:60] for cell in row)


def _objects(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()
