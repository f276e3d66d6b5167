"""Ask one question within a time, and see each step as it comes."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from askgraph.errors import TimedOut

if TYPE_CHECKING:
    from askgraph.graph import KnowledgeGraph
    from askgraph.methods import Method
    from askgraph.trace import Outcome, Question, Step

__all__ = ["outcome_of", "steps_of"]


async def steps_of(
    question: "Question",
    method: "Method",
    graphs: "Sequence[KnowledgeGraph]",
    *,
    timeout: float | None = None,
) -> "AsyncGenerator[Step, None]":
    """Give the steps of a method as they come; `TimedOut` after so many seconds.

    Whoever stops reading earlier closes the stream (`contextlib.aclosing`), which ends the run.
    An answer's query has the graph's own predicates, also where the method used virtual ones.
    """
    from askgraph.agent.own_predicates import with_own_predicates

    loop = asyncio.get_running_loop()
    end = None if timeout is None else loop.time() + timeout
    stream = method.answer(question, graphs)
    try:
        while True:
            clock = asyncio.timeout_at(end)
            try:
                async with clock:
                    step = await anext(stream, None)
            except TimeoutError as error:
                if not clock.expired():
                    raise
                raise TimedOut(f"no answer within {timeout:g} seconds") from error
            if step is None:
                return
            yield with_own_predicates(step, graphs)
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()


async def outcome_of(
    question: "Question",
    method: "Method",
    graphs: "Sequence[KnowledgeGraph]",
    *,
    timeout: float | None = None,
) -> "Outcome":
    """Return what a method makes of a question; `TimedOut` after so many seconds."""
    from askgraph.trace import Trace

    async with aclosing(steps_of(question, method, graphs, timeout=timeout)) as stream:
        steps = tuple([step async for step in stream])
    return Trace(question, type(method).__name__, steps).outcome
