"""The one contract of all methods: a question goes in, a stream of steps comes out."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from askgraph.graph import KnowledgeGraph
from askgraph.llm import LanguageModel
from askgraph.trace import Question, Step

__all__ = ["Method", "closed"]


class Method(Protocol):
    """A frozen dataclass whose fields are its settings.

    `answer` yields steps and ends with exactly one `Answer`, `Clarification` or `Refusal`. It never
    raises for a strange question; it raises `ServiceError` where the graph cannot be reached.
    """

    def answer(self, question: Question, graphs: Sequence[KnowledgeGraph]) -> AsyncIterator[Step]:
        """Answer one question over one graph or several."""
        ...


async def closed(method: Method) -> None:
    """Close the language model of a method that has one; others are left as they are."""
    model = getattr(method, "model", None)
    if isinstance(model, LanguageModel):
        await model.close()
