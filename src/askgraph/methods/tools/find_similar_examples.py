"""`find_similar_examples`: the questions most like one, with their queries."""

import asyncio
from typing import Annotated

from askgraph.graph.examples import similar_examples
from askgraph.methods.tools import Context
from askgraph.methods.tools.rendering import shown_examples
from askgraph.trace import Observation

__all__ = ["find_similar_examples"]

_SHOWN = 3


async def find_similar_examples(
    context: Context,
    question: Annotated[str | None, "default: the user's"] = None,
    *,
    number: int = _SHOWN,
    embedder: str = "",
) -> Observation:
    """Get the questions most similar to one, with the SPARQL queries that answer them.

    Similar in letters and words, or in meaning with an `embedder`. Raises `ServiceError` if its
    server fails.
    """
    wanted = (question or "").strip() or context.question.text
    found = await asyncio.to_thread(
        similar_examples, wanted, context.graph.examples, limit=number, embedder=embedder
    )
    return await shown_examples(context, [example for example, _ in found])
