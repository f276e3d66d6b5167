"""The one contract of everything that writes a query from a question and what it may name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from askgraph.graph import KnowledgeGraph
from askgraph.index.names import Kind
from askgraph.trace import Question


@dataclass(frozen=True)
class Listed:
    """A term that a query may name: what a question was linked to, or what comes near.

    `target` is an IRI, or a literal as N-Triples text. `positions` are the question's tokens that
    mean it, none if it was only retrieved; `score` says how well they fit (0–1).
    """

    kind: Kind
    target: str
    label: str
    description: str = ""
    positions: tuple[int, ...] = ()
    score: float = 0.0


@dataclass(frozen=True)
class Hypothesis:
    """A query in SPARQL and its log-probability (natural logarithm; None if nobody tells)."""

    query: str
    score: float | None = None


class QueryWriter(Protocol):
    """Writes up to `n` different queries, most believed first, that name nothing but `listed`.

    What is written is in SPARQL and names no IRI and no literal but those listed, numbers and
    dates of the question, and the terms of RDF and RDFS. Nothing is run.
    """

    async def write(
        self, question: Question, listed: Sequence[Listed], graph: KnowledgeGraph, *, n: int = 1
    ) -> list[Hypothesis]:
        """Write queries; an empty list if none fits."""
        ...
