"""Training and test parts of benchmarks as files of questions, a pair for each split.

DIR/fold-1-train.jsonl, DIR/fold-1-test.jsonl, …
DIR/splits.json    where the questions came from, how they were divided, how many are if
"""

import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import Contents
from askgraph.evaluation.gold.near_duplicates import Split, folds, leaks, leave_one_out
from askgraph.evaluation.questions import GoldQuestion, write_questions
from askgraph.operations.plans import file_hash
from askgraph.operations.selection import benchmark_name
from askgraph.sparql.lexer import with_declared

Json = dict[str, object]


@dataclass(frozen=True)
class Division:
    """How to divide: into so many folds by a seed, or leaving out each `graph` or `dataset`."""

    folds: int | None = None
    leave_out: str | None = None
    seed: int = 0


def write_splits(
    benchmarks: Mapping[Path, Contents], division: Division, folder: Path
) -> tuple[Json, ...]:
    """Write the files of each split into a new folder, all or none, and return what is in them.

    Each entry has `name`, `train`, `test` (numbers of questions) and `repeated`, how many test
    questions repeat a training question all the same. If two benchmarks share an id, the name of
    the benchmark is put before every id. Raises `SetupError` if it cannot be divided so, and for
    a folder that is not empty.
    """
    questions, names = _pooled(benchmarks)
    splits = _divided(questions, names, division)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SetupError(f"{folder} is there already and not empty; name another folder")
    folder.absolute().parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}~", dir=folder.absolute().parent))
    try:
        entries = tuple(_written(fresh, split, questions) for split in splits)
        about = {
            "askgraph": version("askgraph"),
            "folds": division.folds,
            "leave_out": division.leave_out,
            "seed": division.seed,
            "benchmarks": [_described(path) for path in benchmarks],
            "splits": entries,
        }
        text = json.dumps(about, ensure_ascii=False, indent=1) + "\n"
        (fresh / "splits.json").write_text(text, encoding="utf-8")
        fresh.chmod(0o755)
        fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return entries


def _pooled(benchmarks: Mapping[Path, Contents]) -> tuple[list[GoldQuestion], list[str]]:
    """All questions, their prefixes declared, and the name of the benchmark of each."""
    found: list[GoldQuestion] = []
    names: list[str] = []
    for path, contents in benchmarks.items():
        for question in contents.questions:
            query = question.sparql and with_declared(question.sparql, contents.prefixes)
            found.append(replace(question, sparql=query))
            names.append(benchmark_name(path))
    ids = Counter(question.id for question in found)
    if max(ids.values(), default=0) > 1:
        named = zip(names, found, strict=True)
        found = [replace(question, id=f"{name}/{question.id}") for name, question in named]
    return found, names


def _divided(
    questions: Sequence[GoldQuestion], names: Sequence[str], division: Division
) -> tuple[Split, ...]:
    match division:
        case Division(folds=int(number), leave_out=None):
            return folds(questions, number, seed=division.seed)
        case Division(folds=None, leave_out="dataset"):
            return leave_one_out(names)
        case Division(folds=None, leave_out="graph"):
            return leave_one_out([Path(q.graph).stem if q.graph else "none" for q in questions])
        case _:
            raise SetupError("say either into how many folds, or to leave out 'graph' or 'dataset'")


def _written(folder: Path, split: Split, questions: Sequence[GoldQuestion]) -> Json:
    train = [questions[at] for at in split.train]
    test = [questions[at] for at in split.test]
    name = re.sub(r"[^\w.-]+", "-", split.name)
    write_questions(folder / f"{name}-train.jsonl", train)
    write_questions(folder / f"{name}-test.jsonl", test)
    repeated = len(leaks(test, train))
    return {"name": name, "train": len(train), "test": len(test), "repeated": repeated}


def _described(path: Path) -> Json:
    return {"name": path.name, "sha256": file_hash(path) if path.is_file() else None}
