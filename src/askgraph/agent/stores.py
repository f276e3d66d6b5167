"""Stores of examples that a setting names: a file of questions, or SHACL executables."""

from functools import lru_cache
from pathlib import Path

from askgraph.errors import SetupError
from askgraph.metadata.examples import QueryExample
from askgraph.metadata.examples.lines import read_examples
from askgraph.metadata.examples.shacl import read_shacl

__all__ = ["examples_at"]


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
