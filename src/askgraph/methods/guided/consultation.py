"""Another method's answer as one opinion among several, with its steps on the way."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Protocol

from askgraph.errors import BudgetSpent, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.methods.guided.opinions import Opinion
from askgraph.trace import Answer, Clarification, Question, Refusal, Step, Thought

__all__ = ["Answering", "consulted"]

_ASKS_BACK = 0.5  # of the confidence in the best answer of a method that asks back


class Answering(Protocol):
    """What answers a question over graphs, step by step; a method."""

    def answer(self, question: Question, graphs: Sequence[KnowledgeGraph]) -> AsyncIterator[Step]:
        """Answer one question."""
        ...


async def consulted(
    name: str, method: Answering, question: Question, graphs: Sequence[KnowledgeGraph]
) -> AsyncGenerator[Step | Opinion, None]:
    """Give the steps of a method but for its outcome, then what it says as an opinion.

    A method that refuses, whose budget ends or whose servers fail has no opinion; a thought says
    so.
    """
    try:
        async with aclosing(_steps(method, question, graphs)) as steps:
            async for step in steps:
                match step:
                    case Answer():
                        yield Opinion(name, step, step.confidence)
                    case Clarification(best=Answer() as best):
                        weight = best.confidence * _ASKS_BACK
                        yield Opinion(name, best, weight)
                    case Clarification():
                        yield Thought(f"{name} asks back and has no answer.")
                    case Refusal(reason=reason):
                        yield Thought(f"{name} has no answer: {reason}")
                    case _:
                        yield step
    except (BudgetSpent, ServiceError) as problem:
        yield Thought(f"{name} came to no end: {problem}")


async def _steps(
    method: Answering, question: Question, graphs: Sequence[KnowledgeGraph]
) -> AsyncGenerator[Step, None]:
    steps = method.answer(question, graphs)
    try:
        async for step in steps:
            yield step
    finally:
        if isinstance(steps, AsyncGenerator):
            await steps.aclose()
