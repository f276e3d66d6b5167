"""`askgraph tune`: search parameters on training questions."""

from dataclasses import replace

from askgraph.cli import CommandGroup
from askgraph.cli.figures import OutputFormat, ReadOptions
from askgraph.cli.output import CommonOptions, show_progress
from askgraph.evaluation.reports.sheet import Cell, Sheet, SheetColumn, parse_columns
from askgraph.workspace.run_sync import run_coroutine
from askgraph.workspace.selection import Selection, select_benchmarks
from askgraph.workspace.stages import TunedIndex, store_tuned, tune_bm25

tune = CommandGroup()


@tune.callback()
def _keep_subcommands() -> None:
    """Keep the subcommands by name, however few there are."""


@tune.command("bm25")
def search_bm25_parameters(
    common: CommonOptions,
    form: OutputFormat,
    reading: ReadOptions,
    benchmarks: list[str],
    graph: str | None = None,
    split: str = "train",
    whole: bool = False,
    test: list[str] | None = None,
    keep: bool = False,
) -> None:
    """Search the k1 and b of BM25 with the best recall on training questions."""
    workspace = common.workspace
    full_selection = Selection(graph=graph, format=reading.format, language=reading.lang)
    training = select_benchmarks(
        workspace, benchmarks, full_selection if whole else replace(full_selection, split=split)
    )
    test_questions = select_benchmarks(workspace, test or [], full_selection)
    with show_progress() as report:
        tuned_indices = run_coroutine(
            tune_bm25(workspace, training, test_questions, progress=report)
        )
    if keep:
        store_tuned(workspace, tuned_indices)
    source_text = "all questions of " if whole else f"the split {split!r} of "
    sheet = _build_sheet(
        tuned_indices, source_text + ", ".join(benchmark.name for benchmark in training)
    )
    form.write(lambda: [sheet], sheet.to_json)


def _build_sheet(tuned_indices: tuple[TunedIndex, ...], source_text: str) -> Sheet:
    limits = [limit for limit, _ in tuned_indices[0].tuned.recall_before.shares_by_limit]
    columns = (
        *parse_columns("index, questions; k1, b: number; n: count"),
        *(SheetColumn(f"recall@{limit}", "share") for limit in limits),
    )
    rows: list[tuple[Cell, ...]] = []
    for index in tuned_indices:
        tuning = index.tuned
        pairs = [
            ("training, before", tuning.before, tuning.recall_before),
            ("training, after", tuning.after, tuning.recall_after),
        ]
        if index.tested is not None:
            pairs += [
                ("test, before", tuning.before, index.tested[0]),
                ("test, after", tuning.after, index.tested[1]),
            ]
        for label, numbers, measured in pairs:
            shares = (share for _, share in measured.shares_by_limit)
            rows.append((index.what, label, numbers.k1, numbers.b, measured.questions, *shares))
    return Sheet("BM25", columns, tuple(rows), (f"Trained on {source_text}.",))
