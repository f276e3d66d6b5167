"""A method of another package that takes each question by itself."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from askgraph.graph import KnowledgeGraph
from askgraph.methods.graph_search import GraphSearch
from askgraph.trace import Question, Step

__all__ = ["Deaf", "installed"]


@dataclass(frozen=True)
class Deaf:
    """Graph search that does not look at earlier questions."""

    def answer(self, question: Question, graphs: Sequence[KnowledgeGraph]) -> AsyncIterator[Step]:
        return GraphSearch().answer(replace(question, before=()), graphs)


def installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the method, by the name `deaf`, into a package of its own."""
    about = folder / "packages" / "deaf_method-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: deaf-method\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[askgraph.method]\ndeaf = {__name__}:Deaf\n")
    monkeypatch.syspath_prepend(folder / "packages")
