"""The one contract of all methods: a question goes in, a stream of steps comes out."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from askgraph.graph import KnowledgeGraph
from askgraph.llm import LanguageModel
from askgraph.trace import Question, Step

__all__ = ["Method", "closed", "converses", "searches"]


class Method(Protocol):
    """A frozen dataclass whose fields are its settings.

    `answer` yields steps and ends with exactly one `Answer`, `Clarification` or `Refusal`. It never
    raises for a strange question; it raises `ServiceError` where the graph cannot be reached.

    A method that searches the indices of its graphs says so by a class attribute `searches`, one
    that looks at the earlier questions of a conversation by `converses`, each True.
    """

    def answer(self, question: Question, graphs: Sequence[KnowledgeGraph]) -> AsyncIterator[Step]:
        """Answer one question over one graph or several."""
        ...


def searches(method: Method) -> bool:
    """Whether a method searches the indices of its graphs."""
    return getattr(type(method), "searches", False) is True


def converses(method: Method) -> bool:
    """Whether a method looks at what was asked before in the same conversation."""
    return getattr(type(method), "converses", False) is True


async def closed(method: Method) -> None:
    """Close the language model of a method that has one; others are left as they are."""
    model = getattr(method, "model", None)
    if isinstance(model, LanguageModel):
        await model.close()
