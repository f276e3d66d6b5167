"""The ranker's training from end to end: candidates gathered and scored, folds, what it is worth.

All lies in one folder: `training.json` (what was wished, and what came of it), `lessons/` (a file
for each graph), `ranker.npz`, which learned from all graphs, and a `foldN.npz` for each fold, which
did not learn from the graphs of the fold. A stopped training goes on from what lies there.
"""

import asyncio
import gzip
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random

from askgraph.answers.ranker import CONSIDERED, Ranker, Say, readings_of, saved
from askgraph.errors import AskgraphError, SetupError
from askgraph.evaluation import Table
from askgraph.evaluation.benchmarks.formats import read_benchmark
from askgraph.evaluation.by_name import by_name, names_of_things
from askgraph.evaluation.files import replaced
from askgraph.evaluation.questions import GoldQuestion, gold_table, query_table
from askgraph.evaluation.reports.statistics import Difference, paired_difference
from askgraph.graph import KnowledgeGraph
from askgraph.operations.selection import graph_of
from askgraph.search.decide import confidence_of
from askgraph.search.rank import clusters
from askgraph.search.rank.score import weights_for
from askgraph.search.run import proposed, read_and_linked, schema_of
from askgraph.sparql.comparison import Cell
from askgraph.sparql.write import plain_text
from askgraph.training.ranker import (
    Lesson,
    Plan,
    Reading,
    lessons_in,
    lessons_text,
    say_of,
    tokenizer_in,
    trained,
    worth_of,
)
from askgraph.training.settings import begun
from askgraph.workspace import Progress, Workspace, silent
from askgraph.workspace.synchronous import result_of

WHOLE = "ranker.npz"
"""The ranker that learned from all graphs."""

_SECONDS = 2.0  # for a candidate's query
_PATIENCE = 60.0  # for gold's
_APART = 5  # of so many graphs one is not learned from, but says how much of a say is best


@dataclass(frozen=True)
class Wished:
    """What to train on: an encoder's folder, and files of questions, each with its graph or None.

    So many `folds` are trained besides, each without a share of the graphs: by chance of the seed,
    or `by` the rest of the tag that starts so (`style:`), so that a tag is all in one fold. The
    graphs of `without` are left out. `ranking` is the file whose weights score the candidates.
    """

    base: Path
    benchmarks: tuple[tuple[Path, str | None], ...]
    folds: int = 0
    by: str = ""
    without: tuple[str, ...] = ()
    questions: int | None = None
    ranking: str = ""
    plan: Plan = field(default_factory=Plan)


@dataclass(frozen=True)
class Learned:
    """A ranker: where it is, from how many questions, its last losses, how much of a say it has.

    For a fold, `held` are the graphs that it left out, and `gain` is what it changes in the F1 of
    the answers to their questions.
    """

    path: Path
    lessons: int
    loss: float
    say: Say
    held: tuple[str, ...] = ()
    gain: Difference | None = None

    def record(self) -> dict[str, object]:
        """Return it as an object of JSON."""
        gain = self.gain and asdict(self.gain)
        return {**asdict(self), "path": str(self.path), "held": list(self.held), "gain": gain}


@dataclass(frozen=True)
class _Gathered:
    """The lessons of a graph, and the tag by which it goes into a fold."""

    lessons: tuple[Lesson, ...]
    tag: str


def train_ranker(
    workspace: Workspace, wished: Wished, folder: Path, *, progress: Progress = silent
) -> list[Learned]:
    """Train a ranker, and one for each fold, in a folder; the folds come first.

    The same call goes on with a training that was stopped, and returns what has come to its end.
    Raises `SetupError` for a folder that holds something else or a training of other wishes, if a
    benchmark or the encoder cannot be read, and if there is nothing to learn from.
    """
    tokenizer_in(wished.base)  # what cannot be read is told of before the long work
    weights_for("", wished.ranking)
    done = begun(folder, _plan(wished))
    with replaced(folder / "training.json") as file:
        file.write(json.dumps({**_plan(wished), **({"result": done} if done else {})}).encode())
    by_graph = dict(_by_graph(workspace, wished, folder / "lessons", progress))
    parts = _parts(by_graph, wished)
    files = {f"fold{number}.npz": held for number, held in enumerate(parts, 1)} | {WHOLE: ()}
    found = [
        _learned(by_graph, wished, folder / name, tuple(held), progress)
        for name, held in files.items()
    ]
    result = {"rankers": [one.record() for one in found]}
    with replaced(folder / "training.json") as file:
        text = json.dumps({**_plan(wished), "result": result}, indent=1)
        file.write(text.encode("utf-8"))
    return found


