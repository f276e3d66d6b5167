"""Select the questions of a run from benchmarks, each with its graph.

Questions can also be divided into training and test files, a pair for each split:

    DIR/fold-1-train.jsonl, DIR/fold-1-test.jsonl, …
    DIR/splits.json    the sources, the division and the numbers of questions
"""

import json
import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import chain, count
from pathlib import Path

from askgraph.atomic_files import make_temporary_path
from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import BenchmarkContents
from askgraph.evaluation.benchmarks.formats import read_benchmark
from askgraph.evaluation.gold.frozen import read_frozen_gold
from askgraph.evaluation.gold.near_duplicates import (
    DataSplit,
    find_leaks,
    split_folds,
    split_leave_one_out,
)
from askgraph.evaluation.questions import GoldQuestion, filter_by_graph, write_questions
from askgraph.sparql.lexer import declare_prefixes
from askgraph.workspace import Workspace
from askgraph.workspace.graph_data import is_url
from askgraph.workspace.plans import BenchmarkQuestions, hash_file, sample_questions

Json = dict[str, object]


@dataclass(frozen=True)
class Selection:
    """The questions to ask of the benchmarks; None means no restriction.

    `graph` is the graph of benchmarks that name none; `gold` a file of frozen gold results;
    `with_rows` excludes questions whose gold result is empty. `folds` and `leave_out`
    (`graph`, `dataset`) define what a method may learn from.
    """

    graph: str | None = None
    format: str | None = None
    language: str | None = None
    kg: str | None = None
    split: str | None = None
    limit: int | None = None
    sample: int | None = None
    seed: int = 0
    folds: int | None = None
    leave_out: str | None = None
    gold: Path | None = None
    with_rows: bool = False

    def to_json(self) -> Json:
        """Return the fields that a run records."""
        gold = str(self.gold) if self.gold else None
        chosen = ("language", "kg", "split", "limit", "sample", "seed", "folds", "leave_out")
        values: Json = {**{name: getattr(self, name) for name in chosen}, "gold": gold}
        return {**values, "with_rows": True} if self.with_rows else values


def select_benchmarks(
    workspace: Workspace, sources: Sequence[str], selection: Selection
) -> tuple[BenchmarkQuestions, ...]:
    """Read the benchmarks and select their questions; a source is a path, or `PATH@GRAPH`.

    Raises:
        SetupError: no question is left, questions have no gold, or a graph is unknown.
    """
    benchmarks = [_select_benchmark(workspace, source, selection) for source in sources]
    return tuple(
        replace(benchmark, name=name)
        for benchmark, name in zip(benchmarks, _create_unique_names(benchmarks), strict=True)
    )


def _select_benchmark(
    workspace: Workspace, source: str, selection: Selection
) -> BenchmarkQuestions:
    prefix, at, name = source.rpartition("@")
    has_graph = bool(at) and not Path(source).exists()
    path, graph = (Path(prefix), name) if has_graph else (Path(source), selection.graph)
    format, contents = read_benchmark(path, format=selection.format, language=selection.language)
    questions = attach_gold(_select_questions(path, contents, selection, graph), selection.gold)
    graphs = tuple(resolve_graph(workspace, question, path, graph) for question in questions)
    return BenchmarkQuestions(get_benchmark_name(path), path, format, contents, questions, graphs)


def _select_questions(
    path: Path, contents: BenchmarkContents, selection: Selection, graph: str | None
) -> tuple[GoldQuestion, ...]:
    questions = contents.questions
    if not questions:
        for first in contents.unreadable[:1]:
            raise SetupError(
                f"none of the {len(contents.unreadable)} items of {path} can be asked and scored; "
                f"the first: {first.location}: {first.reason}"
            )
    if selection.kg is not None:
        questions = filter_by_graph(questions, selection.kg, required=True)
    elif graph is not None:
        questions = filter_by_graph(questions, graph)
    if selection.split is not None:
        split = selection.split
        split_questions = tuple(question for question in questions if question.split == split)
        if not split_questions:
            splits = sorted({question.split for question in questions if question.split})
            split_list = (
                f"available: {', '.join(splits)}" if splits else "its questions have no split"
            )
            raise SetupError(f"{path}: no question has the split {split!r}; {split_list}")
        questions = split_questions
    if selection.with_rows:
        questions = _keep_nonempty(path, attach_gold(questions, selection.gold))
    if selection.sample is not None:
        questions = sample_questions(questions, selection.sample, seed=selection.seed)
    questions = questions[: selection.limit]
    if not questions:
        raise SetupError(f"{path}: no question remains after the filters")
    return questions


def attach_gold(questions: Sequence[GoldQuestion], gold: Path | None) -> tuple[GoldQuestion, ...]:
    """Return the questions with the results in a file of frozen gold, if there is one."""
    if gold is None:
        return tuple(questions)
    frozen = read_frozen_gold(gold)
    return tuple(frozen.set_stored_answer(question) for question in questions)


def _keep_nonempty(path: Path, questions: Sequence[GoldQuestion]) -> tuple[GoldQuestion, ...]:
    if unknown := [
        question.id
        for question in questions
        if question.answers is None and not question.unanswerable
    ]:
        raise SetupError(
            f"{path}: {len(unknown)} questions have no known result, such as "
            f"{unknown[0]!r}: run their queries with 'askgraph benchmark freeze', and name "
            "its file with --gold"
        )
    return tuple(question for question in questions if question.answers and question.answers.rows)


def get_benchmark_name(path: Path) -> str:
    """Return the name of a benchmark: its file's, or its folder's for a file `questions`."""
    stem = path.name.split(".")[0] or path.name
    return path.absolute().parent.name if stem == "questions" else stem


