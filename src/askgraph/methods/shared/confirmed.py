"""Confirmed answers: the same question gets its confirmed query again, without a model.

So does a phrase that a graph's glossary has a query for.
"""

import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

from askgraph.answers.verbalize.phrases import phrases_in
from askgraph.endpoint import Counted
from askgraph.errors import QueryError, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import QueryExample, describe_change, digest_result, find_confirmed
from askgraph.graph.glossary import Glossary, GlossaryEntry
from askgraph.methods.tools import Context, ToolLimits
from askgraph.methods.tools.query_run import answer_query
from askgraph.search.tokenize import TokenizedQuestion, tokenize
from askgraph.search.tokenize.question_operators import detect_operators
from askgraph.trace import Answer, Confirmed, Question, Thought, Usage

_SECONDS = 60.0  # as long as the query may take when it is confirmed


async def confirmed_steps(
    question: Question, graphs: Sequence[KnowledgeGraph]
) -> AsyncGenerator[Thought | Answer, None]:
    """Yield the answer of a taught query, or of a confirmed one to the same question, as it is now.

    If several graphs have one, the one confirmed last goes first. A thought says which query can
    no longer be used: it fails, or had a result and has none now. Nothing comes if nobody
    confirmed an answer, and for a question that goes on from an earlier one.
    """
    if question.before:
        return
    for graph in graphs:
        taught = taught_query(question, graph.glossary or Glossary())
        if taught is not None:
            try:
                answer = await _answered(question, graph, taught.query)
            except (QueryError, ServiceError) as problem:
                yield Thought(f"The query taught for {taught.word!r} is not used: {problem}")
                continue
            say = phrases_in(question.language or "en")
            told = say.say("taught query", say.quote(taught.word))
            yield replace(answer, words=f"{answer.words} {told}")
            return
    repeats = [
        (graph, example)
        for graph in graphs
        if (example := find_confirmed(question.text, question.language, graph.examples))
    ]
    for graph, example in sorted(repeats, key=lambda one: _when(one[1]), reverse=True):
        not_used = f"The confirmed query of {example.question!r} is not used: "
        try:
            answer = await _answered(question, graph, example.query)
        except (QueryError, ServiceError) as problem:
            yield Thought(f"{not_used}{problem}")
            continue
        had = example.confirmation is not None and example.confirmation.rows > 0
        if had and answer.is_empty:
            yield Thought(f"{not_used}it has no result any more")
            continue
        yield replace(answer, confirmed=_confirmed(example, answer))
        return


async def _answered(question: Question, graph: KnowledgeGraph, query: str) -> Answer:
    """The answer of a query of a person, with what it costs."""
    started = time.perf_counter()
    endpoint = Counted(graph.endpoint)
    context = Context(replace(graph, endpoint=endpoint), question, ToolLimits(timeout=_SECONDS))
    answer = await answer_query(context, query, confidence=1.0)
    return replace(answer, usage=Usage(time.perf_counter() - started, endpoint.requests))


def taught_query(question: Question, glossary: Glossary) -> GlossaryEntry | None:
    """Return the entry of a glossary with a query that a question asks for, and nothing else."""
    asked = [one for one in glossary.entries if glossary.resolve_synonyms(one).query]
    if not asked:
        return None
    reading = tokenize(question.text, question.language)
    found = (one for one in asked if _asks_only(reading, one.key))
    entry = max(found, key=lambda one: len(one.key), default=None)
    return entry and replace(glossary.resolve_synonyms(entry), word=entry.word)


def _asks_only(reading: TokenizedQuestion, key: tuple[str, ...]) -> bool:
    """Whether all words but those of a phrase are function words, and none is an operator."""
    stems = tuple(token.stem for token in reading.tokens)
    size = len(key)
    first = next((at for at in range(len(stems)) if stems[at : at + size] == key), None)
    if first is None:
        return False
    rest = {*range(len(stems))} - {*range(first, first + size)}
    taken = {at for one in detect_operators(reading).operators for at in one.positions}
    return not rest & taken and all(map(reading.is_stop, rest))


def _confirmed(example: QueryExample, answer: Answer) -> Confirmed:
    change = None
    if example.confirmation and not answer.result.truncated:
        result = answer.result if answer.boolean is None else answer.boolean
        change = describe_change(example.confirmation, digest_result(result))
    by = example.confirmation.by if example.confirmation else None
    return Confirmed(example.question, _when(example), by, example.iri, change)


def _when(example: QueryExample) -> str:
    return example.confirmation.when if example.confirmation else ""
