"""Ask one question within a time."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from askgraph.errors import TimedOut

if TYPE_CHECKING:
    from askgraph.graph import KnowledgeGraph
    from askgraph.methods import Method
    from askgraph.trace import Outcome, Question

__all__ = ["outcome_of"]


async def outcome_of(
    question: "Question",
    method: "Method",
    graphs: "Sequence[KnowledgeGraph]",
    *,
    timeout: float | None = None,
) -> "Outcome":
    """Return what a method makes of a question; `TimedOut` after so many seconds."""
    from askgraph.evaluation.asking import trace_of

    name = type(method).__name__
    try:
        async with asyncio.timeout(timeout):
            return (await trace_of(question, method=method, name=name, graphs=graphs)).outcome
    except TimeoutError as error:
        raise TimedOut(f"no answer within {timeout:g} seconds") from error
