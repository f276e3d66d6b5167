"""The selection of a run: questions of benchmarks, and the graph that each is asked of.

Questions are also divided into training and test parts, as files, a pair for each split:

    DIR/fold-1-train.jsonl, DIR/fold-1-test.jsonl, …
    DIR/splits.json    where the questions came from, how they were divided, how many are if
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
from askgraph.sparql.lexer import with_declared
from askgraph.workspace import Workspace
from askgraph.workspace.graph_data import is_url
from askgraph.workspace.plans import Asked, file_hash, sampled

Json = dict[str, object]


@dataclass(frozen=True)
class Selection:
    """What to ask of the benchmarks; None chooses nothing.

    `graph` is that of benchmarks that do not say theirs; `gold` a file of frozen gold results;
    `with_rows` leaves out questions whose right answer is known to have no row. `folds` and
    `leave_out` (`graph`, `dataset`) say what a method may learn from.
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

    def json(self) -> Json:
        """Return what a run records of it."""
        gold = str(self.gold) if self.gold else None
        chosen = ("language", "kg", "split", "limit", "sample", "seed", "folds", "leave_out")
        found: Json = {**{name: getattr(self, name) for name in chosen}, "gold": gold}
        return {**found, "with_rows": True} if self.with_rows else found


def selected(
    workspace: Workspace, sources: Sequence[str], selection: Selection
) -> tuple[Asked, ...]:
    """Read the benchmarks and choose their questions; a source is a path, or `PATH@GRAPH`.

    Raises `SetupError` if nothing is left to ask, if questions have no gold, and if a
    graph is not known.
    """
    asked = [_asked(workspace, source, selection) for source in sources]
    return tuple(replace(one, name=name) for one, name in zip(asked, _names(asked), strict=True))


def _asked(workspace: Workspace, source: str, selection: Selection) -> Asked:
    path, graph = _split(source, selection.graph)
    format, contents = read_benchmark(path, format=selection.format, language=selection.language)
    questions = _with_gold(_chosen(path, contents, selection, graph), selection.gold)
    graphs = tuple(graph_of(workspace, question, path, graph) for question in questions)
    return Asked(benchmark_name(path), path, format, contents, questions, graphs)


def _split(source: str, graph: str | None) -> tuple[Path, str | None]:
    path, at, name = source.rpartition("@")
    if at and not Path(source).exists():
        return Path(path), name
    return Path(source), graph


