"""The tables of the stages: linking, matching, what is listed, end to end, and rejection."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from statistics import fmean
from typing import Literal

from askgraph.evaluation import Score
from askgraph.evaluation.metrics.linking import compared
from askgraph.evaluation.reports.confidence import LOST
from askgraph.evaluation.reports.sheet import Cell, Column, Sheet
from askgraph.evaluation.studies.recall import Recall
from askgraph.evaluation.studies.stages import CONFIGURATIONS, TOGETHER, StageCase, policies

_CONTEXT = Column("benchmark", context=True)


def stage_sheets(cases: Sequence[StageCase], metric: str) -> list[Sheet]:
    """Return a table for each stage of some runs, each benchmark by itself."""
    ordered = sorted(cases, key=lambda case: case.record.benchmark)
    grouped = {name: list(own) for name, own in groupby(ordered, lambda c: c.record.benchmark)}
    return [
        _found(grouped, "Entity linking", "entities"),
        _found(grouped, "Predicate matching", "predicates"),
        _listed(grouped),
        _end_to_end(grouped, metric),
        _rejection(grouped, metric),
    ]


def recall_sheet(recalls: Mapping[str, Sequence[Recall]]) -> Sheet:
    """Return the table of what an index finds with the whole question, by benchmark."""
    limits = [limit for limit, _ in next(iter(recalls.values()))[0].at] if recalls else []
    columns = (
        _CONTEXT,
        Column("index"),
        Column("questions", "count"),
        *(Column(f"recall@{limit}", "share") for limit in limits),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, found.what, found.questions, *(share for _, share in found.at))
        for name, several in recalls.items()
        for found in several
    )
    notes = ("The share of gold's terms among the first hits of the whole question, by question.",)
    return Sheet("Retrieval", columns, rows, notes)


def _found(
    grouped: Mapping[str, Sequence[StageCase]], title: str, what: Literal["entities", "predicates"]
) -> Sheet:
    columns = (
        _CONTEXT,
        Column("configuration"),
        Column("questions", "count"),
        *(Column(head, "share") for head in ("precision", "recall", "F1")),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, own in _lines(grouped):
        wanting = [case for case in own if getattr(case.gold, what)]
        scores = [getattr(compared(case.found, case.gold), what) for case in wanting]
        rows.append((*name, len(wanting), *_means(scores)))
    return Sheet(title, columns, tuple(rows), (f"Over the questions whose gold has {what}.",))


def _listed(grouped: Mapping[str, Sequence[StageCase]]) -> Sheet:
    columns = (
        _CONTEXT,
        Column("configuration"),
        Column("predicates", "number"),
        *(Column(head, "share") for head in ("precision", "recall", "F1", "all of gold listed")),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, own in _lines(grouped):
        wanting = [case for case in own if case.gold.predicates]
        scores = [compared(case.listed, case.gold).predicates for case in wanting]
        size = fmean(len(case.listed.predicates) for case in own)
        whole = fmean(case.everything_listed for case in own)
        rows.append((*name, size, *_means(scores), whole))
    note = "All of gold listed: its entities too, over all questions; the rest as above."
    return Sheet("Predicates that go on to the writer", columns, tuple(rows), (note,))


def _end_to_end(grouped: Mapping[str, Sequence[StageCase]], metric: str) -> Sheet:
    columns = (
        _CONTEXT,
        Column("configuration"),
        Column("questions", "count"),
        Column("answered", "share"),
        *(Column(head, "share") for head in (f"F1 ({metric})", "exact match")),
    )
    rows = tuple(
        (
            *name,
            len(own),
            fmean(case.record.status == "answer" for case in own),
            fmean(case.record.score(metric).f1 for case in own),
            fmean(case.record.em for case in own),
        )
        for name, own in _lines(grouped)
    )
    return Sheet("End to end", columns, rows, ("What is refused counts by its best attempt.",))


def _rejection(grouped: Mapping[str, Sequence[StageCase]], metric: str) -> Sheet:
    columns = (
        _CONTEXT,
        Column("policy"),
        Column("wrong", "count"),
        Column("wrong caught", "share"),
        Column("right", "count"),
        Column("right lost", "share"),
    )
    rows = tuple(
        (benchmark, policy, found.wrong, found.caught, found.right, found.lost)
        for benchmark, cases in grouped.items()
        for policy, found in policies(
            [case for case in cases if case.record.method == TOGETHER], metric
        ).items()
    )
    note = (
        f"confidence: also below a threshold that loses at most {LOST:.0%} of the right "
        "answers, chosen on the other graphs, or on the other folds where there is one graph"
    )
    return Sheet("Rejection", columns, rows, (note,))


def _lines(
    grouped: Mapping[str, Sequence[StageCase]],
) -> list[tuple[tuple[str, str], list[StageCase]]]:
    """Return the cases of each benchmark and configuration, of which there are some."""
    lines = [
        ((benchmark, name), [case for case in cases if case.record.method == name])
        for benchmark, cases in grouped.items()
        for name in CONFIGURATIONS
    ]
    return [line for line in lines if line[1]]


def _means(scores: Sequence[Score]) -> tuple[float, float, float] | tuple[None, None, None]:
    if not scores:
        return None, None, None
    return (
        fmean(score.precision for score in scores),
        fmean(score.recall for score in scores),
        fmean(score.f1 for score in scores),
    )
