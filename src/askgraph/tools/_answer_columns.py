"""Which columns of a result answer the question, where nobody said."""

import asyncio

from askgraph.search.rank.expected import expected_of
from askgraph.search.rank.expected_columns import answer_columns_of
from askgraph.search.run import read_and_linked
from askgraph.sparql.results import SelectResult
from askgraph.tools import Context

__all__ = ["answer_columns"]


async def answer_columns(context: Context, query: str, result: SelectResult) -> tuple[str, ...]:
    """Return the columns that the question asks for, as far as it tells; else all.

    All answer a question that goes on from an earlier one, since its own words tell only a part.
    """
    question = context.question
    if len(result.variables) < 2 or question.before:
        return result.variables
    return await asyncio.to_thread(_chosen, context, query, result)


def _chosen(context: Context, query: str, result: SelectResult) -> tuple[str, ...]:
    question, graph = context.question, context.graph
    linked = read_and_linked(question.text, question.language, graph.names)
    return answer_columns_of(expected_of(linked), query, result, graph.profile)
