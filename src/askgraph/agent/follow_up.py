"""Questions that follow another one, for methods that read a question alone."""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import replace
from functools import partial

from askgraph.answers.changed import changed
from askgraph.answers.standalone import standalone
from askgraph.endpoint import Counted
from askgraph.graph import KnowledgeGraph
from askgraph.trace import Outcome, Question, Step, Thought, Usage, heard


async def in_full(
    question: Question,
    graphs: Sequence[KnowledgeGraph],
    answer: Callable[[Question], AsyncIterator[Step]],
) -> AsyncGenerator[Step, None]:
    """Give the steps of a method for a question that may follow another one.

    What it leaves out is completed first, if words alone can tell it ("and Mars?", "which of them
    …?"); one that only speaks of the last result changes its query. Any other keeps the questions
    before it.
    """
    if question.before:
        started = time.perf_counter()
        counted = [Counted(graph.endpoint) for graph in graphs]
        both = zip(graphs, counted, strict=True)
        asked = [replace(graph, endpoint=endpoint) for graph, endpoint in both]
        new = await heard("changed", Outcome | None, partial(changed, question, asked))
        if new is not None:
            requests = sum(one.requests for one in counted)
            yield replace(new, usage=Usage(time.perf_counter() - started, requests))
            return
        full = await heard("in full", Question, partial(standalone, question, graphs))
        if full != question:
            yield Thought(f"Asked in full: {full.text}")
        question = full
    steps = answer(question)
    try:
        async for step in steps:
            yield step
    finally:
        if isinstance(steps, AsyncGenerator):
            await steps.aclose()
