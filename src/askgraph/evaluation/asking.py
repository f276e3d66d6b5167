"""One question through one method: its steps read to the end, its stream closed."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import replace

from askgraph.agent.own_predicates import with_own_predicates
from askgraph.graph import KnowledgeGraph
from askgraph.methods import Method
from askgraph.trace import Outcome, Question, Step, Trace

__all__ = ["answerer", "asker", "collect", "trace_of"]


async def trace_of(
    question: Question, *, method: Method, name: str, graphs: Sequence[KnowledgeGraph]
) -> Trace:
    """Answer one question and return all steps; `name` is the method's."""
    steps: list[Step] = []
    await collect(question, steps, method=method, graphs=graphs)
    return Trace(question, name, tuple(steps))


async def collect(
    question: Question, steps: list[Step], *, method: Method, graphs: Sequence[KnowledgeGraph]
) -> None:
    """Answer one question and put each step into the list as it comes; an error leaves the rest."""
    stream = method.answer(question, graphs)
    try:
        async for step in stream:
            steps.append(with_own_predicates(step, graphs))
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()


def asker(
    method: Method, graphs: Sequence[KnowledgeGraph]
) -> Callable[[Question, list[Step]], Awaitable[None]]:
    """Return a function that answers a question and puts each step into a list as it comes."""

    async def ask(question: Question, steps: list[Step]) -> None:
        await collect(question, steps, method=method, graphs=graphs)

    return ask


def answerer(
    method: Method, name: str, graphs: Sequence[KnowledgeGraph], *, language: str | None = None
) -> Callable[[Question], Awaitable[Outcome]]:
    """Return a function from a question to the outcome of this method over these graphs.

    `language` is that of questions that do not say theirs.
    """

    async def answer(question: Question) -> Outcome:
        asked = replace(question, language=question.language or language)
        return (await trace_of(asked, method=method, name=name, graphs=graphs)).outcome

    return answer
