"""The one contract of all methods: a question goes in, a stream of steps comes out."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from askgraph.agent.confirmed import confirmed_steps
from askgraph.graph import KnowledgeGraph
from askgraph.llm import LanguageModel
from askgraph.trace import Answer, Question, Step

__all__ = ["Confirming", "Method", "bare", "closed", "converses", "searches", "wants_links"]


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


@dataclass(frozen=True)
class Confirming:
    """A method that is asked only where no answer to the same question was confirmed before."""

    method: Method

    async def answer(
        self, question: Question, graphs: Sequence[KnowledgeGraph]
    ) -> AsyncIterator[Step]:
        """Give the answer that was confirmed, as the graph has it now; else the method's steps."""
        async with aclosing(confirmed_steps(question, graphs)) as known:
            async for step in known:
                yield step
                if isinstance(step, Answer):
                    return
        steps = self.method.answer(question, graphs)
        try:
            async for found in steps:
                yield found
        finally:
            if isinstance(steps, AsyncGenerator):
                await steps.aclose()


def bare(method: Method) -> Method:
    """Return the method itself, without what is looked for before it is asked."""
    return method.method if isinstance(method, Confirming) else method


def searches(method: Method) -> bool:
    """Whether a method searches the indices of its graphs."""
    return getattr(type(bare(method)), "searches", False) is True


def wants_links(method: Method) -> bool:
    """Whether a method is to be told which entities and relations a question is about.

    It has a setting `links`, which is `given`. Only an evaluation, which knows them from gold, and
    who asks with `Question.given` can tell it.
    """
    return getattr(bare(method), "links", None) == "given"


def converses(method: Method) -> bool:
    """Whether a method looks at what was asked before in the same conversation."""
    return getattr(type(bare(method)), "converses", False) is True


async def closed(method: Method) -> None:
    """Close the language model of a method that has one; others are left as they are."""
    model = getattr(bare(method), "model", None)
    if isinstance(model, LanguageModel):
        await model.close()
