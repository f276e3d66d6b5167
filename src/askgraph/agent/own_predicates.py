"""Answers over a virtually enriched graph, with queries that the graph itself understands."""

from collections.abc import Sequence
from dataclasses import replace

from askgraph.graph import KnowledgeGraph
from askgraph.sparql.rewrite.virtual import written_out
from askgraph.trace import Answer, Clarification, Option, Refusal, Step


def with_own_predicates(step: Step, graphs: Sequence[KnowledgeGraph]) -> Step:
    """Return an outcome with its queries written out over the graph's own predicates.

    So they run wherever the graph lies. Other steps show what the method did, and stay.
    """
    if not any(graph.virtual for graph in graphs):
        return step
    match step:
        case Answer():
            return _answer(step, graphs)
        case Refusal(best=Answer() as best):
            return replace(step, best=_answer(best, graphs))
        case Clarification():
            attempt = step.best
            name = attempt.graph if attempt else graphs[0].name
            options = tuple(
                Option(one.words, one.count, _written(one.query, name, graphs))
                for one in step.options
            )
            return replace(
                step, options=options, best=_answer(attempt, graphs) if attempt else None
            )
        case _:
            return step


def _answer(answer: Answer, graphs: Sequence[KnowledgeGraph]) -> Answer:
    return replace(answer, query=_written(answer.query, answer.graph, graphs))


def _written(query: str, name: str, graphs: Sequence[KnowledgeGraph]) -> str:
    for graph in graphs:
        if graph.name == name:
            return written_out(query, graph.virtual, prefixes=graph.prefixes.namespaces)
    return query
