"""k1 and b of BM25 searched on training questions of a benchmark, and kept where that is wanted."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from askgraph.agent.kept_index import Bm25, bm25_of
from askgraph.errors import SetupError
from askgraph.evaluation.studies.recall import EVALUATIONS, Recall, Tuned, recall_at, tuned
from askgraph.workspace import Progress, Workspace, silent
from askgraph.workspace.hosting import Host, Site
from askgraph.workspace.planning import Asked
from askgraph.workspace.settings import method_settings, with_method
from askgraph.workspace.staging import INDICES, gold_of, searched_for

__all__ = ["METHOD", "TunedIndex", "keep_tuned", "tune_bm25"]

METHOD = "multi-stage"
_SETTINGS = {"entities": "bm25_entities", "predicates": "bm25_predicates"}


@dataclass(frozen=True)
class TunedIndex:
    """What the search found for one index, and what it is worth on questions that it did not see.

    `tested` is the recall with the numbers before and after, None where there were no such
    questions.
    """

    what: str
    tuned: Tuned
    tested: tuple[Recall, Recall] | None = None


async def tune_bm25(
    workspace: Workspace,
    training: Sequence[Asked],
    test: Sequence[Asked] = (),
    *,
    progress: Progress = silent,
) -> tuple[TunedIndex, ...]:
    """Search the numbers for entities and for predicates, each by itself, from the present ones.

    Raises `SetupError` where a test question is a training question too.
    """
    seen = {question.text.casefold() for one in training for question in one.questions}
    if twice := [q for one in test for q in one.questions if q.text.casefold() in seen]:
        raise SetupError(f"{twice[0].id!r} is a test question and a training question")
    host = Host(Site(workspace.folder.absolute(), ()))
    try:
        return tuple(
            [await _tuned(workspace, host, key, training, test, progress) for key in INDICES]
        )
    finally:
        await host.close()


def keep_tuned(workspace: Workspace, found: Sequence[TunedIndex]) -> None:
    """Write the numbers into `askgraph.toml`, as settings of the method that reads them."""
    values = {_SETTINGS[one.what]: str(one.tuned.after) for one in found}
    with_method(workspace.folder, METHOD, values)


async def _tuned(
    workspace: Workspace, host: Host, key: str, training: Sequence[Asked],
    test: Sequence[Asked], progress: Progress,
) -> TunedIndex:  # fmt: skip
    what = INDICES[key]
    kept = method_settings(workspace.folder, METHOD).get(_SETTINGS[what])
    start = bm25_of(str(kept)) if kept is not None else Bm25()
    loop = asyncio.get_running_loop()
    gold = await gold_of(host, (*training, *test))

    def measure(bm25: Bm25, asked: Sequence[Asked] = training) -> Recall:
        work = searched_for(host, asked, key, gold, bm25=bm25)
        sought = asyncio.run_coroutine_threadsafe(work, loop).result()
        return recall_at(what, [(one.index, one.sought) for one in sought])

    found = await asyncio.to_thread(
        tuned,
        measure,
        start=start,
        progress=lambda done: progress(f"k1 and b for {what}", done, EVALUATIONS),
    )
    if not test:
        return TunedIndex(what, found)
    before = await asyncio.to_thread(measure, found.before, test)
    after = await asyncio.to_thread(measure, found.after, test)
    return TunedIndex(what, found, (before, after))
