"""The pointer writer's training from end to end: graphs made up, questions gathered, weights kept.

Weights of folds: a benchmark's graphs are parted, and the weights of a graph have seen neither it
nor its questions.
"""

import hashlib
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from askgraph.errors import SetupError
from askgraph.evaluation.files import replaced
from askgraph.graph import KnowledgeGraph
from askgraph.methods.writing.pointer.network import Settings
from askgraph.methods.writing.pointer.writer import PointerWriter, saved
from askgraph.search.rank import weights_for
from askgraph.training.pointer.questions import world
from askgraph.training.pointer.training import (
    Lesson,
    Plan,
    Trained,
    continued,
    from_examples,
    generated,
    started,
    trained,
)
from askgraph.workspace import Progress, Workspace, silent
from askgraph.workspace.pairs import Chosen, chosen_of
from askgraph.workspace.run_sync import result_of

STUDY = Plan(epochs=4, rate=2e-3, write=0.5, forget=0.25)
"""How made-up questions are learned from."""

PRACTICE = Plan(epochs=3, rate=7e-4, write=0.2, forget=0.3, drop=0.15)
"""How people's questions are learned from, after the made-up ones."""

_PARTS = 26


@dataclass(frozen=True)
class Wished:
    """What to train on: so many made-up `questions`, or weights to `start` from.

    `benchmarks` are files of questions, each with the graph that it asks, None if it says so
    itself; of these only questions with one of the `tags`, if there are any, and at most `number`
    of each graph, by chance. The graphs of `without` are left out. The file `ranking` has the
    weights that score the candidates of these questions; the package's do if it is empty.
    """

    questions: int = 2_000
    benchmarks: tuple[tuple[Path, str | None], ...] = ()
    start: Path | None = None
    without: tuple[str, ...] = ()
    ranking: str = ""
    seed: int = 42
    tags: tuple[str, ...] = ()
    number: int | None = None
    plan: Plan = STUDY
    practice: Plan = PRACTICE


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned: where the weights are, from how many lessons, the last losses' mean."""

    path: Path
    lessons: int
    loss: float


def train_writer(
    workspace: Workspace, wished: Wished, out: Path, *, progress: Progress = silent
) -> Learned:
    """Train one set of weights, and write it to a file.

    Raises `SetupError` if a benchmark or the weights to start from cannot be read, and if
    there is nothing to learn from.
    """
    if out.is_dir():
        raise SetupError(f"{out} is a folder: name a file for the weights")
    begun = _begun(wished, wished.without)
    lessons = _by_graph(workspace, wished, progress)
    if begun is None and not wished.questions and not lessons:
        raise SetupError("there is nothing to learn from: no made-up questions, no others")
    return _finished(_first(wished, begun, progress), lessons, wished, out, progress)


def train_folds(
    workspace: Workspace, wished: Wished, folder: Path, *, folds: int, progress: Progress = silent
) -> list[Learned]:
    """Train weights for each graph of the benchmarks that have not seen it: FOLDER/GRAPH.npz.

    So many `folds` are trained, each without its share of the graphs, by chance of the seed.
    Raises `SetupError` as `train_writer` does, and if there are fewer graphs than folds.
    """
    if folder.exists() and not folder.is_dir():
        raise SetupError(f"{folder} is a file: name a folder for the weights of each graph")
    begun = _begun(wished, wished.without)
    by_graph = _by_graph(workspace, wished, progress)
    names = sorted(by_graph)
    if folds < 2 or len(names) < folds:
        raise SetupError(
            f"{len(names)} graphs cannot be parted into {folds} folds: take 2 or more, and no more "
            "than the files of --benchmark have graphs"
        )
    _refuse_seen(wished, begun, names)
    first = _first(wished, begun, progress)
    Random(wished.seed).shuffle(names)
    found: list[Learned] = []
    for fold in range(folds):
        held = names[fold::folds]
        lessons = {name: by_graph[name] for name in sorted(by_graph) if name not in held}
        kept = replace(wished, without=(*wished.without, *held))
        for name in held:
            done = found[-1].path if name != held[0] else None
            path = folder / f"{name}.npz"
            if done is None:
                found.append(_finished(first, lessons, kept, path, progress))
            else:
                with replaced(path) as file:
                    file.write(done.read_bytes())
                found.append(replace(found[-1], path=path))
    return found


@dataclass(frozen=True, eq=False)
class _Begun:
    """Weights to go on from, and their sizes."""

    weights: Trained
    settings: Settings


