"""`askgraph evaluate`: how good the answers are, by questions with gold."""

from collections.abc import Callable
from pathlib import Path

import typer

from askgraph.cli.figures import Form, Selected, Workers, closing, judge_of
from askgraph.cli.options import Common
from askgraph.cli.output import progress_bar
from askgraph.errors import ServiceError
from askgraph.evaluation.reports.report import incomplete, report_json
from askgraph.evaluation.reports.report_sheets import report_sheets
from askgraph.evaluation.runs import Options, Record
from askgraph.evaluation.runs.run import Budget, Spent
from askgraph.workspace import DEFAULT_METHOD, Progress
from askgraph.workspace.evaluation import evaluated
from askgraph.workspace.models import Models
from askgraph.workspace.plans import Wishes, method_choices
from askgraph.workspace.run_sync import result_of
from askgraph.workspace.selection import selected


def evaluate(
    common: Common,
    select: Selected,
    workers: Workers,
    form: Form,
    benchmarks: list[str],
    method: list[str] | None = None,
    setting: list[str] | None = None,
    metric: str = "best_column",
    judge: str | None = None,
    base_url: str | None = None,
    abstain: bool = False,
    sample: int | None = None,
    seed: int = 0,
    repeat: int = 1,
    folds: int | None = None,
    leave_out: str | None = None,
    gold: Path | None = None,
    with_rows: bool = False,
    drafts: int = 0,
    sent: Path | None = None,
    timeout: float | None = None,
    retries: int = 0,
    budget: list[str] | None = None,
    out: Path | None = None,
) -> None:
    """Score the answers to questions whose right answers are known.

    A failure scores 0 and stays in the mean. Of an answer that is not sure enough to be given, the
    best attempt counts, unless --abstain. A run that is kept with --out can be killed at any
    moment: the same call goes on. 'askgraph report' and 'askgraph compare' read such runs.
    """
    place = common.workspace
    models = Models(place.folder)
    judging = judge_of(models, judge, base_url)
    logged = [f"sent={sent.absolute()}"] if sent else []
    selection = select.selection(
        sample=sample, seed=seed, folds=folds, leave_out=leave_out, gold=gold, with_rows=with_rows
    )
    wishes = Wishes(
        methods=method_choices(method or [DEFAULT_METHOD], [*(setting or []), *logged]),
        repeat=repeat,
        options=Options(
            timeout=timeout, retries=retries, abstain=abstain, drafts=drafts,
            stored_gold=gold is not None, language=select.lang,
        ),
        metric=metric,
        chosen=selection.json(),
    )  # fmt: skip
    limits = Budget.of(budget or [])
    asked = selected(place, benchmarks, selection)
    for one in asked:
        unreadable, there = one.contents.unreadable, len(one.contents.questions)
        if len(one.questions) < there:
            asks = f"{len(one.questions)} of the {there} questions are asked"
            typer.echo(f"{one.name}: {asks}", err=True)
        if unreadable:
            first = unreadable[0]
            typer.echo(
                f"{one.name}: items that cannot be scored: {len(unreadable)}, the first: "
                f"{first.place}: {first.reason} (askgraph benchmark check lists all)",
                err=True,
            )
    with progress_bar() as tell:
        work = evaluated(
            place, asked, wishes, selection, workers.crew, budget=limits, folder=out,
            progress=_running_score(metric, tell), preparing=tell, judge=judging,
        )  # fmt: skip
        try:
            run = result_of(closing(models, work))
        except ServiceError:
            if out is not None:
                typer.echo(f"what is done is kept in {out}; the same call goes on", err=True)
            raise
    if not run.complete and (reason := Spent(limits, run.records).used_up):
        typer.echo(f"{reason}; with a larger one the same call goes on", err=True)
    for warning in incomplete([run]):
        typer.echo(warning, err=True)
    form.give(
        lambda: report_sheets([run], metric=metric), lambda: report_json([run], metric=metric)
    )


def _running_score(metric: str, tell: Progress) -> Callable[[Record, int, int], None]:
    """Tell the mean score and what the run has cost so far, after each question."""
    total, count, money = 0.0, 0, 0.0

    def told(record: Record, done: int, planned: int) -> None:
        nonlocal total, count, money
        if not record.unanswerable:
            total, count = total + record.score(metric).f1, count + 1
        money += record.usage.money
        cost = f", cost {money:.2f}" if money else ""
        tell(f"{metric} {100 * total / max(1, count):.1f}{cost}", done, planned)

    return told
