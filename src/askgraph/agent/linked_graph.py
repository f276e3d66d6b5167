"""A graph of a question, with what the question's words were linked to in it."""

import asyncio
from dataclasses import dataclass

from askgraph.agent.several_graphs import AskedGraph
from askgraph.search.linking.link import Linked
from askgraph.search.run import read_and_linked
from askgraph.tools import Context
from askgraph.tools.slice import Slice

__all__ = ["LinkedGraph", "linked_graph"]


@dataclass(frozen=True, eq=False)
class LinkedGraph:
    """The links of a text, and the part of the schema that is near to them."""

    asked: AskedGraph
    linked: Linked
    near: Slice

    @property
    def context(self) -> Context:
        """The context in which the graph is asked."""
        return self.asked.context


async def linked_graph(text: str, asked: AskedGraph) -> LinkedGraph:
    """Link the words of a text to the names of a graph."""
    context = asked.context
    linked = await asyncio.to_thread(
        read_and_linked, text, context.question.language, context.graph.names
    )
    return LinkedGraph(asked, linked, Slice(context.graph, linked))
