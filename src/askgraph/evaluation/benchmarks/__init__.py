"""Readers of the public benchmark formats.

To add a benchmark whose records are JSON objects, add a class to `json_records` and its name to
the table of `askgraph.plugins`. For any other format, add one file whose `__all__` names one class
that fits `Benchmark`. Put a sample file in `tests/contracts/benchmark_samples`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol

from askgraph.evaluation.questions import GoldQuestion


@dataclass(frozen=True)
class UnreadableItem:
    """An item that cannot be asked or scored; `place` is its file and line or number."""

    location: str
    reason: str


@dataclass(frozen=True)
class BenchmarkContents:
    """The contents of a file or folder.

    Attributes:
        prefixes: Prefixes that the gold queries may use without declaring them.
    """

    questions: tuple[GoldQuestion, ...]  # the questions in file order
    unreadable: tuple[UnreadableItem, ...] = ()  # the items that could not be read
    graph: str | None = None  # what the questions are about (`wikidata`, …), if known
    prefixes: Mapping[str, str] = field(default_factory=dict)


class Benchmark(Protocol):
    """A benchmark format, with its title for display and the names of its usual splits."""

    title: ClassVar[str]
    splits: ClassVar[tuple[str, ...]]

    def can_read(self, path: Path, head: str) -> bool:
        """Return whether a file has this format, judged by its name and first characters."""
        ...

    def read(self, path: Path, *, language: str | None = None) -> BenchmarkContents:
        """Read all items, and list those that cannot be read.

        Args:
            path: A file, folder or archive.
            language: Which text of an item to ask: a language code (`de` also matches `de-AT`),
                `*` for all of them, each as a question of its own, or None for English if present,
                else the first, unless the class documents another default.

        Raises:
            SetupError: The file cannot be read.
        """
        ...
