"""The answer of the reading that somebody chose where a question was asked back."""

from collections.abc import Sequence
from dataclasses import replace

from pyoxigraph import NamedNode

from askgraph.explanation.labels import labels_of
from askgraph.graph import KnowledgeGraph
from askgraph.sparql.query import admitted
from askgraph.sparql.results import SelectResult
from askgraph.trace import Answer, Clarification, Option

__all__ = ["answer_of"]


async def answer_of(
    option: Option,
    clarification: Clarification,
    graph: KnowledgeGraph,
    *,
    languages: Sequence[str] = (),
    timeout: float | None = None,
    limit: int | None = None,
) -> Answer:
    """Return the answer of a reading, of which nobody can be surer than who chose it.

    It is run on the graph, for at most `timeout` seconds and `limit` rows, unless it is the best
    attempt, which has its result. Raises `QueryError` and `ServiceError` as the endpoint does.
    """
    best = clarification.best
    if best and best.query == option.query:
        return replace(best, confidence=1.0)
    ready = admitted(option.query, prefixes=graph.prefixes.namespaces)
    if ready.form == "ASK":
        holds = await graph.endpoint.ask(ready.text, timeout=timeout)
        empty = SelectResult((), ())
        return Answer(option.query, graph.name, empty, (), option.words, 1.0, boolean=holds)
    result = await graph.endpoint.select(ready.text, timeout=timeout, limit=limit)
    iris = {term.value for row in result.rows for term in row if isinstance(term, NamedNode)}
    labels = await labels_of(sorted(iris), graph, languages, timeout=timeout)
    columns = result.variables
    return Answer(option.query, graph.name, result, columns, option.words, 1.0, labels=labels)
