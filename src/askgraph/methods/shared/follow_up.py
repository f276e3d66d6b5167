"""Complete questions that follow another one, for methods that read each question alone."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pyoxigraph import NamedNode

from askgraph.answers.changed_query import answer_changed_query
from askgraph.answers.verbalize import fetch_term_labels
from askgraph.endpoint import CountingEndpoint
from askgraph.errors import QueryError, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.llm import LanguageModel
from askgraph.llm.budget import BudgetAccount
from askgraph.methods.settings import SpendingSettings
from askgraph.methods.shared import QuestionRun, run_with_usage, verbalize_answer
from askgraph.methods.tools import Context, ToolLimits
from askgraph.methods.tools.hits import look_up_types
from askgraph.search.follow_up import (
    complete_question,
    is_about_thing,
    parse_result_change,
    replace_pronoun,
)
from askgraph.sparql import Pattern, walk
from askgraph.sparql.judge import admit_query
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.vocabulary import RDF_TYPE
from askgraph.trace import (
    Answer,
    Outcome,
    PreviousQuestion,
    Question,
    Step,
    Thought,
    Usage,
    record_or_replay,
)

_TIMEOUT_SECONDS = 10.0


async def answer_completed(
    question: Question,
    graphs: Sequence[KnowledgeGraph],
    answer: Callable[[Question], AsyncIterator[Step]],
) -> AsyncGenerator[Step, None]:
    """Yield the steps of a method for a question that may follow another one.

    The question is first completed, if its words suffice ("and Mars?", "which of them …?"). A
    question that only refers to the last result changes its query. Any other question keeps the
    earlier ones.
    """
    if question.before:
        start_time = time.perf_counter()
        counted = [CountingEndpoint(graph.endpoint) for graph in graphs]
        graphs_and_endpoints = zip(graphs, counted, strict=True)
        counted_graphs = [
            replace(graph, endpoint=endpoint) for graph, endpoint in graphs_and_endpoints
        ]
        changed_outcome = await record_or_replay(
            "changed", Outcome | None, partial(answer_changed_query, question, counted_graphs)
        )
        if changed_outcome is not None:
            requests = sum(endpoint.requests for endpoint in counted)
            yield replace(changed_outcome, usage=Usage(time.perf_counter() - start_time, requests))
            return
        completed_question = await record_or_replay(
            "in full", Question, partial(make_standalone, question, graphs)
        )
        if completed_question != question:
            yield Thought(f"Asked in full: {completed_question.text}")
        question = completed_question
    steps = answer(question)
    try:
        async for step in steps:
            yield step
    finally:
        if isinstance(steps, AsyncGenerator):
            await steps.aclose()


def answer_over_first_graph(
    method: SpendingSettings,
    model: LanguageModel | None,
    question: Question,
    graphs: Sequence[KnowledgeGraph],
    run: Callable[[Context, BudgetAccount, Any], QuestionRun],
) -> AsyncIterator[Step]:
    """Yield the steps of a run over the first graph, with its usage, for the completed question.

    Args:
        run: creates the run from a context, an account and the model charged to that account.
    """

    def answer_question(completed_question: Question) -> AsyncIterator[Step]:
        endpoint = CountingEndpoint(graphs[0].endpoint)
        limits = ToolLimits(timeout=method.query_seconds)
        context = Context(replace(graphs[0], endpoint=endpoint), completed_question, limits)
        account = method.open_account()
        verbalize: Callable[[Answer], AsyncGenerator[Step, None]] | None = None
        charged_model = method.charge(model, account) if model else None
        if charged_model is not None and method.interpret:
            verbalize = partial(
                verbalize_answer, lambda _: context, charged_model, account, method.options
            )
        return run_with_usage(
            run(context, account, charged_model), lambda: endpoint.requests, verbalize=verbalize
        )

    return answer_completed(question, graphs[:1], answer_question)


async def make_standalone(question: Question, graphs: Sequence[KnowledgeGraph]) -> Question:
    """Return a question with what it takes from earlier questions put into its words.

    A question that takes nothing from them is returned unchanged. "It" stands for the only entity
    in the result of the last query.
    """
    if not question.before:
        return question
    for graph in graphs:
        text = await asyncio.to_thread(_complete_text, question, graph)
        if text is None and is_about_thing(question.text, question.language):
            name = await _find_single_entity(question.before[-1], graph, question.language or "en")
            text = name and replace_pronoun(question.text, name, question.language)
        if text is not None and text != question.text:
            return replace(question, text=text, before=())
    return question


def _complete_text(question: Question, graph: KnowledgeGraph) -> str | None:
    """Complete question after question, without those that only change how a result is shown."""
    arrays, language = graph.arrays, question.language

    def has_common_class(iri: str, other_iri: str) -> bool:
        if arrays is None:
            return False
        return not set(look_up_types(arrays, f"<{iri}>")).isdisjoint(
            look_up_types(arrays, f"<{other_iri}>")
        )

    full_text, *later_texts = [earlier.question for earlier in question.before]
    for text in later_texts:
        if parse_result_change(text, graph.names, language=language) is None:
            full_text = (
                complete_question(text, full_text, graph.names, has_common_class, language=language)
                or text
            )
    return complete_question(
        question.text, full_text, graph.names, has_common_class, language=language
    )


async def _find_single_entity(
    earlier: PreviousQuestion, graph: KnowledgeGraph, language: str
) -> str | None:
    """Return the label of the only entity in an earlier result, else in its query, or None."""
    try:
        if admit_query(earlier.query, prefixes=graph.prefixes.namespaces).form != "SELECT":
            return None
        result = await graph.endpoint.select(earlier.query, timeout=_TIMEOUT_SECONDS, limit=2)
    except (QueryError, ServiceError):
        return None
    row = result.rows[0] if len(result.rows) == 1 else ()
    iris = [term.value for term in row if isinstance(term, NamedNode)]
    if not iris:  # "Which moons does Saturn have?", "what is its mass?"
        tree = parse_tree(earlier.query, graph.prefixes.namespaces)
        patterns = (x for x in walk(tree) if isinstance(x, Pattern))
        patterns = (x for x in patterns if x.predicate != NamedNode(RDF_TYPE))
        ends = {end for x in patterns for end in (x.subject, x.object)}
        constants = [end.value for end in ends if isinstance(end, NamedNode)]
        iris = constants if len(constants) == 1 else []
    return (await fetch_term_labels(iris[:1], graph, [language])).get(iris[0]) if iris else None