def _chosen(
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
        found = tuple(question for question in questions if question.split == split)
        if not found:
            splits = sorted({question.split for question in questions if question.split})
            there = f"there are {', '.join(splits)}" if splits else "its questions are of none"
            raise SetupError(f"{path}: no question is of the split {split!r}; {there}")
        questions = found
    if selection.with_rows:
        questions = _with_rows(path, _with_gold(questions, selection.gold))
    if selection.sample is not None:
        questions = sampled(questions, selection.sample, seed=selection.seed)
    questions = questions[: selection.limit]
    if not questions:
        raise SetupError(f"{path}: no question is left to ask")
    return questions


def _with_gold(questions: Sequence[GoldQuestion], gold: Path | None) -> tuple[GoldQuestion, ...]:
    if gold is None:
        return tuple(questions)
    frozen = read_frozen_gold(gold)
    return tuple(frozen.set_stored_answer(question) for question in questions)


def _with_rows(path: Path, questions: Sequence[GoldQuestion]) -> tuple[GoldQuestion, ...]:
    if unknown := [one.id for one in questions if one.answers is None and not one.unanswerable]:
        raise SetupError(
            f"{path}: whether the answer has rows is not known of {len(unknown)} questions, as "
            f"{unknown[0]!r}: 'askgraph benchmark freeze' runs their queries, --gold takes its file"
        )
    return tuple(one for one in questions if one.answers and one.answers.rows)


def benchmark_name(path: Path) -> str:
    """Return the name of a benchmark: its file's, or its folder's if the file has no own."""
    stem = path.name.split(".")[0] or path.name
    return path.absolute().parent.name if stem == "questions" else stem


def _names(asked: Sequence[Asked]) -> list[str]:
    """Names that tell the benchmarks apart."""
    names: list[str] = []
    for one in asked:
        longer = f"{one.path.absolute().parent.name}-{one.name}"
        numbered = (f"{longer}-{number}" for number in count(2))
        names.append(next(n for n in chain([one.name, longer], numbered) if n not in names))
    return names


SUFFIXES = (".ttl", ".nt", ".nq", ".trig", ".rdf", ".owl", ".jsonld", ".n3")
FOLDER = "kg"


def graph_of(
    workspace: Workspace, question: GoldQuestion, benchmark: Path, named: str | None = None
) -> str | Path:
    """Return what `Workspace.find` takes for the graph of a question.

    `named` is what the caller chose, and goes first. Else it is the graph that the question names:
    the workspace's graph of that name or with that file's stem, a file of that name beside the
    benchmark or in `kg/` there, a URL as it is. A question that names none goes to the workspace's
    only graph. Raises `SetupError` if there is none of these.
    """
    if named is not None:
        return named
    if question.graph is None:
        return _only_graph(workspace, question, benchmark)
    name = question.graph
    graphs = workspace.graphs()
    known = next((known for known in (name, Path(name).stem) if known in graphs), None)
    if known is not None or is_url(name):
        return known or name
    place = benchmark if benchmark.is_dir() else benchmark.absolute().parent
    folders = (place, place / FOLDER)
    files = (folder / (name + suffix) for folder in folders for suffix in ("", *SUFFIXES))
    found = next((file for file in files if file.is_file()), None)
    if found is None:
        raise SetupError(
            f"there is no graph {name!r} for question {question.id!r}: neither in the workspace "
            f"{workspace.folder}, nor as a file in {folders[0]} or {folders[1]}. Add it with: "
            f"askgraph add {Path(name).stem} FILE"
        )
    return found


def _only_graph(workspace: Workspace, question: GoldQuestion, benchmark: Path) -> str:
    graphs = workspace.graphs()
    if len(graphs) != 1:
        there = f"there are {', '.join(graphs)}" if graphs else "add one with: askgraph add"
        raise SetupError(
            f"question {question.id!r} of {benchmark} does not say which graph it is about: "
            f"name one with -g; {there}"
        )
    return next(iter(graphs))


@dataclass(frozen=True)
class Division:
    """How to divide: into so many folds by a seed, or leaving out each `graph` or `dataset`."""

    folds: int | None = None
    leave_out: str | None = None
    seed: int = 0


def write_splits(
    benchmarks: Mapping[Path, BenchmarkContents], division: Division, folder: Path
) -> tuple[Json, ...]:
    """Write the files of each split into a new folder, all or none, and return what is in them.

    Each entry has `name`, `train`, `test` (numbers of questions) and `repeated`, how many test
    questions repeat a training question all the same. If two benchmarks share an id, the name of
    the benchmark is put before every id. Raises `SetupError` if it cannot be divided so, and for
    a folder that is not empty.
    """
    questions: list[GoldQuestion] = []
    names: list[str] = []
    for path, contents in benchmarks.items():
        for question in contents.questions:
            query = question.sparql and with_declared(question.sparql, contents.prefixes)
            questions.append(replace(question, sparql=query))
            names.append(benchmark_name(path))
    ids = Counter(question.id for question in questions)
    if max(ids.values(), default=0) > 1:
        named = zip(names, questions, strict=True)
        questions = [replace(question, id=f"{name}/{question.id}") for name, question in named]
    splits = _divided(questions, names, division)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SetupError(f"{folder} is there already and not empty; name another folder")
    folder.absolute().parent.mkdir(parents=True, exist_ok=True)
    beside = make_temporary_path(folder.absolute())
    beside.mkdir()
    try:
        entries = tuple(_written(beside, split, questions) for split in splits)
        about = {
            "askgraph": version("askgraph"),
            "folds": division.folds,
            "leave_out": division.leave_out,
            "seed": division.seed,
            "benchmarks": [
                {"name": one.name, "sha256": file_hash(one) if one.is_file() else None}
                for one in benchmarks
            ],
            "splits": entries,
        }
        text = json.dumps(about, ensure_ascii=False, indent=1) + "\n"
        (beside / "splits.json").write_text(text, encoding="utf-8")
        beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return entries


def _divided(
    questions: Sequence[GoldQuestion], names: Sequence[str], division: Division
) -> tuple[DataSplit, ...]:
    match division:
        case Division(folds=int(number), leave_out=None):
            return split_folds(questions, number, seed=division.seed)
        case Division(folds=None, leave_out="dataset"):
            return split_leave_one_out(names)
        case Division(folds=None, leave_out="graph"):
            return split_leave_one_out(
                [Path(q.graph).stem if q.graph else "none" for q in questions]
            )
        case _:
            raise SetupError("say either into how many folds, or to leave out 'graph' or 'dataset'")


def _written(folder: Path, split: DataSplit, questions: Sequence[GoldQuestion]) -> Json:
    train = [questions[at] for at in split.train]
    test = [questions[at] for at in split.test]
    name = re.sub(r"[^\w.-]+", "-", split.name)
    write_questions(folder / f"{name}-train.jsonl", train)
    write_questions(folder / f"{name}-test.jsonl", test)
    repeated = len(find_leaks(test, train))
    return {"name": name, "train": len(train), "test": len(test), "repeated": repeated}
