"""Questions to start with that a graph answers, and the answer to "hello" and "what can I ask?"."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from typing import TypeGuard

from pyoxigraph import NamedNode

from askgraph.explanation._names import phrases_in
from askgraph.explanation.starters import Starter, language_of, starters_of
from askgraph.graph import KnowledgeGraph
from askgraph.metadata.examples import same_language
from askgraph.search.linking.word_lists import greeted, thanked
from askgraph.sparql import walk
from askgraph.sparql.write import tree_of
from askgraph.trace import Answer, Clarification, Option, Outcome, Question, Refusal

FIRST = {"confirmed": 0, "written": 1, "generated": 2}
"""Which questions of a graph come before others, by their origin."""

_OFFERED = 3
_TRIED = 3  # for each question that is wanted
_SURE = 0.7  # confidence from which an answer counts

Ask = Callable[[Question, KnowledgeGraph], Awaitable[Outcome]]


async def greeting(
    question: Question, graphs: Sequence[KnowledgeGraph], ask: Ask
) -> Clarification | Refusal:
    """Return questions to start with that `ask` answers, as options with their queries.

    A refusal if it answers none.
    """
    language = question.language or greeted(question.text) or "en"
    for graph in graphs:
        known = known_questions(graph, language, most=_OFFERED)
        outcomes = [(text, await ask(Question(text, language), graph)) for text in known]
        found = [(text, one) for text, one in outcomes if is_sure(one)]
        found += await starters(graph, language, ask, most=_OFFERED - len(found))
        if found:
            options = [Option(text, len(one.result.rows), one.query) for text, one in found]
            said = phrases_in(language).say("welcome" if thanked(question.text) else "greet")
            return Clarification(said, tuple(options), None)
    return Refusal(phrases_in(language).say("refuse nothing"))


def known_questions(graph: KnowledgeGraph, language: str, *, most: int) -> list[str]:
    """Return some of the questions in a language that were asked of a graph, spread over all."""
    listed = sorted(graph.examples, key=lambda one: FIRST[one.origin])
    own = [
        wording.text
        for one in listed
        for wording in one.wordings
        if same_language(wording.language, language)
    ]
    return own[:: max(1, len(own) // most)][:most]


async def starters(
    graph: KnowledgeGraph, language: str, ask: Ask, *, most: int, seconds: float = 10.0
) -> list[tuple[str, Answer]]:
    """Return up to `most` questions to start with and their answers, of which `ask` is sure.

    They are in the language if the graph has names in it, else in English. After so many seconds
    none is tried any more.
    """
    spoken = language_of(graph.profile, [language])
    made = starters_of(graph.profile, graph.arrays, spoken)
    waiting = await asyncio.to_thread(list, islice(made, _TRIED * most))
    end = asyncio.get_running_loop().time() + seconds
    found: list[tuple[str, Answer]] = []
    again = False
    while waiting and len(found) < most and asyncio.get_running_loop().time() < end:
        one = waiting.pop(0)
        outcome = await ask(Question(one.text, spoken), graph)
        if is_sure(outcome) and _fits(outcome, one):
            found.append((one.text, outcome))
            again = False
        elif not again:  # another one of its kind, once
            alike = [other for other in waiting if other.kind == one.kind][:1]
            waiting = [*alike, *(other for other in waiting if other not in alike)]
            again = bool(alike)
        else:
            again = False
    return found


def _fits(answer: Answer, starter: Starter) -> bool:
    """Whether an answer is about what was asked, and worth showing."""
    right = starter.about in iris_of(answer.query)
    return right and starter.least <= len(answer.result.rows) <= starter.most


def is_sure(outcome: Outcome) -> TypeGuard[Answer]:
    """Whether an outcome is an answer: sure, of all words, and not empty."""
    if not isinstance(outcome, Answer) or outcome.is_empty or outcome.unused_words:
        return False
    return outcome.confidence >= _SURE


def iris_of(query: str) -> set[str]:
    """Return the IRIs of a query; `QueryError` if it is none."""
    return {one.value for one in walk(tree_of(query)) if isinstance(one, NamedNode)}
