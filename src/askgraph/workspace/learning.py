"""Files of examples for methods that learn: never the questions that they are then asked."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from askgraph.errors import SetupError
from askgraph.evaluation.gold.splits import Split, folds, leave_one_out
from askgraph.evaluation.questions import GoldQuestion, write_questions
from askgraph.workspace.planning import Asked
from askgraph.workspace.selection import Selection

__all__ = ["with_examples"]


def with_examples(asked: Sequence[Asked], selection: Selection, folder: Path) -> tuple[Asked, ...]:
    """Give each question a file of the examples that its method may learn from.

    With `selection.folds` these are the other folds of its benchmark; with `leave_out` the
    questions about all other graphs, or of all other benchmarks. Questions that are not asked, as
    only a sample is, are learnt from all the same. The files go into `folder`.
    """
    if selection.folds is None and selection.leave_out is None:
        return tuple(asked)
    if selection.folds is not None and selection.leave_out is not None:
        raise SetupError("--folds and --leave-out exclude each other; choose one")
    if selection.leave_out not in (None, "graph", "dataset"):
        raise SetupError(f"--leave-out is 'graph' or 'dataset', not {selection.leave_out!r}")
    questions = [(one, question) for one in asked for question in one.contents.questions]
    learnt: dict[tuple[str, str], Path] = {}
    folder.mkdir(parents=True, exist_ok=True)
    for number, split in enumerate(_splits(asked, selection), start=1):
        path = folder / f"{number:03}.jsonl"
        write_questions(path, [questions[at][1] for at in split.train])
        for one, question in (questions[at] for at in split.test):
            learnt[one.name, question.id] = path
    return tuple(
        replace(one, examples=tuple(learnt[one.name, q.id] for q in one.questions)) for one in asked
    )


def _splits(asked: Sequence[Asked], selection: Selection) -> Iterator[Split]:
    """Splits whose places count through all questions of all benchmarks, asked or not."""
    if selection.leave_out == "dataset":
        yield from leave_one_out([one.name for one in asked for _ in one.contents.questions])
    elif selection.leave_out == "graph":
        yield from leave_one_out(
            [_graph(one, question) for one in asked for question in one.contents.questions]
        )
    else:
        start = 0
        for one in asked:
            whole = one.contents.questions
            for split in folds(whole, selection.folds or 0, seed=selection.seed):
                moved = (tuple(start + at for at in part) for part in (split.train, split.test))
                yield Split(split.name, *moved)
            start += len(whole)


def _graph(asked: Asked, question: GoldQuestion) -> str:
    return Path(question.graph).stem if question.graph else str(asked.graphs[0])