def _create_unique_names(benchmarks: Sequence[BenchmarkQuestions]) -> list[str]:
    names: list[str] = []
    for benchmark in benchmarks:
        longer = f"{benchmark.path.absolute().parent.name}-{benchmark.name}"
        numbered = (f"{longer}-{number}" for number in count(2))
        names.append(
            next(
                candidate
                for candidate in chain([benchmark.name, longer], numbered)
                if candidate not in names
            )
        )
    return names


RDF_SUFFIXES = (".ttl", ".nt", ".nq", ".trig", ".rdf", ".owl", ".jsonld", ".n3")
GRAPH_FOLDER = "kg"


def resolve_graph(
    workspace: Workspace, question: GoldQuestion, benchmark: Path, chosen_graph: str | None = None
) -> str | Path:
    """Return the name, path or URL of the graph of a question.

    `chosen_graph` comes first. Else the question's graph is used: a graph of the workspace
    with that name or file stem, a file of that name beside the benchmark or in `kg/` there,
    or a URL. A question without a graph goes to the workspace's only graph.

    Raises:
        SetupError: no graph matches.
    """
    if chosen_graph is not None:
        return chosen_graph
    if question.graph is None:
        graphs = workspace.graphs()
        if len(graphs) != 1:
            hint = f"available: {', '.join(graphs)}" if graphs else "add one with: askgraph add"
            raise SetupError(
                f"question {question.id!r} of {benchmark} does not say which graph it is about: "
                f"name one with -g; {hint}"
            )
        return next(iter(graphs))
    name = question.graph
    graphs = workspace.graphs()
    graph_name = next(
        (graph_name for graph_name in (name, Path(name).stem) if graph_name in graphs), None
    )
    if graph_name is not None or is_url(name):
        return graph_name or name
    benchmark_folder = benchmark if benchmark.is_dir() else benchmark.absolute().parent
    folders = (benchmark_folder, benchmark_folder / GRAPH_FOLDER)
    files = (folder / (name + suffix) for folder in folders for suffix in ("", *RDF_SUFFIXES))
    graph_file = next((file for file in files if file.is_file()), None)
    if graph_file is None:
        raise SetupError(
            f"there is no graph {name!r} for question {question.id!r}: neither in the workspace "
            f"{workspace.folder}, nor as a file in {folders[0]} or {folders[1]}. Add it with: "
            f"askgraph add {Path(name).stem} FILE"
        )
    return graph_file


@dataclass(frozen=True)
class SplitOptions:
    """How to divide: into folds by a seed, or leaving out each `graph` or `dataset`."""

    folds: int | None = None
    leave_out: str | None = None
    seed: int = 0


def write_splits(
    benchmarks: Mapping[Path, BenchmarkContents], division: SplitOptions, folder: Path
) -> tuple[Json, ...]:
    """Write the files of each split into a new folder, all or none, and return a summary.

    Each entry has `name`, `train`, `test` (numbers of questions) and `repeated`, the number
    of test questions that repeat a training question. If two benchmarks share an id, each
    id gets the benchmark's name as a prefix.

    Raises:
        SetupError: the division is impossible, or the folder is not empty.
    """
    questions: list[GoldQuestion] = []
    names: list[str] = []
    for path, contents in benchmarks.items():
        for question in contents.questions:
            query = question.sparql and declare_prefixes(question.sparql, contents.prefixes)
            questions.append(replace(question, sparql=query))
            names.append(get_benchmark_name(path))
    if max(Counter(question.id for question in questions).values(), default=0) > 1:
        named_questions = zip(names, questions, strict=True)
        questions = [
            replace(question, id=f"{name}/{question.id}") for name, question in named_questions
        ]
    splits = _divide_questions(questions, names, division)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SetupError(f"{folder} exists already and is not empty; name another folder")
    folder.absolute().parent.mkdir(parents=True, exist_ok=True)
    beside = make_temporary_path(folder.absolute())
    beside.mkdir()
    try:
        entries = tuple(_write_split(beside, split, questions) for split in splits)
        summary = {
            "askgraph": version("askgraph"),
            "folds": division.folds,
            "leave_out": division.leave_out,
            "seed": division.seed,
            "benchmarks": [
                {
                    "name": benchmark.name,
                    "sha256": hash_file(benchmark) if benchmark.is_file() else None,
                }
                for benchmark in benchmarks
            ],
            "splits": entries,
        }
        text = json.dumps(summary, ensure_ascii=False, indent=1) + "\n"
        (beside / "splits.json").write_text(text, encoding="utf-8")
        beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return entries


def _divide_questions(
    questions: Sequence[GoldQuestion], names: Sequence[str], division: SplitOptions
) -> tuple[DataSplit, ...]:
    match division:
        case SplitOptions(folds=int(number), leave_out=None):
            return split_folds(questions, number, seed=division.seed)
        case SplitOptions(folds=None, leave_out="dataset"):
            return split_leave_one_out(names)
        case SplitOptions(folds=None, leave_out="graph"):
            return split_leave_one_out(
                [Path(question.graph).stem if question.graph else "none" for question in questions]
            )
        case _:
            raise SetupError("give either a number of folds, or 'graph' or 'dataset' to leave out")


def _write_split(folder: Path, split: DataSplit, questions: Sequence[GoldQuestion]) -> Json:
    train = [questions[position] for position in split.train]
    test = [questions[position] for position in split.test]
    name = re.sub(r"[^\w.-]+", "-", split.name)
    write_questions(folder / f"{name}-train.jsonl", train)
    write_questions(folder / f"{name}-test.jsonl", test)
    repeated = len(find_leaks(test, train))
    return {"name": name, "train": len(train), "test": len(test), "repeated": repeated}