def _plan(wished: Wished) -> dict[str, object]:
    """What must be the same for a training to go on."""
    files = []
    for path, graph in wished.benchmarks:
        try:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError as error:
            raise SetupError(f"{path} cannot be read: {error.strerror}") from error
        files.append([str(path), graph, digest])
    given = {**asdict(wished), **asdict(wished.plan)}
    del given["plan"]
    more = {"base": str(wished.base), "without": list(wished.without), "benchmarks": files}
    return {**given, **more}


def _parts(by_graph: Mapping[str, _Gathered], wished: Wished) -> list[list[str]]:
    """The graphs of each fold."""
    if not wished.folds:
        return []
    tags: dict[str, list[str]] = {}
    for name in sorted(by_graph):
        tags.setdefault(by_graph[name].tag if wished.by else name, []).append(name)
    groups = [tags[tag] for tag in sorted(tags)]
    if wished.folds < 2 or len(groups) < wished.folds:
        what = f"tags {wished.by}…" if wished.by else "graphs"
        raise SetupError(
            f"{len(groups)} {what} cannot be parted into {wished.folds} folds: take 2 or more, and "
            "no more than there are"
        )
    if not wished.by:
        Random(wished.plan.seed).shuffle(groups)
    return [
        [name for group in groups[fold :: wished.folds] for name in group]
        for fold in range(wished.folds)
    ]


def _learned(
    by_graph: Mapping[str, _Gathered], wished: Wished, path: Path, held: tuple[str, ...],
    progress: Progress,
) -> Learned:  # fmt: skip
    """Train one ranker unless it is there, and measure it on the graphs that it left out."""
    if not path.is_file():
        names = [name for name in sorted(by_graph) if name not in held]
        _train(by_graph, names, wished, path, progress)
    ranker = Ranker.load(path)
    lessons, loss = int(str(ranker.about["lessons"])), float(str(ranker.about["loss"]))
    if not held:
        return Learned(path, lessons, loss, ranker.say)
    asked = [one for name in held for one in by_graph[name].lessons]
    liked = _liked(ranker, asked, progress)
    before = {str(at): worth_of(one, [], Say()) for at, one in enumerate(asked)}
    after = {
        str(at): worth_of(one, own, ranker.say)
        for at, (one, own) in enumerate(zip(asked, liked, strict=True))
    }
    return Learned(path, lessons, loss, ranker.say, held, paired_difference(before, after))


def _train(
    by_graph: Mapping[str, _Gathered], names: list[str], wished: Wished, path: Path,
    progress: Progress,
) -> None:  # fmt: skip
    """Train a ranker on some graphs; a fifth of them only says how much of a say is best.

    Of few graphs it is a fifth of their questions.
    """
    drawn = Random(wished.plan.seed).sample(names, len(names))
    groups = [by_graph[name].lessons for name in drawn]
    if len(groups) < _APART:
        groups = [(one,) for group in groups for one in group]
    aside = [one for group in groups[::_APART] for one in group]
    lessons = [one for at, group in enumerate(groups) if at % _APART for one in group]
    kept, bare = path.with_suffix(".pt"), path.with_suffix(".bare")
    made = trained(wished.base, lessons, wished.plan, kept, told=_told(progress, path.stem))
    about = {"graphs": names, "lessons": len(lessons), "loss": made.loss}
    with replaced(bare) as file:
        saved(file, made.weights, made.tokenizer, made.sizes, Say(), about)
    say = say_of(aside, _liked(Ranker.load(bare), aside, progress))  # as it will be asked
    with replaced(path) as file:
        saved(file, made.weights, made.tokenizer, made.sizes, say, about)
    for left in (bare, kept):
        left.unlink(missing_ok=True)


