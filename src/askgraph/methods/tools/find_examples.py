"""`find_examples`: some questions with their queries, to see how this graph is asked."""

from askgraph.graph.examples import random_examples
from askgraph.methods.tools import Context
from askgraph.methods.tools.rendering import shown_examples
from askgraph.trace import Observation

__all__ = ["find_examples"]

_SHOWN = 3


async def find_examples(
    context: Context, *, number: int = _SHOWN, question: str | None = None
) -> Observation:
    """Get some questions with the SPARQL queries that answer them.

    Chosen by chance, the same ones for the same question.
    """
    wanted = (question or "").strip() or context.question.text
    chosen = random_examples(wanted, context.graph.examples, limit=number)
    return await shown_examples(context, chosen)
