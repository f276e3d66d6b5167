"""Make training pairs from questions and their graphs.

A pair is a question with the terms that its query may use, and the expected reply of a language
model.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from askgraph.errors import AskgraphError, SetupError
from askgraph.evaluation.benchmarks.formats import read_benchmark
from askgraph.evaluation.questions import (
    GoldQuestion,
    collect_names,
    filter_by_graph,
    load_gold_table,
)
from askgraph.graph import KnowledgeGraph
from askgraph.methods.writing.term_names import NAMES
from askgraph.sparql.lexer import declare_prefixes
from askgraph.training.pairs import (
    SkippedQuestion,
    TrainingPair,
    TrainingQuestion,
    build_pairs,
    open_term_search,
    propose_pair,
    write_pairs,
)  # fmt: skip
from askgraph.workspace import Progress, Workspace, ignore_progress
from askgraph.workspace.graphs import run_and_close
from askgraph.workspace.run_sync import run_coroutine
from askgraph.workspace.selection import resolve_graph

_GOLD_TIMEOUT_SECONDS = 60.0  # for gold's query
_MAX_LISTED_TAGS = 20  # tags that an error names


@dataclass(frozen=True)
class QuestionSelection:
    """A selection of benchmark questions: files, each with its graph or None.

    Only questions with one of the `tags` and of one `split`, at most `number` for each of
    at most `graphs` graphs, drawn by the seed; more graphs include the fewer.
    """

    files: tuple[tuple[Path, str | None], ...]
    number: int | None = None
    tags: tuple[str, ...] = ()
    split: str | None = None
    format: str | None = None
    language: str | None = None
    graphs: int | None = None
    seed: int = 42


def select_questions(
    workspace: Workspace, selection: QuestionSelection
) -> dict[str | Path, list[GoldQuestion]]:
    """Return the selected questions by their graph, with prefixes declared.

    Raises:
        SetupError: a file cannot be read, or a graph or tag does not exist.
    """
    questions_by_graph: dict[str | Path, list[GoldQuestion]] = {}
    tags: set[str] = set()
    for path, name in selection.files:
        _, contents = read_benchmark(path, format=selection.format, language=selection.language)
        file_questions = (
            contents.questions if name is None else filter_by_graph(contents.questions, name)
        )
        tags.update(tag for question in file_questions for tag in question.tags)
        for question in file_questions:
            has_tag = not selection.tags or not set(selection.tags).isdisjoint(question.tags)
            if has_tag and selection.split in (None, question.split):
                query = question.sparql and declare_prefixes(question.sparql, contents.prefixes)
                source = resolve_graph(workspace, question, path, name)
                questions_by_graph.setdefault(source, []).append(replace(question, sparql=query))
    if unknown := sorted(set(selection.tags) - tags):
        tag_list = ", ".join(sorted(tags)[:_MAX_LISTED_TAGS]) or "none has a tag"
        tag_list += (
            f" and {len(tags) - _MAX_LISTED_TAGS} more" if len(tags) > _MAX_LISTED_TAGS else ""
        )
        raise SetupError(f"no question has the tag {unknown[0]!r}; available: {tag_list}")
    graph_sources = sorted(questions_by_graph, key=str)
    Random(selection.seed).shuffle(graph_sources)
    drawn = {}
    for source, graph_questions in questions_by_graph.items():
        if source in graph_sources[: selection.graphs]:
            drawn[source] = (
                graph_questions
                if selection.number is None or len(graph_questions) <= selection.number
                else Random(selection.seed).sample(graph_questions, selection.number or 0)
            )
    return drawn


@dataclass(frozen=True)
class PairCounts:
    """The numbers of questions and pairs, and the questions that were left out."""

    questions: int
    pairs: int
    left_out: tuple[SkippedQuestion, ...]


@dataclass(frozen=True)
class PairForm:
    """How pairs are made, in a `form` of `askgraph.methods.writing.term_names`.

    The terms of a pair are drawn by a seed, once or in several `copies`. With `proposed`,
    they come from the candidates of graph search, and the reply is the best correct
    candidate.
    """

    form: str = NAMES
    copies: bool = True
    proposed: bool = False
    seed: int = 42


def make_pairs(
    workspace: Workspace,
    questions: QuestionSelection | None,
    output: Path,
    *,
    graph: str | None = None,
    form: PairForm = PairForm(),
    progress: Progress = ignore_progress,
) -> PairCounts:
    """Write the pairs of questions, each over its graph, or of the examples stored for a graph.

    Raises:
        SetupError: no question makes a pair; then the file stays unchanged.
    """
    by_graph: dict[str | Path, list[GoldQuestion]]
    if questions is not None:
        by_graph = select_questions(workspace, questions)
    else:
        opened = workspace.graph(graph, progress=progress)
        by_graph = {opened.name: list(_iterate_example_questions(opened))}
        run_coroutine(opened.endpoint.close())
    all_questions = [
        question for graph_questions in by_graph.values() for question in graph_questions
    ]
    if not any(question.sparql for question in all_questions):
        source = f"the examples of {graph!r}" if questions is None else questions.files[0][0]
        raise SetupError(f"{source} contains no question with a query")
    left_out = [
        SkippedQuestion(question.id, "it has no query")
        for question in all_questions
        if not question.sparql
    ]

    def generate_pairs() -> Iterator[TrainingPair]:
        done = 0
        for graph_source, graph_questions in by_graph.items():
            progress("pairs", done, len(all_questions))
            done += len(graph_questions)
            for pair in _iterate_pairs(
                workspace,
                graph_source,
                [question for question in graph_questions if question.sparql],
                form,
            ):
                if isinstance(pair, SkippedQuestion):
                    left_out.append(pair)
                else:
                    yield pair

    return PairCounts(len(all_questions), write_pairs(output, generate_pairs()), tuple(left_out))


def _iterate_pairs(
    workspace: Workspace,
    graph_source: str | Path,
    questions: Sequence[GoldQuestion],
    form: PairForm,
) -> Iterator[TrainingPair | SkippedQuestion]:
    opened = workspace.find(graph_source)
    if form.proposed:
        yield from run_and_close(opened, _propose_pairs(opened, questions, form))
        return
    training_questions: Iterable[TrainingQuestion] = [
        TrainingQuestion(item.id, item.text, item.sparql or "") for item in questions
    ]
    try:
        with open_term_search(opened) as terms:
            yield from build_pairs(
                training_questions, terms, seed=form.seed, copies=form.copies, form=form.form
            )
    finally:
        run_coroutine(opened.endpoint.close())


async def _propose_pairs(
    graph: KnowledgeGraph, questions: Sequence[GoldQuestion], form: PairForm
) -> list[TrainingPair | SkippedQuestion]:
    names = await asyncio.to_thread(collect_names, graph) if graph.arrays is not None else {}
    prefixes = graph.prefixes.namespaces
    pairs: list[TrainingPair | SkippedQuestion] = []
    for question in questions:
        gold = None
        if graph.arrays is not None and not question.unanswerable:
            with suppress(AskgraphError):
                gold = await load_gold_table(
                    question, graph.endpoint, prefixes=prefixes, timeout=_GOLD_TIMEOUT_SECONDS
                )
        if gold is None:
            pairs.append(SkippedQuestion(question.id, "the gold query cannot run on this graph"))
            continue
        query = declare_prefixes(question.sparql or "", prefixes)
        pairs.append(
            await propose_pair(
                question, query, gold, graph, names=names, seed=form.seed, form=form.form
            )
        )
    return pairs


def _iterate_example_questions(graph: KnowledgeGraph) -> Iterator[GoldQuestion]:
    for number, example in enumerate(graph.examples):
        for wording, text in enumerate(example.wordings):
            name = f"example-{number}-{wording}"
            yield GoldQuestion(name, text.text, language=text.language, sparql=example.query)
