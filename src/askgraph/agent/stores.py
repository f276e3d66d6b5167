"""Stores of examples that a setting names: a file of questions, or SHACL executables."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.metadata.examples import QueryExample, read_examples
from askgraph.metadata.examples.shacl import read_shacl

__all__ = ["examples_at", "with_examples"]


def examples_at(place: str) -> tuple[QueryExample, ...]:
    """Return the examples of a `questions.jsonl`, or of a file, folder or archive of Turtle.

    A place is read once, and again after it changed. Raises `SetupError` where it cannot be read,
    and where no example is in it.
    """
    path = Path(place).expanduser()
    try:
        changed = path.stat().st_mtime_ns
    except OSError as error:
        raise SetupError(f"cannot read the examples {place!r}: {error.strerror}") from error
    found = _read(path, changed)
    if not found:
        raise SetupError(f"no question with its query stands in {place!r}")
    return found


@lru_cache(maxsize=32)
def _read(path: Path, changed: int) -> tuple[QueryExample, ...]:
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        return read_examples(path)
    return read_shacl(path).examples


def with_examples(graphs: Sequence[KnowledgeGraph], named: str) -> Sequence[KnowledgeGraph]:
    """Return the graphs, the first with the examples at `named` instead of its own, if any.

    Raises `SetupError` as `examples_at` does.
    """
    if not named:
        return graphs
    first, *others = graphs
    return [replace(first, examples=examples_at(named)), *others]
