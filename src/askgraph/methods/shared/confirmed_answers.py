"""Confirmed answers: run the confirmed query of the same question again, without a model.

A phrase for which a graph's glossary has a query is answered in the same way.
"""

import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

from askgraph.answers.verbalize.phrases import load_phrases
from askgraph.endpoint import CountingEndpoint
from askgraph.errors import QueryError, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import QueryExample, describe_change, digest_result
from askgraph.graph.glossary import Glossary, GlossaryEntry
from askgraph.methods.shared.similar_examples import find_same_example
from askgraph.methods.tools import Context, ToolLimits
from askgraph.methods.tools.query_run import answer_query
from askgraph.search.tokenize import TokenizedQuestion, tokenize
from askgraph.search.tokenize.question_operators import detect_operators
from askgraph.trace import Answer, ConfirmedQuestion, Question, Thought, Usage

_TIMEOUT_SECONDS = 60.0  # the time limit of the query at its confirmation


async def answer_from_confirmed(
    question: Question, graphs: Sequence[KnowledgeGraph]
) -> AsyncGenerator[Thought | Answer, None]:
    """Yield the current answer of a taught query, or of a confirmed query of the same question.

    If several graphs have a confirmed query, the last confirmed one comes first. A thought names a
    query that cannot be used any more: it fails, or it had a result and has none now. Nothing is
    yielded if there is no confirmed answer, or if the question follows an earlier one.
    """
    if question.before:
        return
    for graph in graphs:
        taught = find_taught_query(question, graph.glossary or Glossary())
        if taught is not None:
            try:
                answer = await _run_query(question, graph, taught.query)
            except (QueryError, ServiceError) as problem:
                yield Thought(f"The query taught for {taught.word!r} is not used: {problem}")
                continue
            phrases = load_phrases(question.language or "en")
            source_text = phrases.say("taught query", phrases.quote(taught.word))
            yield replace(answer, words=f"{answer.words} {source_text}")
            return
    repeats = [
        (graph, example) for graph in graphs if (example := find_same_example(question, graph))
    ]
    for graph, example in sorted(
        repeats,
        key=lambda graph_and_example: _get_confirmation_time(graph_and_example[1]),
        reverse=True,
    ):
        unused_message = f"The confirmed query of {example.question!r} is not used: "
        try:
            answer = await _run_query(question, graph, example.query)
        except (QueryError, ServiceError) as problem:
            yield Thought(f"{unused_message}{problem}")
            continue
        had_result = example.confirmation is not None and example.confirmation.rows > 0
        if had_result and answer.is_empty:
            yield Thought(f"{unused_message}it has no result any more")
            continue
        yield replace(answer, confirmed=_build_confirmation(example, answer))
        return


async def _run_query(question: Question, graph: KnowledgeGraph, query: str) -> Answer:
    start_time = time.perf_counter()
    endpoint = CountingEndpoint(graph.endpoint)
    context = Context(
        replace(graph, endpoint=endpoint), question, ToolLimits(timeout=_TIMEOUT_SECONDS)
    )
    answer = await answer_query(context, query, confidence=1.0)
    return replace(answer, usage=Usage(time.perf_counter() - start_time, endpoint.requests))


def find_taught_query(question: Question, glossary: Glossary) -> GlossaryEntry | None:
    """Return the glossary entry with a query that makes up the whole question, or None."""
    query_entries = [
        candidate for candidate in glossary.entries if glossary.resolve_synonyms(candidate).query
    ]
    if not query_entries:
        return None
    tokenized = tokenize(question.text, question.language)
    matching_entries = (
        candidate for candidate in query_entries if _is_only_phrase(tokenized, candidate.key)
    )
    entry = max(matching_entries, key=lambda candidate: len(candidate.key), default=None)
    return entry and replace(glossary.resolve_synonyms(entry), word=entry.word)


def _is_only_phrase(tokenized: TokenizedQuestion, key: tuple[str, ...]) -> bool:
    """Return whether all words outside a phrase are function words and no operator."""
    stems = tuple(token.stem for token in tokenized.tokens)
    size = len(key)
    first = next(
        (position for position in range(len(stems)) if stems[position : position + size] == key),
        None,
    )
    if first is None:
        return False
    other_positions = {*range(len(stems))} - {*range(first, first + size)}
    operator_positions = {
        position
        for operator in detect_operators(tokenized).operators
        for position in operator.positions
    }
    return not other_positions & operator_positions and all(map(tokenized.is_stop, other_positions))


def _build_confirmation(example: QueryExample, answer: Answer) -> ConfirmedQuestion:
    change = None
    if example.confirmation and not answer.result.truncated:
        result = answer.result if answer.boolean is None else answer.boolean
        change = describe_change(example.confirmation, digest_result(result))
    by = example.confirmation.by if example.confirmation else None
    return ConfirmedQuestion(
        example.question, _get_confirmation_time(example), by, example.iri, change
    )


def _get_confirmation_time(example: QueryExample) -> str:
    return example.confirmation.when if example.confirmation else ""
