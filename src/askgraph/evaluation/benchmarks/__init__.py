"""Readers of the public formats of benchmarks.

Adding a benchmark is adding a class to `json_records`, if its records are JSON objects, and its
name to the table of `askgraph.plugins`; else one file whose `__all__` names one class that fits
`Benchmark`. A sample file belongs into `tests/contracts/benchmark_samples`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol

from askgraph.evaluation.questions import GoldQuestion


@dataclass(frozen=True)
class Unreadable:
    """An item that is no question we could ask or score: where it stands, and why."""

    place: str
    reason: str


@dataclass(frozen=True)
class Contents:
    """What a file or folder holds: its questions in file order, and what could not be read.

    `graph` names the graph that the questions are about (`wikidata`, `dbpedia`, …), None if the
    file does not say; `prefixes` are those that its gold queries may use without declaring them.
    """

    questions: tuple[GoldQuestion, ...]
    unreadable: tuple[Unreadable, ...] = ()
    graph: str | None = None
    prefixes: Mapping[str, str] = field(default_factory=dict)


class Benchmark(Protocol):
    """A format. `title` is for people; `splits` are the usual ones."""

    title: ClassVar[str]
    splits: ClassVar[tuple[str, ...]]

    def recognises(self, path: Path, head: str) -> bool:
        """Return whether this is a file of this format, by its name and its first characters."""
        ...

    def read(self, path: Path, *, language: str | None = None) -> Contents:
        """Read all items; what cannot be read is listed, never skipped. `SetupError` for no file.

        `language` chooses among the texts of an item: a language code (`de` also takes `de-AT`),
        `*` for all of them, each a question of its own, or None for English if there is English,
        else the first, unless the class says otherwise.
        """
        ...