def _begun(wished: Wished, held: Sequence[str]) -> _Begun | None:
    """The weights to start from, which must not know a graph that is left out."""
    weights_for("", wished.ranking)  # a file that cannot be read is told of before the long work
    if wished.start is None:
        return None
    writer = PointerWriter.load(wished.start)
    begun = _Begun(continued(writer.weights, dict(writer.about)), writer.settings)
    _refuse_seen(wished, begun, held)
    return begun


def _refuse_seen(wished: Wished, begun: _Begun | None, held: Sequence[str]) -> None:
    if begun is None or not held:
        return
    known = _graphs(begun.weights.about)
    if known is None:
        raise SetupError(
            f"{wished.start} does not tell which graphs it learned from, so none can be held out: "
            "start from weights of made-up questions"
        )
    if seen := sorted(known & set(held)):
        raise SetupError(
            f"{wished.start} has learned from {', '.join(map(repr, seen))}, which is to be held "
            "out: start from other weights"
        )


def _graphs(about: Mapping[str, object]) -> set[str] | None:
    """The graphs that weights practised on; None if they practised and do not tell."""
    said = about.get("graphs")
    if isinstance(said, list):
        return set(map(str, said))
    return None if about.get("practised") else set()


def _first(wished: Wished, begun: _Begun | None, progress: Progress) -> _Begun:
    """Weights that have learned from made-up questions, or those to start from."""
    if begun is not None:
        return begun
    lessons = list(_made_up(wished, progress))
    if not lessons:
        return _Begun(Trained(started(Settings(), wished.seed), 0.0, {}), Settings())
    plan = replace(wished.plan, seed=wished.seed)
    done = trained(
        started(Settings(), wished.seed), lessons, Settings(), plan, told=_told(progress, "writing")
    )
    about = {"made up": len(lessons), "seed": wished.seed}
    return _Begun(replace(done, about=about), Settings())


def _finished(
    first: _Begun, by_graph: Mapping[str, Sequence[Lesson]], wished: Wished, out: Path,
    progress: Progress,
) -> Learned:  # fmt: skip
    done, settings = first.weights, first.settings
    lessons = [one for own in by_graph.values() for one in own]
    if lessons:
        plan = replace(wished.practice, seed=wished.seed)
        told = _told(progress, "practising")
        done = trained(done.weights, lessons, settings, plan, told=told)
    before = _graphs(first.weights.about)
    about: dict[str, object] = {
        **first.weights.about,
        "practised": len(lessons),
        "without": sorted(wished.without),
        "data": _digest(lessons),
    }
    if before is not None:
        about["graphs"] = sorted(before | {name for name, own in by_graph.items() if own})
    with replaced(out) as file:
        saved(file, done.arrays(), settings, about)
    return Learned(out, len(lessons), done.loss)


def _made_up(wished: Wished, progress: Progress) -> Iterator[Lesson]:
    """Lessons over worlds of their own, each opened in a workspace that goes with it."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(-(-wished.questions // _PARTS)):
            progress("making up questions", number * _PARTS, wished.questions)
            path = Path(folder) / f"world{number}.nt"
            seed = wished.seed * 100_000 + number
            path.write_text(world(seed), "utf-8")
            graph = Workspace(Path(folder) / "graphs").find(path)
            yield from result_of(_all(generated(graph, seed=seed, number=_PARTS), graph))


def _by_graph(workspace: Workspace, wished: Wished, progress: Progress) -> dict[str, list[Lesson]]:
    """The lessons of each graph that the benchmarks ask, but for those to be left out."""
    chosen = Chosen(wished.benchmarks, wished.number, wished.tags, seed=wished.seed)
    asked = chosen_of(workspace, chosen)
    found: dict[str, list[Lesson]] = {}
    for at, (place, questions) in enumerate(asked.items()):
        progress("reading questions", at, len(asked))
        graph = workspace.find(place)
        if graph.name not in wished.without and graph.arrays is not None:
            lessons = from_examples(questions, graph, ranking=wished.ranking)
            found.setdefault(graph.name, []).extend(result_of(_all(lessons, graph)))
    return found


async def _all(lessons: AsyncGenerator[Lesson, None], graph: KnowledgeGraph) -> list[Lesson]:
    try:
        async with aclosing(lessons) as found:
            return [lesson async for lesson in found]
    finally:
        await graph.endpoint.close()


def _told(progress: Progress, what: str) -> Callable[[int, int, float], None]:
    def told(done: int, planned: int, loss: float) -> None:
        progress(f"{what}, loss {loss:.2f}", done, planned)

    return told


def _digest(lessons: Sequence[Lesson]) -> str:
    """A hash of what was learned from."""
    whole = hashlib.sha256()
    for one in lessons:
        whole.update(one.units.grams.tobytes())
        whole.update(repr((one.skeletons, one.worths)).encode())
    return whole.hexdigest()[:16]
