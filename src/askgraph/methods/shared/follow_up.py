"""Questions that follow another one, for methods that read a question alone."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pyoxigraph import NamedNode

from askgraph.answers.changed_query import changed
from askgraph.answers.verbalize import labels_of
from askgraph.endpoint import Counted
from askgraph.errors import QueryError, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.llm import LanguageModel
from askgraph.llm.budget import Account
from askgraph.methods.settings import SpendingSettings
from askgraph.methods.shared import Run, in_words, with_cost
from askgraph.methods.tools import Context, ToolLimits
from askgraph.methods.tools.hits import look_up_types
from askgraph.search.follow_up import (
    complete_question,
    is_about_thing,
    parse_result_change,
    replace_pronoun,
)
from askgraph.sparql.judge import admitted
from askgraph.trace import Answer, Earlier, Outcome, Question, Step, Thought, Usage, heard

_SECONDS = 10.0


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


def over_first_graph(
    method: SpendingSettings,
    model: LanguageModel | None,
    question: Question,
    graphs: Sequence[KnowledgeGraph],
    run: Callable[[Context, Account, Any], Run],
) -> AsyncIterator[Step]:
    """Return the steps of a run over the first graph with what it costs, the question in full.

    The run is made of a context, an account, and the model, which is charged to it.
    """
    if not graphs:
        raise ValueError("no graph was given")

    def answer(asked: Question) -> AsyncIterator[Step]:
        endpoint = Counted(graphs[0].endpoint)
        limits = ToolLimits(timeout=method.query_seconds)
        context = Context(replace(graphs[0], endpoint=endpoint), asked, limits)
        account = method.open_account()
        words: Callable[[Answer], AsyncGenerator[Step, None]] | None = None
        charged = method.charge(model, account) if model else None
        if charged is not None and method.interpret:
            words = partial(in_words, lambda _: context, charged, account, method.options)
        return with_cost(run(context, account, charged), lambda: endpoint.requests, words=words)

    return in_full(question, graphs[:1], answer)


async def standalone(question: Question, graphs: Sequence[KnowledgeGraph]) -> Question:
    """Return a question with what it takes from the questions before it put into its words.

    One that takes nothing from them comes back as it is. What "it" stands for is the one thing that
    the last query gives.
    """
    if not question.before:
        return question
    for graph in graphs:
        text = await asyncio.to_thread(_completed, question, graph)
        if text is None and is_about_thing(question.text, question.language):
            name = await _thing(question.before[-1], graph, question.language or "en")
            text = name and replace_pronoun(question.text, name, question.language)
        if text is not None and text != question.text:
            return replace(question, text=text, before=())
    return question


def _completed(question: Question, graph: KnowledgeGraph) -> str | None:
    """Complete question after question, so that a chain of short ones stays about its first.

    Those that only changed how a result is shown are passed over.
    """
    arrays, language = graph.arrays, question.language

    def share_class(one: str, other: str) -> bool:
        if arrays is None:
            return False
        return not set(look_up_types(arrays, f"<{one}>")).isdisjoint(
            look_up_types(arrays, f"<{other}>")
        )

    whole, *later = [earlier.question for earlier in question.before]
    for text in later:
        if parse_result_change(text, graph.names, language=language) is None:
            whole = (
                complete_question(text, whole, graph.names, share_class, language=language) or text
            )
    return complete_question(question.text, whole, graph.names, share_class, language=language)


async def _thing(earlier: Earlier, graph: KnowledgeGraph, language: str) -> str | None:
    """Return the name of the one thing that an earlier query gives."""
    try:
        if admitted(earlier.query, prefixes=graph.prefixes.namespaces).form != "SELECT":
            return None
        result = await graph.endpoint.select(earlier.query, timeout=_SECONDS, limit=2)
    except (QueryError, ServiceError):
        return None
    if len(result.rows) != 1:
        return None
    things = [term.value for term in result.rows[0] if isinstance(term, NamedNode)]
    if not things:
        return None
    return (await labels_of(things[:1], graph, [language])).get(things[0])
