"""The names of a graph that come nearest to one it does not have, as a model reads them."""

import asyncio

from askgraph.tools import Context
from askgraph.tools.shown import Writer
from askgraph.validation.nearest import Sort, nearest_names

__all__ = ["Sort", "in_nearest_words", "nearest"]


async def nearest(context: Context, name: str, *, sort: Sort = "") -> tuple[str, ...]:
    """Return the at most three IRIs of the graph whose names come nearest to an IRI or a text."""
    return await asyncio.to_thread(nearest_names, context.graph, name, sort=sort)


async def in_nearest_words(context: Context, name: str, *, sort: Sort = "") -> str:
    """Return the nearest IRIs as a model reads them, commas between; they count as seen."""
    found = await nearest(context, name, sort=sort)
    writer = await Writer.knowing(context, found)
    text = ", ".join(writer.iri(iri) for iri in found)
    context.seen.update(writer.seen)
    return text
