"""`note`: keep a sentence about the graph, which later runs are shown."""

import asyncio
from typing import Annotated

from askgraph.graph.glossary import keep
from askgraph.methods.tools import Context
from askgraph.trace import Observation

__all__ = ["note"]


async def note(
    context: Context, sentence: Annotated[str, "one sentence about the graph"]
) -> Observation:
    """Keep a sentence for later questions: what a predicate means, how something is modelled.

    It is kept once, with the graph in its workspace.
    """
    graph = context.graph
    if graph.notes is None:
        return Observation("no notes are kept of this graph", failed=True)
    try:
        new = await asyncio.to_thread(keep, graph.notes, sentence, graph.snapshot)
    except ValueError as problem:
        return Observation(f"not noted: {problem}", failed=True)
    return Observation("noted" if new else "noted before")
