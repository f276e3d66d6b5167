"""The ranker's training from end to end: candidates gathered and scored, folds, what it is worth.

All lies in one folder: `training.json` (what was wished, and what came of it), `lessons/` (a file
for each graph), `ranker.npz`, which learned from all graphs, and a `foldN.npz` for each fold, which
did not learn from the graphs of the fold. A stopped training goes on from what lies there.

A language model learns nothing here (`askgraph finetune train` trains it): it is chosen how much of
a say it has, and `ranker.json` names it.
"""

import asyncio
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random

import numpy as np

from askgraph.answers.encoder import saved
from askgraph.answers.ranker import EncoderRanker, LanguageRanker, Say, language_model, losses_of
from askgraph.answers.search_run import AHEAD, SearchLimits
from askgraph.errors import SetupError
from askgraph.evaluation.files import replaced
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.reports.statistics import Difference, paired_difference
from askgraph.search.rank import weights_for
from askgraph.training.pairs import Lesson
from askgraph.training.ranker import Plan, is_encoder, trained
from askgraph.training.settings import begun
from askgraph.workspace import Progress, Workspace, silent
from askgraph.workspace.pairs import Chosen, chosen_of, kept_lessons

WHOLE = "ranker.npz"
"""The ranker that learned from all graphs."""

_APART = 5  # of so many graphs one is not learned from, but says how much of a say is best


ASKED = "ranker.json"
"""The file that names a language model and its say."""


@dataclass(frozen=True)
class Wished:
    """What to train on: an encoder's folder, and files of questions, each with its graph or None.

    So many `folds` are trained besides, each without a share of the graphs: by chance of the seed,
    or `by` the rest of the tag that starts so (`style:`), so that a tag is all in one fold. The
    graphs of `without` are left out, and questions with none of the `tags`, if there are any.
    `ranking` is the file whose weights score the candidates.
    """

    base: Path
    benchmarks: tuple[tuple[Path, str | None], ...]
    folds: int = 0
    by: str = ""
    without: tuple[str, ...] = ()
    questions: int | None = None
    ranking: str = ""
    tags: tuple[str, ...] = ()
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
    learns = is_encoder(wished.base)  # what cannot be read is told of before the long work
    if not learns and wished.folds:
        raise SetupError(
            f"{wished.base} is a language model, which learns nothing here: leave out the folds, "
            "and name questions over graphs that it has not learned from"
        )
    weights_for("", wished.ranking)
    done = begun(folder, _plan(wished))
    with replaced(folder / "training.json") as file:
        file.write(json.dumps({**_plan(wished), **({"result": done} if done else {})}).encode())
    by_graph = dict(_by_graph(workspace, wished, folder / "lessons", progress))
    if learns:
        parts = _parts(by_graph, wished)
        files = {f"fold{number}.npz": held for number, held in enumerate(parts, 1)} | {WHOLE: ()}
        found = [
            _learned(by_graph, wished, folder / name, tuple(held), progress)
            for name, held in files.items()
        ]
    else:
        found = [_given_a_say(by_graph, wished, folder / ASKED, progress)]
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
    lists = {"without": list(wished.without), "tags": list(wished.tags), "benchmarks": files}
    return {**given, "base": str(wished.base), **lists}


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
    ranker = EncoderRanker.load(path)
    lessons, loss = int(str(ranker.about["lessons"])), float(str(ranker.about["loss"]))
    if not held:
        return Learned(path, lessons, loss, ranker.say)
    asked = [one for name in held for one in by_graph[name].lessons]
    liked = _liked(ranker, asked, progress)
    gain = _gain(asked, liked, [ranker.say] * len(asked))
    return Learned(path, lessons, loss, ranker.say, held, gain)


def _gain(
    asked: Sequence[Lesson], liked: Sequence[Sequence[float]], says: Sequence[Say]
) -> Difference:
    """What a ranker changes in the worth of the answers, each with the say that it has there."""
    before = {str(at): worth_of(one, [], Say()) for at, one in enumerate(asked)}
    after = {
        str(at): worth_of(one, own, say)
        for at, (one, own, say) in enumerate(zip(asked, liked, says, strict=True))
    }
    return paired_difference(before, after)


