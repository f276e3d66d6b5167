"""`note`: store a sentence about the graph for later runs."""

import asyncio
from typing import Annotated

from askgraph.graph.glossary import add_note
from askgraph.methods.tools import Context
from askgraph.trace import Observation

__all__ = ["note"]


async def note(
    context: Context, sentence: Annotated[str, "one sentence about the graph"]
) -> Observation:
    """Keep a sentence for later questions: what a predicate means, how something is modelled.

    It is stored once, with the graph in its workspace.
    """
    graph = context.graph
    if graph.notes is None:
        return Observation("no notes are kept of this graph", failed=True)
    try:
        is_new = await asyncio.to_thread(add_note, graph.notes, sentence, graph.snapshot)
    except ValueError as problem:
        return Observation(f"not noted: {problem}", failed=True)
    return Observation("noted" if is_new else "noted before")