def _liked(ranker: Ranker, lessons: Sequence[Lesson], progress: Progress) -> list[list[float]]:
    found = []
    for at, one in enumerate(lessons):
        progress("reading candidates", at, len(lessons))
        found.append(ranker.judgements(one.text, [r.words for r in one.readings]))
    return found


def _told(progress: Progress, name: str) -> Callable[[int, int, float], None]:
    return lambda done, planned, loss: progress(f"{name}, loss {loss:.2f}", done, planned)


def _by_graph(
    workspace: Workspace, wished: Wished, folder: Path, progress: Progress
) -> Iterator[tuple[str, _Gathered]]:
    """The lessons of each graph; those of a graph that was gathered before are read again."""
    asked = _asked(workspace, wished)
    for at, (place, questions) in enumerate(asked.items()):
        progress("gathering candidates", at, len(asked))
        name = place.stem if isinstance(place, Path) else place
        if name in wished.without:
            continue
        tag = _tag(questions, wished.by, name) if wished.by else ""
        if wished.questions is not None and len(questions) > wished.questions:
            questions = Random(wished.plan.seed).sample(questions, wished.questions)
        file = folder / f"{name}.jsonl.gz"
        if not file.is_file():
            lessons = result_of(_gathered(workspace.find(place), questions, wished.ranking))
            with replaced(file) as kept:
                kept.write(gzip.compress(lessons_text(lessons).encode("utf-8"), mtime=0))
        lessons = lessons_in(gzip.decompress(file.read_bytes()).decode("utf-8"))
        yield name, _Gathered(tuple(lessons), tag)


def _asked(workspace: Workspace, wished: Wished) -> dict[str | Path, list[GoldQuestion]]:
    """The questions with a query, by the place of their graph."""
    found: dict[str | Path, list[GoldQuestion]] = {}
    for path, named in wished.benchmarks:
        _, contents = read_benchmark(path)
        for question in contents.questions:
            if question.sparql and not question.unanswerable:
                place = graph_of(workspace, question, path, named)
                found.setdefault(place, []).append(question)
    return found


def _tag(questions: Sequence[GoldQuestion], start: str, graph: str) -> str:
    """The one tag with such a start that all questions over a graph have."""
    found = {tag for one in questions for tag in one.tags if tag.startswith(start)}
    if len(found) != 1:
        raise SetupError(
            f"the questions over {graph!r} have {len(found)} tags that start with {start!r}: "
            "all must have the same one"
        )
    return found.pop()


async def _gathered(
    graph: KnowledgeGraph, questions: Sequence[GoldQuestion], ranking: str
) -> list[Lesson]:
    """The lessons of a graph that lies here; none of another one."""
    try:
        if graph.arrays is None:
            return []
        names = await asyncio.to_thread(names_of_things, graph)
        found = []
        for one in questions:
            try:
                prefixes = graph.prefixes.namespaces
                gold = await gold_table(one, graph.endpoint, prefixes=prefixes, timeout=_PATIENCE)
            except AskgraphError:
                continue  # without gold nothing is learned
            found.append(await _lesson(one, gold, graph, ranking, names))
        return found
    finally:
        await graph.endpoint.close()


async def _lesson(
    question: GoldQuestion,
    gold: Table,
    graph: KnowledgeGraph,
    ranking: str,
    names: Mapping[str, Set[Cell]],
) -> Lesson:
    assert graph.arrays is not None
    linked = read_and_linked(question.text, question.language, graph.names)
    schema = schema_of(graph.arrays, graph.profile)
    weights = weights_for(graph.name, ranking)
    proposal = await asyncio.to_thread(proposed, linked, schema, weights=weights)
    every = clusters(proposal.candidates)
    found = every[:CONSIDERED]
    words = await readings_of(found, proposal, graph)
    readings = []
    for cluster, said in zip(found, words, strict=True):
        text = plain_text(cluster.best.query, graph.prefixes)
        try:
            table = await query_table(text, graph.endpoint, timeout=_SECONDS)
            worth, empty = by_name(table, gold, names).f1, not table.rows
        except AskgraphError:
            worth, empty = 0.0, True
        readings.append(Reading(said, cluster.score, worth, empty))
    return Lesson(question.id, question.text, confidence_of(proposal, every), tuple(readings))
