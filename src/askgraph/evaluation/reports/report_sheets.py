"""A report on runs as tables: scores, failures, errors, confidence, oracles, cost."""

from collections.abc import Iterable, Mapping, Sequence

from askgraph.evaluation.reports.by_sheets import by_sheet
from askgraph.evaluation.reports.confidence import RISKS, aurc, coverage_at, excess_aurc
from askgraph.evaluation.reports.failures import Failure
from askgraph.evaluation.reports.groups import (
    ANSWERED,
    ENDS,
    LABEL,
    Group,
    Row,
    answered,
    groups_of,
    incomplete,
    label,
    mean_and_ends,
    methods_oracles,
)
from askgraph.evaluation.reports.outcomes import (
    calibration_of,
    drafts_oracle,
    errors_of,
    executable_of,
    failure_counts,
    rejection_of,
    usage_of,
)
from askgraph.evaluation.reports.report import MAIN, percentile
from askgraph.evaluation.reports.sheet import Column, Sheet
from askgraph.evaluation.runs.record import GOLD_LINKS
from askgraph.evaluation.runs.run_folder import Run

BESIDE = ("exact_match", "flattened", "rows")  # metrics beside the main one
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
    columns = (*LABEL, *(Column(head, "count") for head in heads))
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
        Column("AURC", "number"),
        Column("excess AURC", "number"),
        *(Column(f"answered at risk {risk:g}", "share") for risk in RISKS),
        Column("Brier", "number"),
        Column("ECE", "number"),
        Column("wrong caught", "share"),
        Column("of wrong", "count"),
        Column("right lost", "share"),
        Column("of right", "count"),
    )
    abstained = [run.name for run in runs if _option(run, "abstain") is True]
    return Sheet(
        "Confidence", columns, tuple(rows), tuple(ABSTAINED.format(run=name) for name in abstained)
    )


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
        Column("benchmark"),
        Column("chosen by looking at gold"),
        Column("metric"),
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
        *(Column(head, "count") for head in ("records", "attempts")),
        Column("executable", "share"),
        *(Column(head, "count") for head in counts),
        *(Column(head, "number") for head in ("money", *clock)),
    )
    return Sheet("Cost, summed over all attempts", columns, tuple(rows))
