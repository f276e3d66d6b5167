"""Training material: lessons and pairs, made of questions and the graphs that they ask.

A lesson is a question with graph search's candidates, each run. A pair is a question with what a
query of it may name, and the reply that is wanted of a language model.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from askgraph.errors import AskgraphError, SetupError
from askgraph.evaluation.benchmarks.formats import read_benchmark
from askgraph.evaluation.by_name import collect_names
from askgraph.evaluation.questions import GoldQuestion, filter_by_graph, load_gold_table
from askgraph.graph import KnowledgeGraph
from askgraph.methods.writing.references import REFERENCES
from askgraph.sparql.lexer import with_declared
from askgraph.training.pairs import (
    Lesson,
    SkippedQuestion,
    TrainingPair,
    TrainingQuestion,
    build_lesson,
    build_pair,
    build_pairs,
    open_term_search,
    write_pairs,
)  # fmt: skip
from askgraph.workspace import Progress, Workspace, silent
from askgraph.workspace.graphs import run_over
from askgraph.workspace.run_sync import result_of
from askgraph.workspace.selection import graph_of

_PATIENCE = 60.0  # for gold's query
_TOLD = 20  # tags that an error names


@dataclass(frozen=True)
class Chosen:
    """Which questions of benchmarks: files, each with the graph that it asks, or None.

    Of all it is those with one of the `tags`, of one `split`, of so many `graphs`, and so many of
    each graph, drawn by the seed; more graphs hold the fewer.
    """

    files: tuple[tuple[Path, str | None], ...]
    number: int | None = None
    tags: tuple[str, ...] = ()
    split: str | None = None
    format: str | None = None
    language: str | None = None
    graphs: int | None = None
    seed: int = 42


def chosen_of(workspace: Workspace, chosen: Chosen) -> dict[str | Path, list[GoldQuestion]]:
    """Return the questions by the place of their graph, their prefixes declared.

    Raises `SetupError` if a file cannot be read, and for a graph or tag that there is none of.
    """
    found: dict[str | Path, list[GoldQuestion]] = {}
    tags: set[str] = set()
    for path, named in chosen.files:
        _, contents = read_benchmark(path, format=chosen.format, language=chosen.language)
        asked = contents.questions if named is None else filter_by_graph(contents.questions, named)
        tags.update(tag for one in asked for tag in one.tags)
        for one in asked:
            tagged = not chosen.tags or not set(chosen.tags).isdisjoint(one.tags)
            if tagged and chosen.split in (None, one.split):
                query = one.sparql and with_declared(one.sparql, contents.prefixes)
                place = graph_of(workspace, one, path, named)
                found.setdefault(place, []).append(replace(one, sparql=query))
    if unknown := sorted(set(chosen.tags) - tags):
        there = ", ".join(sorted(tags)[:_TOLD]) or "none has a tag"
        there += f" and {len(tags) - _TOLD} more" if len(tags) > _TOLD else ""
        raise SetupError(f"no question has the tag {unknown[0]!r}; there are: {there}")
    places = sorted(found, key=str)
    Random(chosen.seed).shuffle(places)
    drawn = {}
    for place, own in found.items():
        if place in places[: chosen.graphs]:
            few = chosen.number is None or len(own) <= chosen.number
            drawn[place] = own if few else Random(chosen.seed).sample(own, chosen.number or 0)
    return drawn


async def _lessons(
    graph: KnowledgeGraph, questions: Sequence[GoldQuestion], ranking: str
) -> list[Lesson]:
    if graph.arrays is None:
        return []
    names = await asyncio.to_thread(collect_names, graph)
    prefixes = graph.prefixes.namespaces
    found = []
    for one in questions:
        if not one.sparql or one.unanswerable:
            continue
        try:
            gold = await load_gold_table(one, graph.endpoint, prefixes=prefixes, timeout=_PATIENCE)
        except AskgraphError:
            continue  # without gold nothing is learned
        query = with_declared(one.sparql, prefixes)
        found.append(await build_lesson(one, query, gold, graph, names=names, ranking=ranking))
    return found


def lessons_of(
    workspace: Workspace, place: str | Path, questions: Sequence[GoldQuestion], ranking: str = ""
) -> list[Lesson]:
    """Return the lessons of a graph that lies here; none of another one."""
    graph = workspace.find(place)
    return run_over(graph, _lessons(graph, questions, ranking))


@dataclass(frozen=True)
class MadePairs:
    """How many questions there were, how many pairs they made, and which were left out."""

    questions: int
    pairs: int
    left_out: tuple[SkippedQuestion, ...]


@dataclass(frozen=True)
class PairForm:
    """How pairs are made, in a `form` of `askgraph.methods.writing.references`.

    What may be named is drawn by a seed, once or in several `copies`; or it is what graph search's
    candidates name that are `proposed` for the question, and the reply is the best one that is
    right.
    """

    form: str = REFERENCES
    copies: bool = True
    proposed: bool = False
    seed: int = 42


def make_pairs(
    workspace: Workspace,
    questions: Chosen | None,
    output: Path,
    *,
    graph: str | None = None,
    form: PairForm = PairForm(),
    progress: Progress = silent,
) -> MadePairs:
    """Write the pairs of questions, each over its graph, or of the examples kept for a graph.

    Raises `SetupError` if no question makes a pair; what was in the file then stays.
    """
    by_graph: dict[str | Path, list[GoldQuestion]]
    if questions is not None:
        by_graph = chosen_of(workspace, questions)
    else:
        opened = workspace.graph(graph, progress=progress)
        by_graph = {opened.name: list(_kept_questions(opened))}
        result_of(opened.endpoint.close())
    asked = [one for own in by_graph.values() for one in own]
    if not any(one.sparql for one in asked):
        what = f"the examples of {graph!r}" if questions is None else questions.files[0][0]
        raise SetupError(f"{what}: there is no question with a query")
    left_out = [SkippedQuestion(one.id, "it has no query") for one in asked if not one.sparql]

    def written() -> Iterator[TrainingPair]:
        done = 0
        for place, own in by_graph.items():
            progress("pairs", done, len(asked))
            done += len(own)
            for one in _pairs(workspace, place, [q for q in own if q.sparql], form):
                if isinstance(one, SkippedQuestion):
                    left_out.append(one)
                else:
                    yield one

    number = write_pairs(output, written())
    return MadePairs(len(asked), number, tuple(left_out))


def _pairs(
    workspace: Workspace, place: str | Path, questions: Sequence[GoldQuestion], form: PairForm
) -> Iterator[TrainingPair | SkippedQuestion]:
    if form.proposed:
        lessons = lessons_of(workspace, place, questions)
        yield from (build_pair(one, seed=form.seed, form=form.form) for one in lessons)
        missing = {one.id for one in questions} - {one.id for one in lessons}
        yield from (
            SkippedQuestion(one, "gold's query cannot be run here") for one in sorted(missing)
        )
        return
    opened = workspace.find(place)
    asked: Iterable[TrainingQuestion] = [
        TrainingQuestion(one.id, one.text, one.sparql or "") for one in questions
    ]
    try:
        with open_term_search(opened) as terms:
            yield from build_pairs(asked, terms, seed=form.seed, copies=form.copies, form=form.form)
    finally:
        result_of(opened.endpoint.close())


def _kept_questions(graph: KnowledgeGraph) -> Iterator[GoldQuestion]:
    for number, example in enumerate(graph.examples):
        for wording, asked in enumerate(example.wordings):
            name = f"example-{number}-{wording}"
            yield GoldQuestion(name, asked.text, language=asked.language, sparql=example.query)
