"""`askgraph evaluate`: how good the answers are, by questions with gold."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askgraph.cli.options import (
    DebugOption,
    GraphOption,
    JsonOption,
    LangOption,
    MethodOption,
    TimeoutOption,
    WorkspaceOption,
    workspace_of,
)

if TYPE_CHECKING:
    from askgraph.evaluation.report import Report

__all__ = ["evaluate"]

TAG_WIDTH = 40


def evaluate(
    ctx: typer.Context,
    questions: Annotated[
        Path,
        typer.Argument(
            metavar="QUESTIONS", help="questions.jsonl with gold, or SHACL examples in Turtle."
        ),
    ],
    graph: GraphOption = None,
    json: JsonOption = False,
    method: MethodOption = None,
    abstain: Annotated[
        bool,
        typer.Option("--abstain", help="A question back or a refusal scores 0, whatever it holds."),
    ] = False,
    kg: Annotated[
        str | None,
        typer.Option("--kg", metavar="KG", help="Only questions with this 'kg', as 'cars.ttl'."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, metavar="N", help="Only the first N questions.")
    ] = None,
    lang: LangOption = None,
    timeout: TimeoutOption = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, metavar="N", help="Questions under way at once.")
    ] = 1,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="RECORDS.jsonl", help="A line per question; goes on where it stopped."
        ),
    ] = None,
    workspace: WorkspaceOption = None,
    debug: DebugOption = False,
) -> None:
    """Score the answers to questions whose right answers are known.

    F1 is that of the best column, as sets; beside it the F1 over all columns flattened, and exact
    matches. Failures score 0. Of an answer that is not sure enough to be given, the best attempt
    counts, unless --abstain.
    """
    from askgraph.cli.progress import progress_bar
    from askgraph.cli.tables import print_json
    from askgraph.evaluation.asking import answerer
    from askgraph.evaluation.questions import of_graph, read_questions
    from askgraph.evaluation.run import evaluate as evaluated
    from askgraph.workspace import DEFAULT_METHOD
    from askgraph.workspace.running import result_of

    place = workspace_of(ctx)
    name = method or DEFAULT_METHOD
    chosen = place.method(name)
    asked = read_questions(questions, need_gold=True)

    with progress_bar() as tell:
        known = place.graph(graph, progress=tell)
        wanted = of_graph(asked, kg or known.name, required=kg is not None)[:limit]
        if len(wanted) < len(asked):
            typer.echo(f"{len(wanted)} of the {len(asked)} questions are asked", err=True)

        async def run() -> "Report":
            try:
                return await evaluated(
                    wanted,
                    answerer(chosen, name, [known], language=lang),
                    known.endpoint,
                    abstain=abstain,
                    concurrency=concurrency,
                    timeout=timeout,
                    prefixes=known.prefixes.namespaces,
                    records=out,
                    settings={
                        "method": repr(chosen),
                        "graph": [known.name, known.profile.created],
                        "lang": lang,
                    },
                    progress=lambda report, total: tell(
                        f"F1 {100 * report.f1:.1f}", len(report.records), total
                    ),
                )
            finally:
                await known.endpoint.close()

        report = result_of(run())
    if json:
        print_json(report.json())
    else:
        _show(report)


def _show(report: "Report") -> None:
    from rich import box
    from rich.table import Table

    from askgraph.cli.tables import show

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for head in ("", "questions", "answered", "F1", "F1 flattened", "exact"):
        table.add_column(
            head,
            justify="right" if head else "left",
            max_width=None if head else TAG_WIDTH,
            no_wrap=True,
            overflow="ellipsis",
        )
    table.add_row("all", *_figures(report))
    for tag, records in report.by_tag().items():
        table.add_row(tag, *_figures(type(report)(records)))
    show([table])
    typer.echo("\n".join(_remarks(report)))


def _figures(report: "Report") -> Iterable[str]:
    answerable = report.answerable
    return (
        str(len(answerable)),
        str(sum(record.status == "answer" for record in answerable)),
        *(f"{100 * share:.1f}" for share in (report.f1, report.f1_flattened, report.em)),
    )


def _remarks(report: "Report") -> Iterable[str]:
    from askgraph.evaluation.report import percentile

    seconds = [record.seconds for record in report.records]
    p50, p95 = (percentile(seconds, share) for share in (0.5, 0.95))
    yield f"\nthe more confident half: F1 {100 * report.top_half_f1:.1f}"
    if report.unanswerable:
        yield f"unanswerable: {report.refused_rightly} of {len(report.unanswerable)} not answered"
    yield f"seconds a question: half within {p50:.3f}, 95 % within {p95:.3f}"
    for record in report.records:
        if record.gold_error:
            yield f"{record.id}: the gold query failed: {record.gold_error}"
        if record.error:
            yield f"{record.id}: {record.error}"