def _given_a_say(
    by_graph: Mapping[str, _Gathered], wished: Wished, path: Path, progress: Progress
) -> Learned:
    """Choose how much of a say a language model has; its gain is measured where it was not chosen.

    The graphs are parted in two: on each half it has the say that is best on the other one.
    """
    names = sorted(by_graph)
    half = set(Random(wished.plan.seed).sample(names, len(names) // 2))
    placed = [(name in half, one) for name in names for one in by_graph[name].lessons]
    asked = [one for _, one in placed]
    model = LanguageRanker(Say(), {}, language_model(str(wished.base)))
    liked = _liked(model, asked, progress)

    def best(side: bool | None) -> Say:
        chosen = [at for at, (there, _) in enumerate(placed) if there is not side]
        return say_of([asked[at] for at in chosen], [liked[at] for at in chosen])

    say, others = best(None), {side: best(side) for side in (False, True)}
    gain = _gain(asked, liked, [others[there] for there, _ in placed])
    about = {"asked": names, "lessons": len(asked)}
    place = os.path.relpath(wished.base.absolute(), path.absolute().parent)
    record = {**_header(say, about), "model": place}
    with replaced(path) as file:
        file.write((json.dumps(record, indent=1) + "\n").encode())
    return Learned(path, len(asked), 0.0, say, tuple(names), gain)


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
        saved(file, made.weights, made.tokenizer, made.sizes, _header(Say(), about))
    say = say_of(aside, _liked(EncoderRanker.load(bare), aside, progress))  # as it will be asked
    with replaced(path) as file:
        saved(file, made.weights, made.tokenizer, made.sizes, _header(say, about))
    for left in (bare, kept):
        left.unlink(missing_ok=True)


def _header(say: Say, about: Mapping[str, object]) -> dict[str, object]:
    """What a ranker's file says of it."""
    return {"version": 1, "say": asdict(say), "about": dict(about)}


def _liked(
    ranker: EncoderRanker | LanguageRanker, lessons: Sequence[Lesson], progress: Progress
) -> list[list[float]]:
    """How well each candidate of each question fits."""
    found = []
    with asyncio.Runner() as runner:
        for at, one in enumerate(lessons):
            progress("reading candidates", at, len(lessons))
            if isinstance(ranker, EncoderRanker):
                found.append(ranker.judgements(one.text, [r.words for r in one.readings]))
            else:
                queries = [r.query for r in one.readings]
                found.append(runner.run(ranker.judgements(one.text, queries, one.named)))
    return found


def _told(progress: Progress, name: str) -> Callable[[int, int, float], None]:
    return lambda done, planned, loss: progress(f"{name}, loss {loss:.2f}", done, planned)


def _by_graph(
    workspace: Workspace, wished: Wished, folder: Path, progress: Progress
) -> Iterator[tuple[str, _Gathered]]:
    """The lessons of each graph; those of a graph that was gathered before are read again."""
    seed = wished.plan.seed
    chosen = Chosen(wished.benchmarks, wished.questions, wished.tags, seed=seed)
    asked = chosen_of(workspace, chosen)
    for at, (place, questions) in enumerate(asked.items()):
        progress("gathering candidates", at, len(asked))
        name = place.stem if isinstance(place, Path) else place
        if name not in wished.without:
            file = folder / f"{name}.jsonl.gz"
            found = kept_lessons(file, workspace, place, questions, wished.ranking)
            yield name, _Gathered(tuple(found), _tag(questions, wished.by, name))


def _tag(questions: Sequence[GoldQuestion], start: str, graph: str) -> str:
    """The one tag with such a start that all questions over a graph have; none without a start."""
    if not start:
        return ""
    found = {tag for one in questions for tag in one.tags if tag.startswith(start)}
    if len(found) != 1:
        raise SetupError(
            f"the questions over {graph!r} have {len(found)} tags that start with {start!r}: "
            "all must have the same one"
        )
    return found.pop()


WEIGHTS = (0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3)
BELOW = (0.3, 0.5, 0.7, 0.9)
"""How much a say may weigh, and from which confidence on there is none: what is tried."""


def say_of(lessons: Sequence[Lesson], liked: Sequence[Sequence[float]]) -> Say:
    """Return how much of a say is best for lessons that nothing was learned from.

    Its gain in worth must be more than what may be chance: the best is what gains most after its
    standard error is taken off; no say at all if nothing is left then.
    """
    best, most = Say(), 0.0
    for below in BELOW:
        for weight in WEIGHTS:
            say = Say(weight, below)
            gains = np.array(
                [
                    worth_of(one, own, say) - worth_of(one, own, Say())
                    for one, own in zip(lessons, liked, strict=True)
                ]
            )
            found = float(gains.mean() - gains.std() / len(gains) ** 0.5) if len(gains) else 0.0
            if found > most:
                best, most = say, found
    return best


def worth_of(lesson: Lesson, liked: Sequence[float], say: Say) -> float:
    """Return what graph search's answer is worth if a ranker has such a say in it.

    Of candidates near the best, the first that is not empty is the answer, as `SearchRun` has it.
    """
    readings = lesson.readings
    if not readings:
        return 0.0
    scores = [one.score for one in readings]
    if say.weight and lesson.confidence < say.below:
        scores = [s - loss for s, loss in zip(scores, losses_of(liked, say.weight), strict=True)]
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    for at in order[: SearchLimits().tried]:
        if scores[at] < scores[order[0]] - AHEAD:
            break
        if not readings[at].empty:
            return readings[at].worth
    return readings[order[0]].worth
