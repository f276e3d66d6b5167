"""An answer that was confirmed before: the same question gets its query again, without a model."""

from askgraph.errors import QueryError
from askgraph.graph import KnowledgeGraph
from askgraph.metadata.examples.repeats import confirmed_repeat
from askgraph.tools import Context, Limits
from askgraph.tools.answered import answered
from askgraph.trace import Answer, Question

__all__ = ["confirmed_answer"]


async def confirmed_answer(
    question: Question, graph: KnowledgeGraph, *, limits: Limits | None = None
) -> Answer | None:
    """Return the answer of a confirmed query to the same question, as the graph has it now.

    None where nobody confirmed one, where the question goes on from an earlier one, and where the
    query no longer fits the graph. Raises `ServiceError` where the graph does not answer.
    """
    found = confirmed_repeat(question.text, question.language, graph.examples)
    if found is None or question.before:
        return None
    try:
        context = Context(graph, question, limits or Limits())
        return await answered(context, found.query, confidence=1.0)
    except QueryError:
        return None
