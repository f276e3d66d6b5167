"""`askgraph tune`: numbers that are searched on training questions."""

from dataclasses import replace

from askgraph.cli import Commands
from askgraph.cli.figures import Form, Reading
from askgraph.cli.options import Common
from askgraph.cli.output import progress_bar
from askgraph.evaluation.reports.sheet import Cell, Sheet, SheetColumn
from askgraph.workspace.run_sync import result_of
from askgraph.workspace.selection import Selection, selected
from askgraph.workspace.stages import TunedIndex, keep_tuned, tune_bm25

tune = Commands()


@tune.callback()
def _tune() -> None:
    """Keep the subcommands by name, however few there are."""


@tune.command("bm25")
def bm25(
    common: Common,
    form: Form,
    reading: Reading,
    benchmarks: list[str],
    graph: str | None = None,
    split: str = "train",
    whole: bool = False,
    test: list[str] | None = None,
    keep: bool = False,
) -> None:
    """Search k1 and b of BM25 by which most of what training questions name is found.

    Entities and predicates apart, for the recall of the first 10 hits. Only questions of the
    split are looked at; files without splits, as 'benchmark split' writes them for training,
    need --whole. The method multi-stage reads what --keep writes.
    """
    place = common.workspace
    every = Selection(graph=graph, format=reading.format, language=reading.lang)
    training = selected(place, benchmarks, every if whole else replace(every, split=split))
    others = selected(place, test or [], every)
    with progress_bar() as tell:
        found = result_of(tune_bm25(place, training, others, progress=tell))
    if keep:
        keep_tuned(place, found)
    said = "all questions of " if whole else f"the split {split!r} of "
    sheet = _sheet(found, said + ", ".join(one.name for one in training))
    form.give(lambda: [sheet], sheet.to_json)


def _sheet(found: tuple[TunedIndex, ...], learnt: str) -> Sheet:
    limits = [limit for limit, _ in found[0].tuned.recall_before.shares_by_limit]
    columns = (
        SheetColumn("index"),
        SheetColumn("questions"),
        SheetColumn("k1", "number"),
        SheetColumn("b", "number"),
        SheetColumn("n", "count"),
        *(SheetColumn(f"recall@{limit}", "share") for limit in limits),
    )
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        done = one.tuned
        pairs = [
            ("training, before", done.before, done.recall_before),
            ("training, after", done.after, done.recall_after),
        ]
        if one.tested is not None:
            pairs += [
                ("test, before", done.before, one.tested[0]),
                ("test, after", done.after, one.tested[1]),
            ]
        for said, numbers, measured in pairs:
            shares = (share for _, share in measured.shares_by_limit)
            rows.append((one.what, said, numbers.k1, numbers.b, measured.questions, *shares))
    return Sheet("BM25", columns, tuple(rows), (f"Learnt from {learnt}.",))
