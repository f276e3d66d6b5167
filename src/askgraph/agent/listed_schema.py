"""The schema near a question as a list of classes and properties, in ever fewer lines."""

import asyncio

from askgraph.agent.linked_graph import LinkedGraph
from askgraph.agent.room import Piece
from askgraph.agent.written_query import GRAPH
from askgraph.tools.schema_lines import SchemaLines, terms_of
from askgraph.tools.shown import Writer

__all__ = ["listed_schema"]

_FEW = 20  # predicates of the short form


async def listed_schema(
    linked: LinkedGraph, *, values: bool = True, several: bool = False
) -> Piece:
    """Return the part of a graph's schema that is near to the question, whole and shorter.

    With `values` properties have example values. With `several` graphs it is headed by the name of
    its graph.
    """
    part, context = linked.near, linked.context
    writer = await Writer.knowing(context, await asyncio.to_thread(terms_of, part))
    schema = SchemaLines(part, writer, values=values)
    near = SchemaLines(part, writer, kin=True, values=values)
    head = f"{GRAPH}{linked.asked.name}\n" if several else ""
    every = await asyncio.to_thread(lambda: list(schema.lines()))
    kept = await asyncio.to_thread(lambda: [*near.properties(part.near[:_FEW]), *near.times()])
    return Piece((head + "\n".join(every), head + "\n".join(kept)))
