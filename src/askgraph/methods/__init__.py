"""The one contract of all methods: a question goes in, a stream of steps comes out."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from askgraph.graph import KnowledgeGraph
from askgraph.trace import Question, Step

__all__ = ["Method"]


class Method(Protocol):
    """A frozen dataclass whose fields are its settings.

    `answer` yields steps and ends with exactly one `Answer`, `Clarification` or `Refusal`. It never
    raises for a strange question; it raises `ServiceError` where the graph cannot be reached.
    """

    def answer(self, question: Question, graphs: Sequence[KnowledgeGraph]) -> AsyncIterator[Step]:
        """Answer one question over one graph or several."""
        ...
